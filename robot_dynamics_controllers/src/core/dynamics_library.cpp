// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/dynamics_library.hpp"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <set>
#include <utility>

namespace robot_dynamics_controllers
{
namespace
{

constexpr std::uint32_t MOST_JOINTS = 1000;
constexpr std::uint32_t MOST_FRAMES = 100000;
constexpr std::uint32_t MOST_SAMPLES = 100000;

std::string line(const std::string & culprit, const std::string & expected, const std::string & actual)
{
  return culprit + ": expected " + expected + ", got " + actual;
}

void require(
  bool holds, const std::string & culprit, const std::string & expected, const std::string & actual)
{
  if (!holds) {
    throw LibraryError(culprit, expected, actual);
  }
}

void require_text(const std::string & culprit, const char * text)
{
  require(text != nullptr && *text != '\0', culprit, "a name", text ? "an empty text" : "nothing");
}

enum class Range { any, not_negative, positive };

void require_numbers(const std::string & culprit, const double * numbers, std::size_t count, Range range)
{
  require(numbers != nullptr, culprit, std::to_string(count) + " numbers", "nothing");
  for (std::size_t i = 0; i < count; ++i) {
    const bool within =
      range == Range::any || numbers[i] > 0.0 || (range == Range::not_negative && numbers[i] == 0.0);
    require(
      std::isfinite(numbers[i]) && within, culprit + "[" + std::to_string(i) + "]",
      range == Range::any ? "a finite number" :
      range == Range::positive ? "a finite number above 0" : "a finite number, at least 0",
      std::to_string(numbers[i]));
  }
}

void require_count(const std::string & culprit, std::uint32_t count, std::uint32_t most)
{
  require(
    count >= 1 && count <= most, culprit, "1 to " + std::to_string(most), std::to_string(count));
}

void check_friction(const robot_dynamics_library & library)
{
  const std::size_t n = library.velocities;
  const double * rows = library.friction;
  require(rows != nullptr, "friction", "rows of numbers", "nothing");
  for (int row = 0; row < ROBOT_DYNAMICS_FRICTION_ROWS; ++row) {
    const bool divides = row == ROBOT_DYNAMICS_TRANSITION || row == ROBOT_DYNAMICS_STRIBECK_VELOCITY;
    require_numbers(
      "friction[" + std::to_string(row) + "]", rows + n * static_cast<std::size_t>(row), n,
      row == ROBOT_DYNAMICS_OFFSET ? Range::any : divides ? Range::positive : Range::not_negative);
  }
}

void check_frames(const robot_dynamics_library & library)
{
  require_count("frames", library.frames, MOST_FRAMES);
  require(library.frame != nullptr, "frame", "an array", "nothing");
  for (std::uint32_t k = 0; k < library.frames; ++k) {
    const robot_dynamics_frame & frame = library.frame[k];
    require_text("frame[" + std::to_string(k) + "]", frame.name);
    require_numbers(std::string("rotation of frame ") + frame.name, frame.rotation, 9, Range::any);
    require_numbers(std::string("position of frame ") + frame.name, frame.position, 3, Range::any);
  }
  require(
    std::strcmp(library.frame[0].name, library.last_link) == 0, "frame[0]", library.last_link,
    library.frame[0].name);
}

void require_place(
  const robot_dynamics_frame_law & law, const std::string & culprit, std::uint32_t place, std::uint32_t numbers)
{
  require(
    place <= law.memory && numbers <= law.memory - place, culprit, std::to_string(numbers) + " numbers of the memory",
    "place " + std::to_string(place));
}

void check_commands(const robot_dynamics_frame_law & law)
{
  const robot_dynamics_frame_commands & commands = *law.commands;
  require_text("commands.axes", commands.axes);
  require_numbers("commands.stiffness", commands.stiffness, 6, Range::not_negative);
  require_numbers("commands.least_stiffness", commands.least_stiffness, 6, Range::not_negative);
  require_numbers("commands.largest_wrench", commands.largest_wrench, 2, Range::not_negative);
  require_numbers("commands.wrench_age", &commands.wrench_age, 1, Range::positive);
  require_place(law, "commands.wanted_stiffness", commands.wanted_stiffness, 6);
  require_place(law, "commands.stiffness_in_force", commands.stiffness_in_force, 36);
  require_place(law, "commands.tank", commands.tank, 2);
  require_place(law, "commands.wanted_wrench", commands.wanted_wrench, 12);
  require_place(law, "commands.until", commands.until, 1);
  require_place(law, "commands.wrench_in_force", commands.wrench_in_force, 12);
}

void check_frame_law(const robot_dynamics_frame_law & law)
{
  require_text("frame_law.name", law.name);
  require_text("frame_law.frame", law.frame);
  require(
    law.longest_period > 0.0, "frame_law.longest_period", "a number above 0", std::to_string(law.longest_period));
  require_count("frame_law.memory", law.memory, 100 * MOST_JOINTS);
  require(
    law.anew <= law.memory, "frame_law.anew", "at most " + std::to_string(law.memory), std::to_string(law.anew));
  require_place(law, "frame_law.light", law.light, law.directions != 0 ? 1 : 0);
  require(law.initial_memory != nullptr, "frame_law.initial_memory", "an array", "nothing");
  require(law.elapse != nullptr, "frame_law.elapse", "a function", "nothing");
  require(law.torque != nullptr, "frame_law.torque", "a function", "nothing");
  if (law.commands != nullptr) {
    check_commands(law);
  }
}

void check_mechanism(const robot_dynamics_library & library)
{
  const robot_dynamics_mechanism & mechanism = *library.mechanism;
  require_count("mechanism.memory", mechanism.memory, 1u << 28);
  require_count("mechanism.constraints", mechanism.constraints, 100 * MOST_JOINTS);
  require(mechanism.initial_memory != nullptr, "mechanism.initial_memory", "an array", "nothing");
  require_numbers("mechanism.home", mechanism.home, library.velocities, Range::any);
  require(mechanism.loops != nullptr, "mechanism.loops", "an array", "nothing");
  for (std::uint32_t k = 0; k < mechanism.constraints; ++k) {
    require_text("mechanism.loops[" + std::to_string(k) + "]", mechanism.loops[k]);
  }
  require(mechanism.measure != nullptr, "mechanism.measure", "a function", "nothing");
  require(mechanism.fault != nullptr, "mechanism.fault", "a function", "nothing");
}

void check(const robot_dynamics_library * given)
{
  require(given != nullptr, ROBOT_DYNAMICS_LIBRARY_SYMBOL, "a library for this processor", "nothing");
  const robot_dynamics_library & library = *given;
  // the first two fields have the same place in every version
  require(
    library.version == ROBOT_DYNAMICS_LIBRARY_VERSION, "version",
    std::to_string(ROBOT_DYNAMICS_LIBRARY_VERSION) + " (export the robot again)",
    std::to_string(library.version));
  require(
    library.size == sizeof(robot_dynamics_library), "size",
    std::to_string(sizeof(robot_dynamics_library)) + " (compile the library for this processor)",
    std::to_string(library.size));
  require_text("robot", library.robot);
  require_text("base_link", library.base_link);
  require_text("last_link", library.last_link);
  require_text("model_digest", library.model_digest);
  require_count("joints", library.joints, MOST_JOINTS);
  require(
    library.coordinates == library.joints && library.velocities == library.joints,
    "coordinates, velocities", std::to_string(library.joints) + ", one for each joint",
    std::to_string(library.coordinates) + ", " + std::to_string(library.velocities));
  require(library.joint_names != nullptr, "joint_names", "an array", "nothing");
  require(library.continuous != nullptr, "continuous", "an array", "nothing");
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < library.joints; ++i) {
    require_text("joint_names[" + std::to_string(i) + "]", library.joint_names[i]);
    require(
      names.insert(library.joint_names[i]).second, "joint_names", "each name once",
      std::string(library.joint_names[i]) + " twice");
  }
  require_numbers("effort_limits", library.effort_limits, library.velocities, Range::not_negative);
  require_numbers("velocity_limits", library.velocity_limits, library.velocities, Range::not_negative);
  require_numbers("search_range", library.search_range, std::size_t{2} * library.velocities, Range::any);
  require_count("samples", library.samples, MOST_SAMPLES);
  require_count("starts", library.starts, library.samples);
  require_count("most_values", library.most_values, 100 * MOST_SAMPLES);
  require_numbers("default_inputs", library.default_inputs, ROBOT_DYNAMICS_INPUTS, Range::any);
  require_count("presets", library.presets, MOST_FRAMES);
  require(library.preset != nullptr, "preset", "an array", "nothing");
  check_friction(library);
  check_frames(library);
  for (const auto & [name, exists] : {
      std::pair{"gravity_torque", library.gravity_torque != nullptr},
      {"inverse_dynamics", library.inverse_dynamics != nullptr},
      {"add_joint_friction", library.add_joint_friction != nullptr},
      {"joint_feedback", library.joint_feedback != nullptr},
      {"corner_weights", library.corner_weights != nullptr}, {"add_share", library.add_share != nullptr},
      {"fade_in", library.fade_in != nullptr},
      {"begin_transition", library.begin_transition != nullptr}, {"transition", library.transition != nullptr},
      {"ramp_to_zero", library.ramp_to_zero != nullptr}, {"limit_effort", library.limit_effort != nullptr},
      {"limit_rate", library.limit_rate != nullptr}, {"write_row", library.write_row != nullptr},
      {"write_body", library.write_body != nullptr}, {"write_moved_row", library.write_moved_row != nullptr},
      {"is_inertia", library.is_inertia != nullptr}, {"write_between", library.write_between != nullptr},
      {"continues", library.continues != nullptr}, {"mass_matrix", library.mass_matrix != nullptr},
      {"write_largest_eigenvalue", library.write_largest_eigenvalue != nullptr},
      {"most_damped_joint", library.most_damped_joint != nullptr},
      {"counted_period", library.counted_period != nullptr}, {"delayed_period", library.delayed_period != nullptr},
      {"next_positions", library.next_positions != nullptr}})
  {
    require(exists, name, "a function", "nothing");
  }
  if (library.frame_law != nullptr) {
    check_frame_law(*library.frame_law);
  }
  if (library.mechanism != nullptr) {
    check_mechanism(library);
  }
}

std::string last_error()
{
  const char * text = dlerror();
  return text ? text : "an unknown error";
}

}  // namespace

