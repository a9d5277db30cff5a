"""Limits of the torques of n joints before they are sent: magnitude and rate of change."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.choices import is_finite, select


@kernel
def limit_effort(effort_limit, limited, torque):
    """Write torque (n, N m or N), limited to |torque| <= effort_limit (n; inf: no limit), and the flags of each joint.

    limited (n) is 1 where a torque was limited, 4 where it is not finite, else 0. If one is not finite, no torque is
    changed. Returns the largest flag.
    """
    n = torque.shape[0]
    largest = 0.0
    for k in range(n):
        limited[k] = select(is_finite(torque[k]), 0.0, 4.0)
        largest = max(largest, limited[k])
    are_finite = largest <= 0.0
    for k in range(n):
        # |tau| <= limit
        is_beyond = are_finite & (abs(torque[k]) > effort_limit[k])
        nearest = select(torque[k] > 0.0, effort_limit[k], -effort_limit[k])
        torque[k] = select(is_beyond, nearest, torque[k])
        limited[k] = select(is_beyond, 1.0, limited[k])
        largest = max(largest, limited[k])
    return largest


@kernel
def limit_rate(rate_limit, last, limited, torque, elapsed):
    """Write torque = last (n, N m or N), limited to |torque - last| <= rate_limit elapsed, and the flags of each joint.

    rate_limit (n) is in N m/s or N/s, 0 for no limit; elapsed (s) is the time since the torque ``last``. limited (n) is
    2 where a torque was limited, else 0. Returns the largest flag. All torques have to be finite.
    """
    largest = 0.0
    for k in range(torque.shape[0]):
        # |tau - last| <= rate elapsed
        step = rate_limit[k] * elapsed
        is_fast = (rate_limit[k] > 0.0) & (abs(torque[k] - last[k]) > step)
        nearest = select(torque[k] > last[k], last[k] + step, last[k] - step)
        torque[k] = select(is_fast, nearest, torque[k])
        last[k] = torque[k]
        limited[k] = select(is_fast, 2.0, 0.0)
        largest = max(largest, limited[k])
    return largest
