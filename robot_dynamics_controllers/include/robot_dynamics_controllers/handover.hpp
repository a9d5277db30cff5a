// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__HANDOVER_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__HANDOVER_HPP_

#include <array>
#include <atomic>
#include <type_traits>

namespace robot_dynamics_controllers
{

/// Lock-free triple buffer: the newest value of one writing thread for one reading thread; nothing waits or allocates.
///
/// Three slots: one is the writer's, one the reader's, and one is exchanged. A value that is written before the
/// reader reads replaces the one before it.
template<typename Value>
class Handover
{
  static_assert(std::is_trivially_copyable<Value>::value, "copying a value must not allocate");

public:
  explicit Handover(const Value & first)
  : slots_{first, first, first} {}

  /// For the writing thread.
  void write(const Value & value) noexcept
  {
    slots_[writes_] = value;
    writes_ = exchanged_.exchange(writes_ | NEW, std::memory_order_acq_rel) & SLOT;
  }

  /// The newest value, for the reading thread; it does not change before the next call.
  const Value & read() noexcept
  {
    if (exchanged_.load(std::memory_order_relaxed) & NEW) {
      reads_ = exchanged_.exchange(reads_, std::memory_order_acq_rel) & SLOT;
    }
    return slots_[reads_];
  }

private:
  static constexpr unsigned SLOT = 3u, NEW = 4u;

  std::array<Value, 3> slots_;
  unsigned writes_ = 0u, reads_ = 1u;
  std::atomic<unsigned> exchanged_{2u};
  static_assert(std::atomic<unsigned>::is_always_lock_free, "the exchange must not lock");
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__HANDOVER_HPP_
