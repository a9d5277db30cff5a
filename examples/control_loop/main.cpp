// The control loop on a simulated arm: 1000 updates a second for 3 s. The arm is exported code, too.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

#include "controller.hpp"

namespace {
long allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  const JointVector goal = {0.4, -0.7, 0.9, 0.2, 1.1, 0.3};               // rad
  const JointVector effort_limit = {133.0, 133.0, 133.0, 13.5, 13.5, 13.5};  // N m
  const double period = 0.001;                                            // s
  const int updates = 3000;
  ComputedTorqueController controller(goal, effort_limit);
  controller.carry(1.5, 0.03, 0.0, 0.05);

  JointVector q = {}, qd = {}, tau = {}, qdd = {};
  const long before = allocations;
  for (int k = 0; k < updates; ++k) {
    for (int i = 0; i < N; ++i) {
      controller.state_interfaces_[i].value = q[i];
      controller.state_interfaces_[N + i].value = qd[i];
    }
    if (controller.update() != return_type::OK) return EXIT_FAILURE;
    for (int i = 0; i < N; ++i) tau[i] = controller.command_interfaces_[i].value;
    if (!aubo_i5_forward_dynamics(q.data(), qd.data(), tau.data(), &controller.inputs(), qdd.data())) return EXIT_FAILURE;
    for (int i = 0; i < N; ++i) {
      qd[i] += period * qdd[i];
      q[i] += period * qd[i];
    }
  }
  const long allocated = allocations - before;

  double error = 0.0;
  for (int i = 0; i < N; ++i) {
    error = std::fmax(error, std::fabs(goal[i] - q[i]));
    std::printf("%-20s%10.2f N m\n", aubo_i5_joint_names[i], tau[i]);
  }
  std::printf("largest position error below 1e-6 rad: %s\n", error < 1e-6 ? "yes" : "no");

  controller.state_interfaces_[2].value = std::numeric_limits<double>::quiet_NaN();
  std::printf("a position that is NaN is refused: %s\n", controller.update() == return_type::ERROR ? "yes" : "no");
  std::printf("%d updates, %ld allocations\n", updates, allocated);
  return EXIT_SUCCESS;
}
