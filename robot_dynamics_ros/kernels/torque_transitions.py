"""Torques of n joints that change over a stated time instead of at once.

progress (2, s) of a change is the time that has passed, below 0 before its first torque, and the whole time. A change
goes on while the first is below the second; the first torque of a change is the one before it. ``elapsed`` (s) is the
time since the last torque.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.choices import select


@kernel
def advance(progress, elapsed):
    """Write progress (2, s), ``elapsed`` later. Return the share of the time that has passed."""
    progress[0] = select(progress[0] < 0.0, 0.0, progress[0] + elapsed)
    return progress[0] / progress[1]


@kernel
def fade_in(last, progress, torque, elapsed):
    """Write torque (n) = last + share (torque - last) with a share that grows from 0 to 1, and progress (2, s)."""
    share = advance(progress, elapsed)
    is_under_way = progress[0] < progress[1]
    for k in range(torque.shape[0]):
        blended = share * (torque[k] - last[k]) + last[k]
        torque[k] = select(is_under_way, blended, torque[k])


@kernel
def begin_transition(last, torque, duration, difference, progress):
    """Write difference = last - torque, (n) each, and progress (2, s) of a transition from ``last`` to this torque.

    It takes ``duration`` (s), or as long as what was left of a transition that is under way, if that is longer.
    """
    for k in range(torque.shape[0]):
        difference[k] = last[k] - torque[k]
    progress[1] = max(duration, progress[1] - max(progress[0], 0.0))
    progress[0] = -1.0


@kernel
def transition(difference, progress, torque, elapsed):
    """Write torque (n) += (1 - share) difference with a share that grows from 0 to 1, and progress (2, s)."""
    left = 1.0 - advance(progress, elapsed)
    is_under_way = progress[0] < progress[1]
    for k in range(torque.shape[0]):
        changed = left * difference[k] + torque[k]
        torque[k] = select(is_under_way, changed, torque[k])


@kernel
def ramp_to_zero(initial, progress, torque, elapsed):
    """Write torque (n) = (1 - share) initial, 0 from the end on, and progress (2, s). Return what is left, 1 to 0."""
    left = max(0.0, 1.0 - advance(progress, elapsed))
    for k in range(torque.shape[0]):
        torque[k] = left * initial[k]
    return left
