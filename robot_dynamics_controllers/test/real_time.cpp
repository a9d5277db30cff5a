// SPDX-License-Identifier: Apache-2.0
// Counts allocations and locks in updates of an EffortCycle, and makes them where any system call but read, write and
// exit ends the process. Linked with the core of driver.cpp, whose calls of malloc and locks come here, too.
//
//   real_time LIBRARY count|seccomp [allocate|lock|call]
//
// The last word makes the update do what must be found.
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "core/effort_cycle.hpp"

namespace
{
bool counts = false;
long allocations = 0, locks = 0;
int (* lock_mutex)(pthread_mutex_t *) = nullptr;
}  // namespace

extern "C" {

void * __libc_malloc(std::size_t);
void * __libc_calloc(std::size_t, std::size_t);
void * __libc_realloc(void *, std::size_t);
void * __libc_memalign(std::size_t, std::size_t);
void __libc_free(void *);

void * malloc(std::size_t size) noexcept
{
  allocations += counts;
  return __libc_malloc(size);
}

void * calloc(std::size_t count, std::size_t size) noexcept
{
  allocations += counts;
  return __libc_calloc(count, size);
}

void * realloc(void * old, std::size_t size) noexcept
{
  allocations += counts;
  return __libc_realloc(old, size);
}

void * aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
  allocations += counts;
  return __libc_memalign(alignment, size);
}

void free(void * memory) noexcept
{
  allocations += counts && memory != nullptr;
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t * mutex) noexcept
{
  locks += counts;
  if (lock_mutex == nullptr) {
    void * found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    std::memcpy(&lock_mutex, &found, sizeof found);
  }
  return lock_mutex(mutex);
}

}  // extern "C"

using namespace robot_dynamics_controllers;

namespace
{

constexpr std::int64_t SECOND = 1'000'000'000;

/// Updates of a controller's cycle that come through every outcome, and a switch of the chained mode.
int run(
  EffortCycle & cycle, ReferenceValues & references, EffortLaw & law, std::size_t n, const double * home, const char * word)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  double numbers[16];
  int seen = 0;
  cycle.activate(SECOND, false);
  for (int k = 0; k < 1000; ++k) {
    const std::int64_t now = SECOND + 1'000'000 * k;
    for (std::size_t i = 0; i < 4 * n; ++i) {
      numbers[i] = 0.001 * k + 0.1 * static_cast<double>(i % n);
      if (home != nullptr && i < n) {
        numbers[i] = home[i] + 0.05 * std::sin(0.01 * k);  // where loops are closed
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double position = home != nullptr ? home[i] + (k >= 650 && k < 670 ? 1.0 : 0.05 * std::sin(0.01 * k)) : 0.001 * k;
      cycle.positions()[i] = k >= 600 && k < 620 ? nan : position;
      cycle.velocities()[i] = 0.1;
    }
    numbers[n] = k >= 300 && k < 320 ? nan : numbers[n];
    if (k == 200) {
      cycle.deactivate(now);
      cycle.set_chained_mode(true);
      cycle.activate(now, false);
    }
    if (k == 900) {
      law.request_stop(now);
    }
    if (k < 400 || k > 500) {
      references.write(numbers);
    }
    seen |= 1 << static_cast<int>(cycle.update(now, 0.001, now));
    if (std::strcmp(word, "allocate") == 0) {
      delete[] new double[n + static_cast<std::size_t>(k)];
    } else if (std::strcmp(word, "lock") == 0) {
      (void)law.gravity();
    } else if (std::strcmp(word, "call") == 0) {
      syscall(SYS_getpid);
    }
  }
  cycle.deactivate(SECOND);
  return seen | 1 << static_cast<int>(cycle.update(SECOND, 0.001, SECOND));
}

}  // namespace

int main(int, char ** arguments)
{
  const DynamicsLibrary library = DynamicsLibrary::open(arguments[1]);
  Settings settings;
  settings.joints = library.joint_names();
  settings.effort_limit = {20.0};
  settings.rate_limit = {1000.0};
  settings.fade_in_time = 0.1;
  settings.ramp_time = 0.05;
  settings.update_rate = 1000.0;
  settings.control_law = library->frame_law != nullptr ? library->frame_law->name : "pd_feedforward";
  const auto law = std::make_shared<EffortLaw>(library, settings);
  ReferenceValues references;
  references.configure(library.joint_names(), {"position", "velocity", "acceleration", "effort"});
  EffortCycle cycle(law, references, std::vector<double>(library.joints(), 1.0));
  const double * const home = library->mechanism != nullptr ? library->mechanism->home : nullptr;
  Body body;
  body.mass = 2.0;
  law->take(PayloadRamp{body, {}, SECOND, SECOND / 2}, SECOND);
  law->take(GravityRamp{"", {1.0, 2.0, -9.0}, {0.0, 0.0, -9.81}, SECOND, SECOND / 2}, SECOND);
  const char * word = arguments[3] ? arguments[3] : "";
  if (std::strcmp(arguments[2], "count") == 0) {
    counts = true;
    const int seen = run(cycle, references, *law, library.joints(), home, word);
    counts = false;
    std::printf("%03x outcomes, %ld allocations, %ld locks\n", static_cast<unsigned>(seen), allocations, locks);
    return 0;
  }
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
    std::puts("no seccomp");
    return 0;
  }
  char text[] = "000 outcomes\n";
  const int seen = run(cycle, references, *law, library.joints(), home, word);
  for (int k = 0; k < 3; ++k) {
    text[k] = "0123456789abcdef"[seen >> (8 - 4 * k) & 15];
  }
  const auto written = write(1, text, sizeof text - 1);
  syscall(SYS_exit, written == sizeof text - 1 ? 0 : 1);  // exit_group is not allowed
}
