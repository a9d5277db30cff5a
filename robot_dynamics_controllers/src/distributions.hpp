// SPDX-License-Identifier: Apache-2.0
#ifndef DISTRIBUTIONS_HPP_
#define DISTRIBUTIONS_HPP_

/// What differs between the controller interfaces of Humble, Jazzy, Kilted and Rolling; nothing else in this package
/// depends on the distribution.

#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "hardware_interface/handle.hpp"
#include "rclcpp/rclcpp.hpp"
#include "core/reference_values.hpp"

namespace robot_dynamics_controllers
{

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

template<typename Interface, typename = void>
struct HasOptional : std::false_type {};
template<typename Interface>
struct HasOptional<
  Interface, std::void_t<decltype(std::declval<const Interface &>().template get_optional<double>())>>
  : std::true_type {};

/// The number of a state, command or reference interface; NaN where it cannot be read in this cycle.
template<typename Interface>
double value_of(const Interface & interface)
{
  if constexpr (HasOptional<Interface>::value) {  // Jazzy 4.27 and later
    return interface.template get_optional<double>().value_or(NOT_A_NUMBER);
  } else {
    return interface.get_value();
  }
}

/// Writes a number to an interface; returns whether that was possible in this cycle.
template<typename Interface>
bool set_value(Interface & interface, double value)
{
  if constexpr (std::is_void_v<decltype(interface.set_value(value))>) {  // Humble
    interface.set_value(value);
    return true;
  } else {
    return interface.set_value(value);
  }
}

/// Whether references are exported as a list of shared interfaces (Jazzy 4.44, Kilted 5.13, Rolling 6.5 and later).
class ReferenceExport : public controller_interface::ChainableControllerInterface
{
  template<typename Self>
  static auto probe(int) -> decltype(&Self::on_export_reference_interfaces_list, std::true_type{});
  template<typename>
  static std::false_type probe(...);

public:
  static constexpr bool as_list() {return decltype(probe<ReferenceExport>(0))::value;}
};

/// A chainable controller whose references are ReferenceValues.
///
/// Functions of both signatures are declared without `override`: the compiler finds the one that is virtual.
class ReferencedController : public controller_interface::ChainableControllerInterface
{
protected:
  using Interface = hardware_interface::CommandInterface;

  /// Sets the references in a cycle without a controller above.
  virtual void references_from_topic() = 0;

  std::vector<Interface> on_export_reference_interfaces()
  {
    std::vector<Interface> interfaces;
    if (!ReferenceExport::as_list()) {
      reference_interfaces_.resize(references_.names().size());  // the base class compares the lengths
      for (std::size_t i = 0; i < references_.names().size(); ++i) {
        interfaces.emplace_back(get_node()->get_name(), references_.names()[i], references_.value(i));
      }
    }
    return interfaces;
  }

  std::vector<std::shared_ptr<Interface>> on_export_reference_interfaces_list()
  {
    std::vector<std::shared_ptr<Interface>> interfaces;
    for (std::size_t i = 0; i < references_.names().size(); ++i) {
      interfaces.push_back(
        std::make_shared<Interface>(get_node()->get_name(), references_.names()[i], references_.value(i)));
    }
    return interfaces;
  }

  controller_interface::return_type update_reference_from_subscribers()
  {
    references_from_topic();
    return controller_interface::return_type::OK;
  }

  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &)
  {
    return update_reference_from_subscribers();
  }

  // never moved: interfaces of the configuration before may still refer to it
  ReferenceValues references_;
};

}  // namespace robot_dynamics_controllers

#endif  // DISTRIBUTIONS_HPP_