LibraryError::LibraryError(std::string culprit_, std::string expected_, std::string actual_)
: std::runtime_error(line(culprit_, expected_, actual_)), culprit(std::move(culprit_)),
  expected(std::move(expected_)), actual(std::move(actual_))
{
}

DynamicsLibrary::DynamicsLibrary(std::shared_ptr<void> handle, const robot_dynamics_library * library)
: handle_(std::move(handle)), library_(library)
{
}

DynamicsLibrary DynamicsLibrary::open(const std::string & path)
{
  // without a slash dlopen would look for it in other places
  require(path.find('/') != std::string::npos, "library", "a path", "'" + path + "'");
  void * opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  require(opened != nullptr, path, "a shared library", opened ? "" : last_error());
  std::shared_ptr<void> handle(opened, dlclose);
  void * symbol = dlsym(opened, ROBOT_DYNAMICS_LIBRARY_SYMBOL);
  require(
    symbol != nullptr, path, std::string("the function ") + ROBOT_DYNAMICS_LIBRARY_SYMBOL +
    " of export_controller", "a library without it");
  robot_dynamics_library_function function;
  static_assert(sizeof function == sizeof symbol, "POSIX has both in one size");
  std::memcpy(&function, &symbol, sizeof function);
  const robot_dynamics_library * library = function();
  try {
    check(library);
  } catch (const LibraryError & error) {
    throw LibraryError(path + ": " + error.culprit, error.expected, error.actual);
  }
  return DynamicsLibrary(std::move(handle), library);
}

DynamicsLibrary DynamicsLibrary::linked(const robot_dynamics_library * library)
{
  check(library);
  return DynamicsLibrary(nullptr, library);
}

std::vector<std::string> DynamicsLibrary::joint_names() const
{
  return {library_->joint_names, library_->joint_names + library_->joints};
}

void DynamicsLibrary::require_joints(const std::vector<std::string> & joints) const
{
  const std::vector<std::string> own = joint_names();
  for (std::size_t i = 0; i < own.size() || i < joints.size(); ++i) {
    const std::string expected = i < own.size() ? "'" + own[i] + "'" : "nothing more";
    const std::string actual = i < joints.size() ? "'" + joints[i] + "'" : "nothing";
    require(
      expected == actual, "joints[" + std::to_string(i) + "]",
      expected + " in the order of the library of " + library_->robot, actual);
  }
}

void DynamicsLibrary::require_digest(const std::string & digest) const
{
  require(
    digest.empty() || digest == library_->model_digest, "model_digest",
    std::string(library_->model_digest) + " of the library of " + library_->robot, digest);
}

}  // namespace robot_dynamics_controllers
