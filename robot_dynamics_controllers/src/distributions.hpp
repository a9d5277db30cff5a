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

/// A chainable controller with named references. They are NaN until somebody writes them, and once they are taken.
///
/// Functions of both signatures are declared without `override`: the compiler finds the one that is virtual.
class ReferencedController : public controller_interface::ChainableControllerInterface
{
protected:
  using Interface = hardware_interface::CommandInterface;

  /// Names the references, 'JOINT/INTERFACE' each, in on_configure.
  void name_references(std::vector<std::string> names) {names_ = std::move(names);}

  /// Sets the references in a cycle without a controller above.
  virtual void references_from_topic() = 0;

  double take_reference(std::size_t i)
  {
    const double value = list_.empty() ? reference_interfaces_[i] : value_of(*list_[i]);
    set_reference(i, NOT_A_NUMBER);
    return value;
  }

  void set_reference(std::size_t i, double value)
  {
    if (list_.empty()) {
      reference_interfaces_[i] = value;
    } else {
      (void)set_value(*list_[i], value);
    }
  }

  std::vector<Interface> on_export_reference_interfaces() {return exported<ReferenceExport::as_list(), Interface>();}

  std::vector<std::shared_ptr<Interface>> on_export_reference_interfaces_list()
  {
    return list_ = exported_list<ReferenceExport::as_list(), Interface>();
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

private:
  template<bool AS_LIST, typename Exported>
  std::vector<Exported> exported()
  {
    std::vector<Exported> interfaces;
    if constexpr (!AS_LIST) {
      reference_interfaces_.assign(names_.size(), NOT_A_NUMBER);
      for (std::size_t i = 0; i < names_.size(); ++i) {
        interfaces.emplace_back(get_node()->get_name(), names_[i], &reference_interfaces_[i]);
      }
    }
    return interfaces;
  }

  template<bool AS_LIST, typename Exported>
  std::vector<std::shared_ptr<Exported>> exported_list() const
  {
    std::vector<std::shared_ptr<Exported>> interfaces;
    if constexpr (AS_LIST) {
      for (const std::string & name : names_) {
        interfaces.push_back(std::make_shared<Exported>(std::string(get_node()->get_name()), name));
      }
    }
    return interfaces;
  }

  std::vector<std::string> names_;
  std::vector<std::shared_ptr<Interface>> list_;  // empty where references are exported by value
};

}  // namespace robot_dynamics_controllers

#endif  // DISTRIBUTIONS_HPP_
