// SPDX-License-Identifier: Apache-2.0
// Times of one update of an EffortLaw, us: median, 99 %, 99.9 %, with warm caches and after each eviction of them.
//
//   controller_updates LIBRARY pd_feedforward|cartesian_impedance|operational_space
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core.cpp"

using namespace robot_dynamics_controllers;

int main(int, char ** arguments)
{
  constexpr int UPDATES = 20000;
  const DynamicsLibrary library = DynamicsLibrary::open(arguments[1]);
  const std::size_t n = library.joints();
  Settings settings;
  settings.joints = library.joint_names();
  settings.control_law = arguments[2];
  settings.effort_limit = {1000.0};
  settings.update_rate = 1000.0;
  settings.evaluate_at_measured = true;
  EffortLaw law(library, settings);
  law.rehearse();
  law.activate();
  std::vector<double> q(n), qd(n), reference(3 * n), effort(n);
  std::vector<char> others(32 << 20);
  const Reference desired{&reference[0], &reference[n], &reference[2 * n], nullptr};
  for (const bool evicts : {false, true}) {
    std::vector<double> times;
    for (int k = 0; k < (evicts ? UPDATES / 20 : UPDATES); ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        q[i] = std::sin(1e-3 * k + static_cast<double>(i));
        qd[i] = std::cos(1e-3 * k + static_cast<double>(i));
        reference[i] = q[i] + 0.01;
        reference[n + i] = qd[i];
      }
      for (std::size_t i = 0; evicts && i < others.size(); i += 64) {
        others[i] = static_cast<char>(others[i] + 1);
      }
      const auto begin = std::chrono::steady_clock::now();
      law.update(1000000L * k, 1000000L * k, 1e-3, State{q.data(), qd.data()}, &desired, effort.data());
      times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    for (const double share : {0.5, 0.99, 0.999}) {
      std::printf("%.2f ", times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]);
    }
  }
  std::printf("\n");
}
