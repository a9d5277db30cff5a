// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__EFFORT_LAW_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__EFFORT_LAW_HPP_

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/closed_loops.hpp"
#include "robot_dynamics_controllers/compensation.hpp"
#include "robot_dynamics_controllers/cycle_time.hpp"
#include "robot_dynamics_controllers/dynamics_library.hpp"
#include "robot_dynamics_controllers/frame_law.hpp"
#include "robot_dynamics_controllers/handover.hpp"
#include "robot_dynamics_controllers/joint_feedback.hpp"
#include "robot_dynamics_controllers/payload_gravity.hpp"
#include "robot_dynamics_controllers/presets.hpp"
#include "robot_dynamics_controllers/ramp_progress.hpp"
#include "robot_dynamics_controllers/torque_limiter.hpp"
#include "robot_dynamics_controllers/torque_transitions.hpp"

namespace robot_dynamics_controllers
{

/// Parameters of an EffortLaw, with the meaning that those of the nodes have under the same names.
struct Settings
{
  std::vector<std::string> joints;  ///< those of the library, in its order
  std::string preset;               ///< '': unknown; monitor_only is refused: such an arm takes no effort
  std::string gravity_owner;        ///< '': as the preset says, else node; node, robot
  std::vector<std::string> compensation;  ///< {} or {""}: all terms that the robot does not compensate
  std::string control_law = "pd_feedforward";  ///< or that of a frame that the library has
  bool evaluate_at_measured = false;  ///< false: at those of the reference, without a law of a frame; friction always
  std::vector<double> stiffness{0.0};     ///< Kp of a PD about the reference, 1 or n, N m/rad (N/m); 0: none
  std::vector<double> damping{0.0};       ///< Kd, likewise, N m s/rad (N s/m)
  std::vector<double> effort_limit{0.0};  ///< 1 or n, N m (N); 0: of the library, inf: none; unknown is refused
  std::vector<double> rate_limit{0.0};    ///< 1 or n, N m/s (N/s); 0: none
  double fade_in_time = -1.0;             ///< s, from an activation; -1: of the preset
  double ramp_time = 0.5;                 ///< s, of every change of source, and down to zero; above 0
  double reference_timeout = 0.1;         ///< s for which the last reference is followed without a new one
  double update_rate = 0.0;               ///< Hz, of `update`; has to be stated
  double torque_delay = 0.0;              ///< s, from when a state is measured to when its effort acts
  std::string model_digest;               ///< of the library; '': not checked
};

/// Measured positions and velocities of the joints (n). Velocities count with evaluate_at_measured, a PD or a law of a frame.
struct State
{
  const double * q;
  const double * qd;
};

/// When a message came: on the clock of the arm, as EffortLaw::update has it, and on the steady clock; since when it has
/// waited, and how old its stamp is (0: none). ns.
struct Arrival
{
  std::int64_t now;
  std::int64_t steady;
  std::int64_t waited = 0;
  std::int64_t age = 0;
};

/// A desired motion (n each), and efforts (n) that are added to the torque; effort nullptr: none. With nullptr for q,
/// qd and qdd, efforts alone: they are added to gravity compensation.
struct Reference
{
  const double * q;
  const double * qd;
  const double * qdd;
  const double * effort;
};

/// Which effort an update has written, and why.
enum class Outcome
{
  inactive,           ///< not activated: zero
  sent,               ///< the terms at the reference, or gravity and the efforts of a reference without motion
  gravity_only,       ///< no reference: gravity at the measured position, zero where gravity is no term
  reference_refused,  ///< a number of this reference is not finite, or loops are open there: as without a new reference
  state_held,         ///< state or torque is not finite, or loops are open: the last effort, for at most HELD periods
  state_lost,         ///< likewise for longer: the last effort, reduced to zero over ramp_time
  stopping,           ///< after request_stop: the last effort, reduced to zero over ramp_time
  stopped,            ///< zero after it, until `activate`
  held                ///< no reference, with a law of a frame: the frame is held where the last one put it, at first where it is
};

/// The outcome in one line for logs and diagnostics.
const char * text_of(Outcome outcome) noexcept;

/// The law of an effort controller: one `update` computes the efforts of all joints.
///
/// Efforts never step, except where fade_in_time is 0 at an activation and where a reference itself steps (rate_limit
/// bounds both). Whatever the input is, the efforts are finite and within the effort limits.
///
/// Threads: `activate`, `update` on the real-time thread; nothing there allocates, locks, waits or throws. All other
/// methods are for one or several other threads.
///
/// What an update runs through is declared hot and the rest cold, there and in what it calls: so it lies in few pages. In a
/// manager at 1 kHz, where its code is not in the caches, this takes a sixth of the time away.
///
/// References: pass a reference to `update` in each cycle in which a new one has come, else nullptr; the law holds the
/// last one for reference_timeout. Whoever reads chained references sets them to NaN once they are read, so that a
/// controller above that stops writing is noticed; a reference with NaN is not used, not even in part.
class EffortLaw
{
public:
  /// Updates for which the last effort is held without a usable state.
  static constexpr int HELD = 3;
  /// Updates in which the way to a state far from the last known one may go on, likewise.
  static constexpr int APPROACH = 200;

