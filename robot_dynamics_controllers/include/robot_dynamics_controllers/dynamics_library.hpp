// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__DYNAMICS_LIBRARY_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__DYNAMICS_LIBRARY_HPP_

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// A library that cannot be used: what is wrong, what was expected, what was found.
class LibraryError : public std::runtime_error
{
public:
  LibraryError(std::string culprit, std::string expected, std::string actual);
  const std::string culprit, expected, actual;
};

/// The exported dynamics of one robot, checked when it is made. A copy shares the library, which stays loaded as
/// long as one copy exists. Not for the real-time thread: make it in on_configure.
class DynamicsLibrary
{
public:
  /// Loads a shared library by its path. Code of the file runs: the path comes from whoever starts the controller.
  /// The parameter `library` of controllers is an absolute path, or begins with "$(find-pkg-prefix PACKAGE)", as
  /// export_controller writes it: a launch file or the controller replaces that by the prefix of the package.
  /// Throws LibraryError: no library, no function ROBOT_DYNAMICS_LIBRARY_SYMBOL, or as `linked`.
  static DynamicsLibrary open(const std::string & path);

  /// Uses a library that is linked to the program: robot_dynamics_exported_library(). Throws LibraryError for
  /// another version or size, a missing entry, numbers that are not finite, and a joint of several coordinates.
  static DynamicsLibrary linked(const robot_dynamics_library * library);

  const robot_dynamics_library & operator*() const {return *library_;}
  const robot_dynamics_library * operator->() const {return library_;}

  /// Joints, each with one position and one velocity.
  std::size_t joints() const {return library_->joints;}
  std::vector<std::string> joint_names() const;

  /// Throws LibraryError unless `joints` are those of the library in the same order; names the first that is not.
  void require_joints(const std::vector<std::string> & joints) const;

  /// Throws LibraryError for another model digest; '' is not checked.
  void require_digest(const std::string & digest) const;

private:
  DynamicsLibrary(std::shared_ptr<void> handle, const robot_dynamics_library * library);

  std::shared_ptr<void> handle_;  // of dlopen; empty for a linked library
  const robot_dynamics_library * library_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__DYNAMICS_LIBRARY_HPP_
