// SPDX-License-Identifier: Apache-2.0
// Handover and EffortLaw under two threads, for the thread sanitizer: threads LIBRARY
#include <algorithm>
#include <cstdio>
#include <thread>

#include "core.cpp"

using namespace robot_dynamics_controllers;

namespace
{

constexpr int VALUES = 20000;

struct Value
{
  int entries[40];
};

/// Whether the reader sees whole values, none older than one before, and at last the newest.
bool hands_over()
{
  Handover<Value> handover(Value{});
  std::thread writer([&handover] {
      for (int k = 1; k <= VALUES; ++k) {
        Value value;
        std::fill(std::begin(value.entries), std::end(value.entries), k);
        handover.write(value);
      }
    });
  int last = 0;
  bool right = true;
  while (last < VALUES && right) {
    const Value & value = handover.read();
    const int first = value.entries[0];
    right = first >= last && std::all_of(
      std::begin(value.entries), std::end(value.entries), [first](int entry) {return entry == first;});
    last = first;
    std::this_thread::yield();
  }
  writer.join();
  return right;
}

/// Whether all efforts are finite while another thread changes payload and gravity, stops and asks.
bool is_updated(const char * path)
{
  const DynamicsLibrary library = DynamicsLibrary::open(path);
  Settings settings;
  settings.joints = library.joint_names();
  settings.effort_limit = {50.0};
  settings.update_rate = 1000.0;
  settings.control_law = library->frame_law != nullptr ? library->frame_law->name : "pd_feedforward";
  EffortLaw law(library, settings);
  std::atomic<bool> over{false};
  std::thread other([&] {
      Body body;
      for (int k = 0; !over; ++k) {
        body.mass = k % 7;
        law.take(PayloadRamp{body, {}, k, 100}, k);
        law.take(GravityRamp{"", {0.0, 0.0, -0.1 * (k % 90)}, {0.0, 0.0, -9.0}, k, 100}, k);
        law.clock_set(k, k - 1);
        (void)law.outcome();
        (void)law.blends();
        (void)law.limiter().limited(0);
        law.limiter().reset();
        if (law.frame_law() != nullptr) {
          (void)law.frame_law()->warning();
          try {
            law.want_stiffness("", law.frame_law()->commands().stiffness);
            law.want_wrench("", law.frame_law()->commands().of_base, {k, k});
          } catch (const std::invalid_argument &) {  // it is not active yet
          }
        }
        if (k % 50 == 49) {
          law.request_stop(k);
        }
        std::this_thread::yield();
      }
    });
  const std::size_t n = library.joints();
  const std::vector<double> zeros(n, 0.1);
  const Reference motion{zeros.data(), zeros.data(), zeros.data(), nullptr};
  std::vector<double> effort(n);
  bool finite = true;
  for (int k = 0; k < 3000; ++k) {
    if (k % 100 == 0) {
      law.activate();
    }
    law.update(k, k, 0.001, State{zeros.data(), zeros.data()}, k % 3 ? &motion : nullptr, effort.data());
    finite = finite && std::all_of(effort.begin(), effort.end(), [](double tau) {return std::isfinite(tau);});
    std::this_thread::yield();
  }
  over = true;
  other.join();
  return finite;
}

}  // namespace

int main(int, char ** arguments)
{
  const bool right = hands_over() && is_updated(arguments[1]);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