  /// Throws std::invalid_argument that names the parameter, and LibraryError, which is not derived from it, for other
  /// joints or another digest. Allocates all memory that `update` needs.
  EffortLaw(const DynamicsLibrary & library, const Settings & settings);

  // --- other threads
  /// Follows a ramp of payload_state or gravity_state; `now`: ROS time, ns. A refused one changes nothing. Without any
  /// there is no payload, and gravity is the library's.
  Taken take(const PayloadRamp & ramp, std::int64_t now);
  Taken take(const GravityRamp & ramp, std::int64_t now);
  /// Keeps the progress of both ramps on a clock that was set from `before` to `after` (ROS time, ns).
  void clock_set(std::int64_t before, std::int64_t after);
  /// Ends ramps of payload and gravity that are over at `now` (ROS time, ns): a clock that is set back later does not
  /// bring back what was before them. To be called every 20 ms or so.
  void end_finished_ramps(std::int64_t now);
  /// Has the frame follow a stiffness, or adds a wrench; throws as FrameLaw::want_stiffness and want_wrench, and where the
  /// law has none, is not active, or was stopped. A wrench is refused, too, where its stamp is older or younger, or it has
  /// waited longer, than the time for which one counts; after a stop it counts again once none has come for this time.
  void want_stiffness(const std::string & frame, const FrameNumbers & stiffness);
  void want_wrench(const std::string & frame, const FrameNumbers & wrench, const Arrival & arrival);
  /// The law of a frame; nullptr: none.
  const FrameLaw * frame_law() const noexcept {return frame_law_.get();}
  /// Reduces the effort to zero over ramp_time, and keeps it there until the next activation. `steady`: when, on the
  /// steady clock, ns.
  void request_stop(std::int64_t steady) noexcept;
  /// Whether zero was sent since request_stop; also where nothing is active.
  bool stopped() const noexcept;
  /// The outcome of the last update, and whether its effort is one of a fade-in or of a change of source.
  Outcome outcome() const noexcept;
  bool blends() const noexcept;
  /// Why loops are not closed at the state or reference of the last update, with the name of a loop; '' where they are.
  std::string loop_fault() const;
  /// Likewise, but the newest fault of all updates since the last call: one that lasts for a few updates is not lost.
  std::string recent_loop_fault();
  /// Counts and flags of limited efforts; other threads may call its `reset`.
  TorqueLimiter & limiter() noexcept {return limiter_;}
  /// Payload and gravity after their ramps.
  std::vector<Body> payloads() const;
  std::array<double, 3> gravity() const;
  const CompensationPolicy & policy() const noexcept {return policy_;}
  /// Whether measured velocities count.
  bool reads_velocities() const noexcept {return at_measured_ || feedback_.acts();}
  /// Whether a PD or a law of a frame acts.
  bool holds() const noexcept {return frame_law_ != nullptr || feedback_.acts();}
  /// The smoothed duration of recent cycles, s.
  double cycle() const noexcept {return lately_.load(std::memory_order_relaxed);}
  /// Longest time between two updates that counts for ramps and for the rate limit, s; for the real-time thread.
  double longest_cycle() const noexcept {return cycle_.longest();}

  /// Computes efforts of the reference of zeros and of gravity compensation, so that the first update finds code and
  /// memory where later ones do. For a law that is not active.
  void rehearse();

