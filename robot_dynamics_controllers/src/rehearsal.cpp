// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/rehearsal.hpp"

#include <vector>

namespace robot_dynamics_controllers
{

void rehearse(const DynamicsLibrary & library, const Settings & settings)
{
  EffortLaw law(library, settings);
  law.activate();
  law.set_payload_gravity_known(true);
  const std::vector<double> zeros(library.joints(), 0.0);
  const State state{zeros.data(), zeros.data()};
  const Reference motion{zeros.data(), zeros.data(), zeros.data(), zeros.data()};
  std::vector<double> effort(library.joints());
  law.update(0, 0.0, state, &motion, effort.data());
  law.update(0, 2.0 * settings.reference_timeout, state, nullptr, effort.data());
}

}  // namespace robot_dynamics_controllers
