// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/presets.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

namespace robot_dynamics_controllers
{
namespace
{

const robot_dynamics_preset & preset_of(const robot_dynamics_library & library, const std::string & name)
{
  std::string known;
  for (const auto * preset = library.preset; preset != library.preset + library.presets; ++preset) {
    if (name == preset->name) {
      return *preset;
    }
    known += (known.empty() ? "" : ", ") + std::string(preset->name);
  }
  throw std::invalid_argument("preset: expected one of " + known + ", got '" + name + "'");
}

constexpr std::array<const char *, 4> NAMES{{"gravity", "coriolis", "inertia", "friction"}};

}  // namespace

std::vector<std::string> Terms::names() const
{
  const bool chosen[] = {gravity, coriolis, inertia, friction};
  std::vector<std::string> names;
  for (std::size_t k = 0; k < NAMES.size(); ++k) {
    if (chosen[k]) {
      names.push_back(NAMES[k]);
    }
  }
  return names;
}

CompensationPolicy::CompensationPolicy(
  const robot_dynamics_library & library, const std::string & preset, const std::string & owner,
  const std::vector<std::string> & wanted)
{
  const robot_dynamics_preset & known = preset_of(library, preset);
  if (!owner.empty() && owner != "node" && owner != "robot") {
    throw std::invalid_argument("gravity_owner: expected one of node, robot, got '" + owner + "'");
  }
  const std::string of_preset = known.compensates[0] ? "robot" : "node";
  if (!preset.empty() && !owner.empty() && owner != of_preset) {
    throw std::invalid_argument(
            "gravity_owner " + owner + " contradicts preset " + preset + ", whose gravity_owner is " +
            of_preset + "; leave one of them empty");
  }
  gravity_owner = owner.empty() ? of_preset : owner;
  takes_commands = known.takes_commands;
  motor_pd = known.motor_pd;
  fade_in_time = known.fade_in_time;
  const bool by_robot[] = {gravity_owner == "robot", known.compensates[1], known.compensates[2], known.compensates[3]};
  bool * const chosen[] = {&terms.gravity, &terms.coriolis, &terms.inertia, &terms.friction};
  std::set<std::string> asked;
  for (const std::string & term : wanted) {
    if (term.empty()) {
      continue;
    }
    const auto place = std::find(NAMES.begin(), NAMES.end(), term);
    if (place == NAMES.end() || !asked.insert(term).second) {
      throw std::invalid_argument(
              "compensation: expected terms among gravity, coriolis, inertia, friction, each once, got '" +
              term + "'" + (term == "residual" ? ", which feedforward_node has alone" : ""));
    }
    const auto k = static_cast<std::size_t>(place - NAMES.begin());
    if (by_robot[k]) {
      throw std::invalid_argument(
              "compensation: " + term + " would be added twice: with " +
              (preset.empty() ? "gravity_owner " + gravity_owner : "preset " + preset) +
              " the robot adds it itself; remove it");
    }
    *chosen[k] = true;
  }
  for (std::size_t k = 0; asked.empty() && k < NAMES.size(); ++k) {
    *chosen[k] = !by_robot[k];
  }
}

}  // namespace robot_dynamics_controllers