  // --- the real-time thread
  /// Begins: nothing from before counts. `last` (n): the efforts that the joints have now, where they are known and
  /// finite; nullptr: zero.
  void activate(const double * last = nullptr) noexcept;
  /// Ends: `update` writes zero and returns `inactive`; `stopped()` is true.
  void deactivate() noexcept;
  /// Goes on after `deactivate` as if it had not been, without the reference: as between two cycles in which a manager
  /// switches the chained mode. What was stopped stays stopped.
  void resume() noexcept;
  /// Writes `effort` (n, N m or N). `time`: ROS time of the cycle, ns, by which ramps of payload and gravity count; `now`:
  /// likewise on the clock of the arm, which is ROS time where that is simulated, else a steady clock; `period`: s since the
  /// last update, on the latter. The efforts are finite and have to be sent, whatever is returned.
  [[gnu::hot]] Outcome update(
    std::int64_t time, std::int64_t now, double period, const State & state, const Reference * reference,
    double * effort) noexcept;

private:
  static constexpr std::int64_t LONG_AGO = std::numeric_limits<std::int64_t>::min() / 2;

  enum class Source { none, motion, effort, gravity, held };

  FrameLaw & commanded(const char * what) const;
  void require_active() const;
  template<typename Ramp>
  Taken follow_ramp(const Ramp & ramp, std::int64_t now, const RampShare & progress, const Corners::Span & span);
  bool ramps() const;
  [[gnu::hot]] Outcome outcome_of(
    std::int64_t time, std::int64_t now, double period, const State & state, const Reference * reference) noexcept;
  bool pauses() const noexcept;
  [[gnu::hot]] void prepare_frame_law(const State & state, double elapsed, std::int64_t now) noexcept;
  [[gnu::hot]] bool take_reference(const Reference & reference) noexcept;
  [[gnu::hot]] bool compute(Source source, const State & state) noexcept;
  [[gnu::hot]] bool corner_torque(Source source, const State & state, const double * inputs, double * tau) noexcept;
  [[gnu::hot]] bool follow(Source source, double elapsed) noexcept;
  [[gnu::cold]] Outcome without_state(double elapsed) noexcept;
  [[gnu::cold]] bool go_down(double elapsed) noexcept;

  DynamicsLibrary library_;
  std::size_t n_;
  CompensationPolicy policy_;
  std::unique_ptr<FrameLaw> frame_law_;  // if there is one
  bool at_measured_;
  double reference_timeout_, ramp_time_;  // s
  CycleTime cycle_;
  ClosedLoops loops_;
  Compensation terms_;
  JointFeedback feedback_;
  TorqueLimiter limiter_;
  FadeIn fade_in_;
  Transition transition_;
  RampToZero ramp_;
  std::vector<double> q_, qd_, qdd_, added_;  // the reference that is followed
  std::vector<double> held_, still_;  // where a law of a frame holds the arm without a reference, and zeros
  std::vector<double> tau_, corner_, before_fade_in_;

  mutable std::mutex taking_;  // of the other threads
  PayloadGravity payload_gravity_;
  Handover<Corners> corners_;

  // of the real-time thread
  const Corners * now_ = nullptr;  // in this update
  RampProgress progress_;
  bool active_ = false, goes_down_ = false, adds_ = false;
  bool is_held_ = false;   // whether held_ is known
  bool resumed_ = false;   // since the last torque: the controller above may be another one
  double without_ = 0.0;   // s without a usable state
  double unmeasured_ = 0.0;  // s since the loops saw a state
  LoopFault fault_;          // in this update
  double pause_ = 0.0;  // s, the longest cycle since the last torque if it is a pause, else 0
  Source reference_ = Source::none;  // what is followed: none, a motion, or efforts alone
  Source source_ = Source::none;  // of the last torque since the activation
  double reference_age_ = 0.0;    // s
  int without_state_ = 0;         // updates
  int approaching_ = 0;           // updates

  std::atomic<bool> in_use_{false}, stop_{false}, blends_{false};
  std::atomic<std::int64_t> stopped_{LONG_AGO};  // ns of the steady clock: a stop, or a wrench that went on after it
  std::atomic<LoopFault> loop_fault_{LoopFault{}}, recent_fault_{LoopFault{}};
  std::atomic<Outcome> outcome_{Outcome::inactive};
  std::atomic<double> lately_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__EFFORT_LAW_HPP_
