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

struct Preset
{
  const char * name;
  bool adds_gravity, adds_friction;  // the robot itself
  bool takes_commands, motor_pd;
  double fade_in_time;  // s
};

constexpr std::array<Preset, 7> PRESETS{{
  {"sim", false, false, true, false, 0.0},
  {"effort_controller", false, false, true, false, 0.0},
  {"motor_pd", false, false, true, true, 1.0},
  {"franka", true, true, true, false, 0.0},
  {"ur_direct_torque", true, true, true, false, 0.0},
  {"kuka_fri", true, true, true, false, 0.0},
  {"monitor_only", false, false, false, false, 0.0},
}};
constexpr Preset NONE{"", false, false, true, false, 0.0};

Preset preset_of(const std::string & name)
{
  if (name.empty()) {
    return NONE;
  }
  std::string known;
  for (const Preset & preset : PRESETS) {
    if (name == preset.name) {
      return preset;
    }
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
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
  const std::string & preset, const std::string & owner, const std::vector<std::string> & wanted)
{
  const Preset known = preset_of(preset);
  if (!owner.empty() && owner != "node" && owner != "robot") {
    throw std::invalid_argument("gravity_owner: expected one of node, robot, got '" + owner + "'");
  }
  const std::string of_preset = known.adds_gravity ? "robot" : "node";
  if (!preset.empty() && !owner.empty() && owner != of_preset) {
    throw std::invalid_argument(
            "gravity_owner " + owner + " contradicts preset " + preset + ", whose gravity_owner is " +
            of_preset + "; leave one of them empty");
  }
  gravity_owner = owner.empty() ? of_preset : owner;
  takes_commands = known.takes_commands;
  motor_pd = known.motor_pd;
  fade_in_time = known.fade_in_time;
  const bool by_robot[] = {gravity_owner == "robot", false, false, known.adds_friction};
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
