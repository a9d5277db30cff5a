"""What laws of a Cartesian impedance share, as time passes and states pause."""

from support.robots.small_robots import AUBO

import numpy as np
import pytest

from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.impedance_law import ImpedanceLaw
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness

NOW = 1000.0


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
        self.law = ImpedanceLaw(Law(), self.stiffness, self.soft, self.wrench)
        self._state = MeasuredState(*np.zeros((2, 6)))
        self._state.period, self._state.passing = 0.004, NOW
        self.give(passing=0.0, resumed=True, pause=np.inf, elapsed=0.0)
        self.want()
        self.wrench.elapse(1.0, NOW)
        self.soft.lower[:], self.soft.upper[:] = -0.2, 1.2

    def want(self):
        self.wrench.want([0.0, 0.0, 0.0, 40.0, 0.0, 0.0], False, self._state.passing)

    def give(self, passing=0.004, resumed=False, pause=0.004, elapsed=0.004, has_velocity=True):
        """Give the law the state after so much time on the clock of the arm; the rest is by its stamps."""
        state = self._state
        state.resumed, state.pause, state.elapsed, state.has_velocity = resumed, pause, elapsed, has_velocity
        state.passing += passing
        assert self.law.torque(state, np.zeros(6)) is TORQUE

    @property
    def force(self):
        return self.wrench.now[0, 3]

    @property
    def is_anew(self):
        """Whether what lasts has begun anew."""
        assert np.isnan(self.soft.lower).all() == (self.force == 0.0)
        return not self.force


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
    one.give(passing=0.3, resumed=True, pause=0.3, elapsed=0.3)
    assert one.force == pytest.approx(7.0)
    one.give(passing=0.9, resumed=True, pause=0.9, elapsed=0.9)
    assert one.force == 0.0


BACK = {'resumed': True, 'pause': np.inf, 'elapsed': 0.0}


def test_stamps_that_are_set_back_or_forward_are_no_pause():
    one = Shared()
    one.give(**BACK)  # the clock of the system was set back
    one.give(resumed=True, pause=5.0)  # and forward
    assert not one.is_anew and one.force == pytest.approx(10.04)
    one.give(passing=0.5, **BACK)
    assert not one.is_anew
    one.give(passing=1.5, **BACK)
    assert one.is_anew


def test_a_simulation_that_starts_again_ends_the_wrench():
    one = Shared()
    one.give(passing=-10.0, **BACK)
    assert not one.is_anew and one.force == 10.0
    one.give()
    assert one.force == pytest.approx(9.96)
    one.want()
    one.give()
    assert one.force == pytest.approx(10.0)


def test_at_an_activation_all_begins_anew():
    one = Shared()
    one.law.stop_following()
    one.give(**BACK)
    assert one.is_anew


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
    """The law is that of another description: it has not held the arm yet."""
    stiffness, soft = Stiffness([20.0] * 6), SoftLimits(AUBO, [0.3], [5.0])
    wrench = CommandedWrench((5.0, 40.0), (1.0, 1.0), ramp_time=4.0)
    wrench.want([0.0, 0.0, 0.0, 40.0, 0.0, 0.0], False, NOW)
    wrench.elapse(1.0, NOW)
    soft.lower[:], soft.upper[:] = -0.2, 1.2
    state, out = MeasuredState(*np.zeros((2, 6))), np.zeros(6)
    state.resumed, state.pause, state.elapsed, state.period, state.passing = resumed, pause, min(pause, 9.0), 0.004, NOW
    state.has_velocity = True
    assert ImpedanceLaw(Law(), stiffness, soft, wrench).torque(state, out) is TORQUE and out.tolist() == [1.0] * 6
    assert stiffness.elapsed[0] == elapsed
    assert np.isnan([soft.lower, soft.upper]).all() == anew
    assert wrench.now[0, 3] == pytest.approx(0.0 if anew else 10.0 + 10.0 * elapsed)
    # what was wanted before the pause is wanted no more
    wrench.elapse(9.0, NOW)
    assert wrench.now[0, 3] == (0.0 if anew else 40.0)
