"""What laws of a Cartesian impedance share, as time passes and states pause."""

from support.robots.small_robots import AUBO

import numpy as np
import pytest

from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.impedance_law import ImpedanceLaw
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness

NOW = 1_700_000_000_000_000_000


class Law:
    """Computes a torque of ones."""

    def torque(self, state, out):
        out.fill(1.0)
        return TORQUE


@pytest.mark.parametrize(
    ('resumed', 'pause', 'elapsed', 'anew'),
    [
        (False, 0.3, 0.3, False),
        (False, 2.0, 2.0, False),
        (True, 0.3, 0.004, False),
        (True, 1.0, 0.004, False),
        (True, 1.1, 0.004, True),
        (True, np.inf, 0.004, True),
    ],
)
def test_after_a_pause_ramps_go_on_as_in_one_period_and_a_long_one_begins_anew(resumed, pause, elapsed, anew):
    stiffness, soft = Stiffness([20.0] * 6), SoftLimits(AUBO, [0.3], [5.0])
    wrench = CommandedWrench((5.0, 40.0), (1.0, 1.0), ramp_time=4.0)
    wrench.want([0.0, 0.0, 0.0, 40.0, 0.0, 0.0], False, NOW)
    wrench.elapse(1.0, NOW)
    soft.lower[:], soft.upper[:] = -0.2, 1.2
    state, out = MeasuredState(*np.zeros((2, 6))), np.zeros(6)
    state.resumed, state.pause, state.elapsed, state.period, state.time = resumed, pause, min(pause, 9.0), 0.004, NOW
    assert ImpedanceLaw(Law(), stiffness, soft, wrench).torque(state, out) is TORQUE and out.tolist() == [1.0] * 6
    assert stiffness.elapsed[0] == elapsed
    assert np.isnan([soft.lower, soft.upper]).all() == anew
    assert wrench.now[0, 3] == pytest.approx(0.0 if anew else 10.0 + 10.0 * elapsed)
    # what was wanted before the pause is wanted no more
    wrench.elapse(9.0, NOW)
    assert wrench.now[0, 3] == (0.0 if anew else 40.0)
