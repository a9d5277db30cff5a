// Stand-ins for LoanedStateInterface, LoanedCommandInterface and return_type of ros2_control, so that the example needs
// no ROS 2 installation.
#pragma once

#include <optional>

struct StateInterface {
  double value = 0.0;
  std::optional<double> get_optional() const { return value; }
};

struct CommandInterface {
  double value = 0.0;
  [[nodiscard]] bool set_value(double command) {
    value = command;
    return true;
  }
};

enum class return_type { OK, ERROR };
