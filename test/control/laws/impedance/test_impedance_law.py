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

    def set_back(self, now):
        """Follow nothing."""

    def stop_following(self):
        """Likewise."""


class Shared:
    """What a law shares, with a wrench of 10 of 40 N that is wanted, and its states, one each 4 ms."""

    def __init__(self):
        self.stiffness, self.soft = Stiffness([20.0] * 6), SoftLimits(AUBO, [0.3], [5.0])
        self.wrench = CommandedWrench((5.0, 40.0), (1.0, 1.0), ramp_time=4.0)
        self.wrench.want([0.0, 0.0, 0.0, 40.0, 0.0, 0.0], False, NOW)
        self.law, self._state = (
            ImpedanceLaw(Law(), self.stiffness, self.soft, self.wrench),
            MeasuredState(*np.zeros((2, 6))),
        )
        self._state.period, self._state.time = 0.004, NOW
        self.give(resumed=True, pause=np.inf, elapsed=0.0)
        self.wrench.want([0.0, 0.0, 0.0, 40.0, 0.0, 0.0], False, NOW)
        self.wrench.elapse(1.0, NOW)
        self.soft.lower[:], self.soft.upper[:] = -0.2, 1.2

    def give(self, resumed=False, pause=0.004, elapsed=0.004, has_velocity=True, late=0):
        state = self._state
        state.resumed, state.pause, state.elapsed, state.has_velocity = resumed, pause, elapsed, has_velocity
        state.time = NOW + late
        assert self.law.torque(state, np.zeros(6)) is TORQUE

    @property
    def force(self):
        return self.wrench.now[0, 3]


def test_while_states_have_no_velocities_nothing_grows_and_then_it_goes_on_as_in_one_period():
    one = Shared()
    for k in range(1, 4):
        one.give(elapsed=0.004 * k, has_velocity=False)
    assert one.force == 10.0
    one.give(elapsed=0.016)
    assert one.force == pytest.approx(10.0 + 10.0 * 0.004)
    one.give()
    assert one.force == pytest.approx(10.0 + 10.0 * 0.008)


def test_a_wrench_that_ended_in_a_pause_does_not_push_after_it():
    one = Shared()
    one.wrench.end()
    one.give(resumed=True, pause=0.3, elapsed=0.3)
    assert one.force == pytest.approx(7.0)
    one.give(resumed=True, pause=0.9, elapsed=0.9)
    assert one.force == 0.0


def test_a_clock_that_is_set_back_is_no_pause(monkeypatch):
    one, steady = Shared(), [100.0]
    monkeypatch.setattr('robot_dynamics_ros.control.laws.impedance.impedance_law.time.monotonic', lambda: steady[0])
    one.give()
    for later, anew in ((0.5, False), (1.5, True)):
        steady[0] += later
        one.law.set_back(NOW - 3_000_000)
        one.give(resumed=True, pause=np.inf, elapsed=0.0, late=-3_000_000)
        assert np.isnan(one.soft.lower).all() == anew and bool(one.force) is not anew
    # after one that goes far back the wrench is not wanted any more, and falls evenly
    one = Shared()
    one.give()
    one.law.set_back(NOW - 10**9)
    one.give(resumed=True, pause=np.inf, elapsed=0.0, late=-(10**9))
    assert one.force == pytest.approx(10.04)
    one.give(late=-(10**9))
    assert one.force == pytest.approx(10.0)
    # nor is one from before an activation
    one.law.set_back(NOW)
    one.law.stop_following()
    one.give(resumed=True, pause=np.inf, elapsed=0.0)
    assert one.force == 0.0


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
    state.has_velocity = True
    assert ImpedanceLaw(Law(), stiffness, soft, wrench).torque(state, out) is TORQUE and out.tolist() == [1.0] * 6
    assert stiffness.elapsed[0] == elapsed
    assert np.isnan([soft.lower, soft.upper]).all() == anew
    assert wrench.now[0, 3] == pytest.approx(0.0 if anew else 10.0 + 10.0 * elapsed)
    # what was wanted before the pause is wanted no more
    wrench.elapse(9.0, NOW)
    assert wrench.now[0, 3] == (0.0 if anew else 40.0)
