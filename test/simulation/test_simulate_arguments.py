"""What ``simulate`` refuses, by name; and a state that diverges, with its time."""

import sys

from support.robots.simulated_robots import limited, with_friction
from support.robots.small_robots import one

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import Outcome, Result
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.simulation import simulate

WRONG = {
    'q0: expected shape': {'q0': np.zeros(3)},
    'qd0[0]: nan is not finite': {'qd0': [np.nan, 0.0]},
    'torque: expected 2 torques a row, got shape (3,)': {'torque': np.zeros(3)},
    'torque: expected one row, or one for each of 100 steps, got shape (7, 2)': {'torque': np.zeros((7, 2))},
    'torque: shape (3, 100, 2) does not broadcast': {'torque': np.zeros((3, 100, 2))},
    'torque[1]: inf': {'torque': np.array([[0.0, np.inf]])},
    'torque(0, q, qd): expected shape (2,), got (3,)': {'torque': lambda t, q, qd: np.zeros(3)},
    'torque(0.05, q, qd)[0]: nan': {'torque': lambda t, q, qd: np.full(2, np.nan if t > 0.0499 else 0.0)},
    'step: expected a positive number, got 0': {'step': 0},
    'step: expected a positive number, got -0.1': {'step': -0.1},
    'duration: expected a positive number, got inf': {'duration': np.inf},
    'duration: expected a multiple of the step of 0.003 s, got 0.1 s': {'step': 0.003},
    'method: expected one of euler': {'method': 'heun'},
    'every: expected a divisor of 100 steps, got 7': {'every': 7},
    'threads: expected a number of cores, at least 1, got 0': {'threads': 0},
    'threads: expected a number of cores, at least 1, got 1.5': {'threads': 1.5},
    'reference_frame: expected one of world': {'reference_frame': 'tool'},
    "q0: joint 'two' is at 0.6, outside its limits of nan to 0.5": {'q0': [0.0, 0.6], 'limits': 'stop'},
    'limits: expected one of stop': {'limits': 'ignore'},
    "limits: 'stop' needs a fixed step": {'limits': 'stop', 'method': 'adaptive'},
    'restitution: expected a number from 0 to 1': {'limits': 'bounce', 'restitution': 1.5},
    'every: 100000000000001 samples of 1 states are too large for the memory': {'step': 1e-15},
    'wrenches': {'wrenches': {'lower': np.zeros(5)}},
    'no link': {'wrenches': {'hand': np.zeros(6)}},
}


@pytest.mark.parametrize('text', WRONG)
def test_wrong_arguments_are_named(text):
    options = {'q0': [0.0, 0.0], 'qd0': [0.0, 0.0], 'duration': 0.1, **WRONG[text]}
    with pytest.raises((ArgumentError, KeyError)) as error:
        simulate(limited(), options.pop('q0'), options.pop('qd0'), **options)
    assert text.replace('[1]', '[0, 1]') in str(error.value) or text in str(error.value)


@pytest.mark.compiled
def test_numbers_of_numpy_and_no_wrenches_are_accepted():
    several = {'every': np.int64(50), 'wrenches': {}, 'limits': 'bounce', 'restitution': np.float32(0.5)}
    found = simulate(limited(), [0.0, 0.0], [0.0, 0.0], duration=0.1, threads=np.int64(1), **several)
    assert len(found.t) == 3
    assert (found.q == simulate(limited(), [0.0, 0.0], [0.0, 0.0], duration=0.1, limits='bounce').q[::50]).all()


@pytest.mark.parametrize('method', ['euler', 'adaptive'])
@pytest.mark.parametrize('torque', [None, lambda t, q, qd: -q])
def test_a_batch_without_states_has_a_result_without_states(method, torque):
    found = simulate(limited(), np.zeros((3, 0, 2)), [0.0, 0.0], torque, 0.1, 0.05, method)
    assert found.t.shape == (3,) and found.q.shape == found.qd.shape == (3, 0, 3, 2)
    assert found.energy.shape == found.energy_drift.shape == (3, 0, 3)


def test_adaptive_steps_without_scipy_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, 'scipy.integrate', None)
    monkeypatch.delitem(sys.modules, 'robot_dynamics_ros.simulation.adaptive_steps', raising=False)
    with pytest.raises(DynamicsError, match=r"'adaptive' needs scipy.*pip install scipy"):
        simulate(limited(), [0.0, 0.0], [0.0, 0.0], method='adaptive')


@pytest.mark.parametrize('torque', [None, lambda t, q, qd: np.zeros(2)], ids=['compiled', 'stepped'])
def test_a_state_that_diverges_is_reported_with_its_time(torque):
    with pytest.raises(ArgumentError, match=r'not finite (after|at) [456] s'):
        simulate(limited(), [0.1, 0.2], [50.0, -80.0], torque, duration=300.0, step=1.0, method='euler')


@pytest.mark.compiled
def test_the_time_of_a_divergence_is_known_to_a_sample():
    with pytest.raises(ArgumentError, match='not finite after 300 s, and perhaps up to 299 s before'):
        simulate(limited(), [0.1, 0.2], [50.0, -80.0], None, 300.0, 1.0, 'euler', every=300)


@pytest.mark.parametrize('torque', [None, lambda t, q, qd: np.zeros(1)], ids=['compiled', 'stepped'])
def test_a_position_that_overflows_is_reported(torque):
    """A slide's dynamics do not depend on its position: its velocity stays finite."""
    joint = Joint('slide', 'cart', 'base', 'prismatic', np.eye(3)[0], np.eye(3), np.zeros(3), np.eye(10)[0])
    robot = Robot(Model.of('cart', 'base', [joint]), (0.0, 0.0, 0.0))
    with pytest.raises(ArgumentError, match='not finite after 1 s'):
        simulate(robot, [1e308], [1e308], torque, duration=1.0, step=1.0, method='euler')


def test_a_joint_that_cannot_move_is_named():
    with pytest.raises(ModelError, match="joint 'a' has no inertia"):
        simulate(Robot(Model.of('r', 'base', [Joint('a', 'b', 'base', 'revolute', np.array([0, 0, 1.0]), np.eye(3),
                                                    np.zeros(3), np.zeros(10))])), [0.0], [0.0])  # fmt: skip
    with pytest.raises(ArgumentError, match="friction: joint 'a' cannot move"):
        simulate(with_friction(one('continuous'), load=1.0), [0.0], [0.0], friction=True)


def test_a_law_that_lacks_an_input_and_one_that_is_idle():
    class Law:
        outcome = Outcome.INCOMPLETE

        def torque(self, state, out):
            out[:] = 7.0
            return Result(self.outcome, 'no wind')

        def stop_following(self): ...

        def set_back(self, now): ...

    law = Law()
    with pytest.raises(ArgumentError, match='no torque at 0 s: no wind'):
        simulate(one('continuous'), [0.0], [0.0], law)
    law.outcome = Outcome.IDLE
    idle, free = (simulate(one('continuous'), [0.0], [1.0], torque, duration=0.1) for torque in (law, None))
    assert (idle.q == free.q).all()
    with pytest.raises(ArgumentError, match='one state'):
        simulate(one('continuous'), [[0.0]], [0.0], law)
