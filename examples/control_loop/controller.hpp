// Computed-torque controller around exported code: positions and velocities in, efforts out.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "aubo_i5_dynamics.h"
#include "interfaces.hpp"

constexpr int N = AUBO_I5_NV;
using JointVector = std::array<double, N>;

class ComputedTorqueController {
 public:
  // As in a controller's configuration: positions of all joints, then their velocities; one effort for each joint.
  std::vector<StateInterface> state_interfaces_ = std::vector<StateInterface>(2 * N);
  std::vector<CommandInterface> command_interfaces_ = std::vector<CommandInterface>(N);

  ComputedTorqueController(const JointVector& goal, const JointVector& effort_limit)
      : goal_(goal), effort_limit_(effort_limit) {}

  // Add a point mass (kg) at a position (m) in the frame of the last link.
  void carry(double mass, double x, double y, double z) {
    double* pi = inputs_.last_link_inertia;
    const double payload[10] = {mass,
                                mass * x,
                                mass * y,
                                mass * z,
                                mass * (y * y + z * z),
                                -mass * x * y,
                                -mass * x * z,
                                mass * (x * x + z * z),
                                -mass * y * z,
                                mass * (x * x + y * y)};
    for (int k = 0; k < 10; ++k) pi[k] += payload[k];
  }

  const aubo_i5_inputs& inputs() const { return inputs_; }

  // Every period: no allocation, no lock, no system call.
  return_type update() {
    JointVector q, qd, qdd, tau;
    for (int i = 0; i < N; ++i) {
      const auto position = state_interfaces_[i].get_optional();
      const auto velocity = state_interfaces_[N + i].get_optional();
      if (!position || !velocity) return return_type::ERROR;
      q[i] = *position;
      qd[i] = *velocity;
      // qdd = w^2 (q_d - q) - 2 w qd
      qdd[i] = kBandwidth * kBandwidth * (goal_[i] - q[i]) - 2.0 * kBandwidth * qd[i];
    }
    // tau = M qdd + c + g; false if any number is NaN or inf, and then nothing is sent
    if (!aubo_i5_inverse_dynamics(q.data(), qd.data(), qdd.data(), &inputs_, tau.data())) return return_type::ERROR;
    for (int i = 0; i < N; ++i) {
      const double effort = std::clamp(tau[i], -effort_limit_[i], effort_limit_[i]);
      if (!command_interfaces_[i].set_value(effort)) return return_type::ERROR;
    }
    return return_type::OK;
  }

 private:
  static constexpr double kBandwidth = 8.0;  // rad/s
  JointVector goal_, effort_limit_;
  aubo_i5_inputs inputs_ = aubo_i5_default_inputs;
};
