// SPDX-License-Identifier: Apache-2.0
#ifndef LIBRARY_PATH_HPP_
#define LIBRARY_PATH_HPP_

#include <stdexcept>
#include <string>

#include "ament_index_cpp/get_package_prefix.hpp"

namespace robot_dynamics_controllers
{

/// Returns the path of the parameter `library`, with $(find-pkg-prefix PACKAGE) at its beginning replaced.
inline std::string library_path(const std::string & stated)
{
  const std::string begin = "$(find-pkg-prefix ";
  if (stated.compare(0, begin.size(), begin) != 0) {
    if (stated.empty()) {
      throw std::invalid_argument("library: expected a path; export_controller makes the library of an arm");
    }
    return stated;
  }
  const std::size_t end = stated.find(')');
  if (end == std::string::npos) {
    throw std::invalid_argument("library: expected ')' after the package in '" + stated + "'");
  }
  return ament_index_cpp::get_package_prefix(stated.substr(begin.size(), end - begin.size())) + stated.substr(end + 1);
}

}  // namespace robot_dynamics_controllers

#endif  // LIBRARY_PATH_HPP_
