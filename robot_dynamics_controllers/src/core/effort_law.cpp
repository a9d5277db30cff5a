// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/effort_law.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "robot_dynamics_controllers/gain_limits.hpp"

namespace robot_dynamics_controllers
{
namespace
{

void require_between(const std::string & name, double value, double least, double most)
{
  if (!(value >= least && value <= most)) {
    throw std::invalid_argument(
            name + ": expected " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
            std::to_string(value));
  }
}

const DynamicsLibrary & checked(const DynamicsLibrary & library, const Settings & settings)
{
  library.require_joints(settings.joints);
  library.require_digest(settings.model_digest);
  require_between("ramp_time", settings.ramp_time, 0.01, 60.0);
  require_between("reference_timeout", settings.reference_timeout, 0.001, 10.0);
  require_between("update_rate", settings.update_rate, 0.1, 100000.0);
  require_between("torque_delay", settings.torque_delay, 0.0, 1.0);
  if (settings.fade_in_time != -1.0) {
    require_between("fade_in_time (or -1: of the preset)", settings.fade_in_time, 0.0, 60.0);
  }
  return library;
}

CompensationPolicy policy_of(const robot_dynamics_library & library, const Settings & settings)
{
  const CompensationPolicy policy(library, settings.preset, settings.gravity_owner, settings.compensation);
  if (!policy.takes_commands) {
    throw std::invalid_argument(
            "preset: expected one that accepts efforts, got '" + settings.preset +
            "'; use feedforward_node, whose torques are not sent to such an arm");
  }
  return policy;
}

bool finite(const double * numbers, std::size_t n) noexcept
{
  return std::all_of(numbers, numbers + n, [](double number) {return std::isfinite(number);});
}

/// The law of a frame of the settings, if they have one.
std::unique_ptr<FrameLaw> frame_law_of(
  const robot_dynamics_library & library, const Settings & settings, const Terms & terms)
{
  if (settings.control_law == "pd_feedforward") {
    return nullptr;
  }
  return std::make_unique<FrameLaw>(
    library, settings.control_law, terms, 1.0 / settings.update_rate, settings.torque_delay);
}

/// s without an update after which the arm counts as held anew.
constexpr double INTERRUPTION = 1.0;
/// s in which a motion ends where references stop and a law of a frame holds the arm.
constexpr double STOP = 0.1;
constexpr auto RELAXED = std::memory_order_relaxed;

}  // namespace

const char * text_of(Outcome outcome) noexcept
{
  switch (outcome) {
    case Outcome::inactive: return "not active";
    case Outcome::sent: return "follows the reference";
    case Outcome::gravity_only: return "no reference: gravity compensation";
    case Outcome::reference_refused: return "refused: a number of the reference or its torque is not finite, or a loop is open there";
    case Outcome::state_held: return "the state or its torque is not finite, or a loop is open: the last effort is held";
    case Outcome::state_lost: return "the state or its torque is not finite, or a loop is open: down to zero";
    case Outcome::stopping: return "asked to stop: down to zero";
    case Outcome::stopped: return "stopped: zero until the next activation";
    case Outcome::held: return "no reference: held where the last one was";
  }
  return "";
}

EffortLaw::EffortLaw(const DynamicsLibrary & library, const Settings & settings)
: library_(checked(library, settings)), n_(library.joints()), policy_(policy_of(*library_, settings)),
  frame_law_(frame_law_of(*library_, settings, policy_.terms)),
  at_measured_(settings.evaluate_at_measured || frame_law_), reference_timeout_(settings.reference_timeout),
  ramp_time_(settings.ramp_time),
  cycle_(1.0 / settings.update_rate), loops_(*library_), terms_(*library_, policy_.terms),
  feedback_(*library_, settings.stiffness, settings.damping, 1.0 / settings.update_rate, settings.torque_delay),
  limiter_(
    *library_, effort_limits(settings.effort_limit, library_->effort_limits, settings.joints),
    rate_limits(settings.rate_limit, settings.joints)),
  fade_in_(*library_, settings.fade_in_time < 0.0 ? policy_.fade_in_time : settings.fade_in_time),
  transition_(*library_), ramp_(*library_, settings.ramp_time),
  q_(n_), qd_(n_), qdd_(n_), added_(n_), held_(n_), still_(n_), tau_(n_), corner_(n_), before_fade_in_(n_),
  payload_gravity_(*library_), corners_(payload_gravity_.corners()), lately_(1.0 / settings.update_rate)
{
  if (policy_.motor_pd && holds()) {
    throw std::invalid_argument(
            std::string(frame_law_ ? "control_law" : "stiffness, damping") +
            ": with preset motor_pd the PD of the motors would be added to it");
  }
  if (frame_law_ && feedback_.acts()) {
    throw std::invalid_argument(
            "stiffness, damping: expected 0 with " + settings.control_law + ", whose posture is that of the library");
  }
}

Taken EffortLaw::take(const PayloadRamp & ramp, std::int64_t now)
{
  return follow_ramp(ramp, now, progress_.payload(), payload_gravity_.payload_span());
}

Taken EffortLaw::take(const GravityRamp & ramp, std::int64_t now)
{
  return follow_ramp(ramp, now, progress_.gravity(), payload_gravity_.gravity_span());
}

/// Follows a ramp from the share of the one in force, whose progress and span these are.
template<typename Ramp>
Taken EffortLaw::follow_ramp(
  const Ramp & ramp, std::int64_t now, const RampShare & progress, const Corners::Span & span)
{
  const std::lock_guard<std::mutex> lock(taking_);
  std::optional<double> share;
  if (in_use_.load(RELAXED)) {
    share = progress.share_at(span, now);
  }
  const Taken taken = payload_gravity_.take(ramp, now, share);
  corners_.write(payload_gravity_.corners());
  return taken;
}

void EffortLaw::clock_set(std::int64_t before, std::int64_t after)
{
  const std::lock_guard<std::mutex> lock(taking_);
  payload_gravity_.clock_set(before, after, ramps());
  corners_.write(payload_gravity_.corners());
}

void EffortLaw::end_finished_ramps(std::int64_t now)
{
  const std::lock_guard<std::mutex> lock(taking_);
  if (!ramps() && payload_gravity_.end_finished_ramps(now)) {
    corners_.write(payload_gravity_.corners());
  }
}

/// Whether a ramp may be under way in the real-time thread.
bool EffortLaw::ramps() const
{
  return progress_.payload().is_under_way(payload_gravity_.payload_span()) ||
         progress_.gravity().is_under_way(payload_gravity_.gravity_span());
}

std::vector<Body> EffortLaw::payloads() const
{
  const std::lock_guard<std::mutex> lock(taking_);
  return payload_gravity_.payloads();
}

std::array<double, 3> EffortLaw::gravity() const
{
  const std::lock_guard<std::mutex> lock(taking_);
  return payload_gravity_.gravity();
}

void EffortLaw::require_active() const
{
  const Outcome last = outcome();
  if (last == Outcome::inactive || last == Outcome::stopping || last == Outcome::stopped) {
    throw std::invalid_argument(std::string("the controller is ") + text_of(last));
  }
}

/// The law of a frame, for commands of a kind.
FrameLaw & EffortLaw::commanded(const char * what) const
{
  if (!frame_law_ || !frame_law_->takes_commands()) {
    throw std::invalid_argument(std::string("only control_law cartesian_impedance has a ") + what);
  }
  return *frame_law_;
}

void EffortLaw::want_stiffness(const std::string & frame, const FrameNumbers & stiffness)
{
  FrameLaw & law = commanded("stiffness");
  require_active();
  law.want_stiffness(frame, stiffness);
}

void EffortLaw::want_wrench(const std::string & frame, const FrameNumbers & wrench, const Arrival & arrival)
{
  FrameLaw & law = commanded("wrench");
  const double most = law.wrench_age(), age = 1e-9 * static_cast<double>(arrival.age);
  const double waited = 1e-9 * static_cast<double>(arrival.waited);
  const std::int64_t stopped = stopped_.load(RELAXED);
  if (1e-9 * static_cast<double>(arrival.steady - stopped) <= most) {
    stopped_.store(std::max(arrival.steady, stopped), RELAXED);
    throw std::invalid_argument("a stop has come; a wrench counts again after " + four_digits(most) + " s without any");
  }
  require_active();
  if (std::abs(age) > most) {
    throw std::invalid_argument(
            "its stamp is " + four_digits(std::abs(age)) + (age < 0.0 ? " s ahead" : " s old") +
            "; send it when it counts, with a stamp of then or none");
  }
  if (waited > most) {
    throw std::invalid_argument("the executor was busy for " + four_digits(waited) + " s since it came");
  }
  law.want_wrench(frame, wrench, 1e-9 * static_cast<double>(arrival.now));
}

void EffortLaw::request_stop(std::int64_t steady) noexcept
{
  stopped_.store(steady, RELAXED);
  stop_.store(true, RELAXED);
}

bool EffortLaw::stopped() const noexcept
{
  const Outcome last = outcome();
  return last == Outcome::stopped || last == Outcome::inactive;
}

Outcome EffortLaw::outcome() const noexcept
{
  return outcome_.load(RELAXED);
}

bool EffortLaw::blends() const noexcept
{
  return blends_.load(RELAXED);
}

std::string EffortLaw::loop_fault() const
{
  return loops_.text_of(loop_fault_.load(RELAXED));
}

std::string EffortLaw::recent_loop_fault()
{
  const LoopFault recent = recent_fault_.exchange(LoopFault{}, RELAXED);
  return recent.fault == ROBOT_DYNAMICS_CLOSED ? loop_fault() : loops_.text_of(recent);
}

void EffortLaw::activate(const double * last) noexcept
{
  unmeasured_ = std::numeric_limits<double>::infinity();  // the arm may have moved meanwhile
  std::fill(tau_.begin(), tau_.end(), 0.0);
  limiter_.set_last(tau_.data());
  if (last != nullptr && finite(last, n_)) {
    for (std::size_t i = 0; i < n_; ++i) {
      tau_[i] = std::clamp(last[i], -limiter_.effort_limit()[i], limiter_.effort_limit()[i]);
    }
    limiter_.set_last(tau_.data());
  }
  fade_in_.restart(limiter_.last().data());
  if (frame_law_) {
    frame_law_->activate();
  }
  is_held_ = resumed_ = false;
  without_ = 0.0;
  transition_.stop();
  source_ = reference_ = Source::none;
  goes_down_ = false;
  pause_ = 0.0;
  without_state_ = approaching_ = 0;
  progress_.restart();
  in_use_.store(false, RELAXED);
  stop_.store(false, RELAXED);
  active_ = true;
  outcome_.store(Outcome::gravity_only, RELAXED);
}

void EffortLaw::deactivate() noexcept
{
  active_ = false;
  progress_.restart();
  blends_.store(false, RELAXED);
  outcome_.store(Outcome::inactive, RELAXED);
}

void EffortLaw::rehearse()
{
  const std::vector<double> zeros(n_, 0.0);
  const Reference motion{loops_.home(), zeros.data(), zeros.data(), nullptr};
  activate();
  (void)outcome_of(0, 0, 0.0, {loops_.home(), zeros.data()}, nullptr);
  (void)outcome_of(0, 0, 0.0, {loops_.home(), zeros.data()}, &motion);
  deactivate();
  loops_.restart();
  in_use_.store(false, RELAXED);
  limiter_.reset();
}

void EffortLaw::resume() noexcept
{
  reference_ = Source::none;
  resumed_ = true;
  active_ = true;
}

Outcome EffortLaw::update(
  std::int64_t time, std::int64_t now, double period, const State & state, const Reference * reference,
  double * effort) noexcept
{
  if (!active_) {
    std::fill_n(effort, n_, 0.0);
    return Outcome::inactive;
  }
  const Outcome outcome = outcome_of(time, now, period > 0.0 ? period : 0.0, state, reference);
  std::copy(limiter_.last().begin(), limiter_.last().end(), effort);
  outcome_.store(outcome, RELAXED);
  loop_fault_.store(fault_, RELAXED);
  if (fault_.fault != ROBOT_DYNAMICS_CLOSED && fault_.fault != ROBOT_DYNAMICS_FAR) {
    recent_fault_.store(fault_, RELAXED);
  }
  lately_.store(cycle_.longest() / CycleTime::MOST, RELAXED);
  blends_.store(source_ != Source::none && (fade_in_.runs() || transition_.runs()), RELAXED);
  return outcome;
}

Outcome EffortLaw::outcome_of(
  std::int64_t time, std::int64_t now, double period, const State & state, const Reference * reference) noexcept
{
  pause_ = std::max(pause_, period > cycle_.longest() ? period : 0.0);
  const double elapsed = cycle_.counted(period);
  fault_ = LoopFault{};
  unmeasured_ += period;
  if (stop_.load(RELAXED)) {
    return go_down(elapsed) ? Outcome::stopped : Outcome::stopping;
  }
  const Corners & corners = corners_.read();
  progress_.advance(corners, time, period);
  now_ = &corners;
  reference_age_ += period;
  bool refused = reference != nullptr && !take_reference(*reference);
  if (!(reference_age_ <= reference_timeout_)) {
    reference_ = Source::none;
  }
  without_ += period;
  if (!finite(state.q, n_) || (reads_velocities() && !finite(state.qd, n_))) {
    return without_state(elapsed);
  }
  if (!loops_.measure(state.q, std::exchange(unmeasured_, 0.0))) {
    fault_ = loops_.fault();
    const bool approaches = fault_.fault == ROBOT_DYNAMICS_FAR && ++approaching_ <= APPROACH;
    return approaches ? Outcome::state_held : without_state(elapsed);
  }
  approaching_ = 0;
  if (frame_law_) {
    prepare_frame_law(state, elapsed, now);
  }
  if (reference_ != Source::none && !compute(reference_, state)) {
    fault_ = loops_.fault();
    fault_.of_reference = true;
    reference_ = Source::none;
    refused = true;
  }
  const bool follows = reference_ != Source::none;
  const Source source = follows ? reference_ : frame_law_ ? Source::held : Source::gravity;
  if (!(follows || compute(source, state)) || !follow(source, elapsed)) {
    return without_state(elapsed);
  }
  if (source == Source::motion) {
    std::copy(q_.begin(), q_.end(), held_.begin());
  }
  return refused ? Outcome::reference_refused : follows ? Outcome::sent :
         frame_law_ ? Outcome::held : Outcome::gravity_only;
}

/// Lets time pass for the law of a frame, and finds where the arm is held, at first and after an interruption.
void EffortLaw::prepare_frame_law(const State & state, double elapsed, std::int64_t now) noexcept
{
  const bool anew = !is_held_ || without_ > INTERRUPTION;
  if (anew) {
    std::copy_n(state.q, n_, held_.begin());
    is_held_ = true;
  }
  frame_law_->elapse(elapsed, 1e-9 * static_cast<double>(now), without_, anew);
}

bool EffortLaw::take_reference(const Reference & reference) noexcept
{
  const bool moves = reference.q != nullptr, adds = reference.effort != nullptr;
  if (moves && !(finite(reference.q, n_) && finite(reference.qd, n_) && finite(reference.qdd, n_))) {
    return false;
  }
  if ((adds && !finite(reference.effort, n_)) || !(moves || adds)) {
    return false;
  }
  if (moves) {
    std::copy_n(reference.q, n_, q_.begin());
    std::copy_n(reference.qd, n_, qd_.begin());
    std::copy_n(reference.qdd, n_, qdd_.begin());
  }
  if (adds) {
    std::copy_n(reference.effort, n_, added_.begin());
  }
  reference_ = moves ? Source::motion : Source::effort;
  adds_ = adds;
  reference_age_ = 0.0;
  return true;
}

/// Writes the torque of a source at `time` to tau_; returns whether it is finite. control/payload/payload_blending.py.
bool EffortLaw::compute(Source source, const State & state) noexcept
{
  const Corners & corners = *now_;
  const double p = progress_.payload().share(), g = progress_.gravity().share();
  const auto last = static_cast<std::size_t>(corners.count - 1);
  if (last == 0 || (p >= 1.0 && g >= 1.0)) {
    if (!corner_torque(source, state, corners.corner[last].inputs.data(), tau_.data())) {
      return false;
    }
  } else {
    // tau = sum of w_p w_g tau(payload, gravity)
    double weights[4];
    library_->corner_weights(p, g, weights);
    std::fill(tau_.begin(), tau_.end(), 0.0);
    for (std::size_t k = 0; k <= last; ++k) {
      const Corners::Corner & corner = corners.corner[k];
      const double weight = weights[2 * corner.payload_after + corner.gravity_after];
      if (weight != 0.0) {
        if (!corner_torque(source, state, corner.inputs.data(), corner_.data())) {
          return false;
        }
        library_->add_share(weight, corner_.data(), tau_.data());
      }
    }
  }
  if (source == Source::motion && feedback_.acts()) {
    feedback_.add(state.q, state.qd, q_.data(), qd_.data(), tau_.data());
  }
  if ((source == Source::motion || source == Source::effort) && adds_) {
    library_->add_share(1.0, added_.data(), tau_.data());
  }
  if (finite(tau_.data(), n_)) {
    return true;
  }
  if (frame_law_) {
    frame_law_->restore();
  }
  return false;
}

bool EffortLaw::corner_torque(
  Source source, const State & state, const double * inputs, double * tau) noexcept
{
  if (source == Source::motion) {
    return terms_.torque(
      at_measured_ ? state.q : q_.data(), at_measured_ ? state.qd : qd_.data(), qdd_.data(), qd_.data(), inputs,
      loops_.memory(), tau) &&
           (!frame_law_ || frame_law_->add(
        state.q, state.qd, q_.data(), qd_.data(), false, inputs, loops_.memory(), tau));
  }
  if (!policy_.terms.gravity) {
    std::fill_n(tau, n_, 0.0);
  } else if (!library_->gravity_torque(state.q, inputs, loops_.memory(), tau)) {
    return false;
  }
  return source != Source::held ||
         frame_law_->add(state.q, state.qd, held_.data(), still_.data(), true, inputs, loops_.memory(), tau);
}

/// Whether the last cycle was a pause in which the arm may have moved away: a torque that steps then is one that no sampled
/// control of these gains would send.
bool EffortLaw::pauses() const noexcept
{
  return pause_ > 0.0 && (frame_law_ ? pause_ >= frame_law_->longest_period() : feedback_.acts());
}

/// Sends the torque tau_ of a source, without a step from the one before; returns whether it is finite.
bool EffortLaw::follow(Source source, double elapsed) noexcept
{
  // before the difference to what was sent is taken: one beyond the limits would end in a step
  if (!limiter_.limit_effort(tau_.data())) {
    return false;
  }
  if (goes_down_) {
    transition_.begin(limiter_.last().data(), tau_.data(), ramp_time_);
    fade_in_.stop();
  } else if (source_ != Source::none && (source != source_ || resumed_)) {
    // what moved the arm to the reference it is held at ends sooner than it could move it on
    const bool stops = source_ == Source::motion && source == Source::held;
    transition_.begin(before_fade_in_.data(), tau_.data(), stops ? std::min(STOP, ramp_time_) : ramp_time_);
  } else if ((source_ == Source::motion || source_ == Source::held) && pauses()) {
    // the arm may have moved away from the reference; a longer time would keep PD or springs off where pauses repeat
    transition_.begin(before_fade_in_.data(), tau_.data(), std::min(0.5 * pause_, ramp_time_));
  }
  pause_ = without_ = 0.0;
  source_ = source;
  goes_down_ = resumed_ = false;
  transition_.apply(tau_.data(), elapsed);
  std::copy(tau_.begin(), tau_.end(), before_fade_in_.begin());
  fade_in_.apply(tau_.data(), elapsed);
  if (!limiter_.apply(tau_.data(), elapsed)) {
    return false;
  }
  without_state_ = 0;
  in_use_.store(true, RELAXED);
  return true;
}

/// Holds the last effort for HELD updates, then reduces it to zero.
Outcome EffortLaw::without_state(double elapsed) noexcept
{
  if (without_state_ < HELD) {
    ++without_state_;
    return Outcome::state_held;
  }
  go_down(elapsed);
  return Outcome::state_lost;
}

/// Reduces the effort to zero over ramp_time, within the rate limit; returns whether it is zero.
bool EffortLaw::go_down(double elapsed) noexcept
{
  if (!goes_down_) {
    ramp_.begin(limiter_.last().data());
    goes_down_ = true;
  }
  const bool over = ramp_.torque(elapsed, tau_.data());
  limiter_.apply(tau_.data(), elapsed);
  const auto & last = limiter_.last();
  return over && std::all_of(last.begin(), last.end(), [](double tau) {return tau == 0.0;});
}

}  // namespace robot_dynamics_controllers
