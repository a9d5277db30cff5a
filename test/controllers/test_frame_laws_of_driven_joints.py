"""Laws of a frame of arms whose other joints follow, or have springs: the bits of the nodes."""

from dataclasses import replace
from functools import cache

from support.controllers.controllers_core import MOTION, RATE, Law, exported, has_compilers
from support.controllers.driven_joints import FINGERS, arm
from support.robots.random_trees import BASE, random_joints

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianImpedance, Impedance
from robot_dynamics_ros.control.laws.impedance.frame_law_code import impedance_code, operational_space_code
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpace, OperationalSpaceControl
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.model.model import Model

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
STATES, MILLISECOND = 500, 1_000_000
FRAMES = {'palletizer': '', 'delta': '', 'four-bar with a spring': 'coupler', FINGERS: 'fore', 'sprung': ''}
SPRINGS = (0.0,) * 3 + (200.0,) * 3


def sprung() -> Robot:
    joints = [replace(it, stiffness=20.0 + k, rest=0.1 * k) for k, it in enumerate(random_joints(seed=4, count=4))]
    return Robot(Model.of('sprung', BASE, joints))


def robot_of(name: str) -> DrivenRobot:
    """Return an arm whose loops were closed nowhere yet."""
    found = in_driven_joints(sprung()) if name == 'sprung' else arm(name)
    assert isinstance(found, DrivenRobot)
    return found


def impedance(name: str) -> tuple[Impedance, Stiffness]:
    n = robot_of(name).nv
    posture = np.full(n, 5.0), np.full(n, 1.0)
    return Impedance(SPRINGS, *posture, 0.7, frame=FRAMES[name]), Stiffness(SPRINGS, 1.0, 0.2, [False] * 6)


def operational_space(name: str) -> OperationalSpace:
    n = robot_of(name).nv
    return OperationalSpace(8.0, np.full(n, 5.0), np.full(n, 1.0), 0.7, FRAMES[name], (0.4, 0.1), 60.0)


@cache
def law_of(name: str, kind: str) -> Law:
    """Return a law of the library of an arm."""
    robot = robot_of(name)
    if kind == 'operational_space':
        code = operational_space_code(robot, operational_space(name), TERMS, RATE)
    else:
        code = impedance_code(robot, *impedance(name), TERMS, RATE)
    settings = {'effort_limit': [1e9], 'fade_in_time': 0.0, 'preset': 'effort_controller', 'control_law': kind}
    return Law(exported(robot_of(name), f'{kind} of {name}', code), robot.joint_names, **settings)


def efforts_of(name: str, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return states, references and efforts of the library."""
    robot, law, rng = robot_of(name), law_of(name, kind), np.random.default_rng(6)
    n = robot.nv
    t, phase = 0.003 * np.arange(STATES)[:, None], np.arange(n)
    y = robot.neutral() + 0.05 * (np.sin(t + phase) - np.sin(phase))
    states = np.stack([y, rng.normal(size=y.shape)], axis=1)
    references = np.zeros((STATES, 4, n))
    references[:, 0] = y + rng.uniform(-0.02, 0.02, y.shape)
    references[:, 1:3] = rng.normal(size=(STATES, 2, n))
    law.activate()
    efforts, outcomes = law.updates(states, references, MOTION)
    assert set(outcomes) == {'sent'}, law.loop_fault
    return states, references, efforts


def node(robot: DrivenRobot, states, references, law, stiffness=None) -> np.ndarray:
    """Return the efforts of a law of the nodes."""
    out = np.empty(states[:, 0].shape)
    for k, ((y, yd), reference, tau) in enumerate(zip(states, references, out, strict=True)):
        if robot.mechanism:
            robot.following.measure(y, np.full(len(robot.followers), np.nan), (k + 1) * MILLISECOND)
        if stiffness is not None:
            stiffness.elapse(1.0 / RATE)
        law.torque(y, yd, tuple(reference[:3]), np.zeros(robot.nv), tau)
    return out


@pytest.mark.parametrize('name', ['four-bar with a spring', FINGERS, 'sprung'])
def test_a_cartesian_impedance_has_the_bits_of_the_nodes(name):
    states, references, efforts = efforts_of(name, 'cartesian_impedance')
    robot, (springs, stiffness) = robot_of(name), impedance(name)
    expected = node(robot, states, references, CartesianImpedance(robot, springs, TERMS, stiffness), stiffness)
    assert efforts.tobytes() == expected.tobytes()


@pytest.mark.parametrize('name', ['four-bar with a spring', FINGERS])
def test_operational_space_control_has_the_bits_of_the_nodes(name):
    settings, robot = operational_space(name), robot_of(name)
    states, references, efforts = efforts_of(name, 'operational_space')
    expected = node(robot, states, references, OperationalSpaceControl(robot, settings, TERMS))
    assert efforts.tobytes() == expected.tobytes()


@pytest.mark.parametrize('name', FRAMES)
def test_the_frame_is_led_by_virtual_work(name):
    """Against the tree of all joints: J G by differences of poses, and the inverse of G' M G."""
    robot, h, rng = robot_of(name), 1e-5, np.random.default_rng(2)
    y = robot.neutral() + rng.uniform(-0.05, 0.05, robot.nv)
    frame = FRAMES[name] or robot.end_link
    moved = [
        (robot.link_pose(y + e, frame)[:3, 3] - robot.link_pose(y - e, frame)[:3, 3]) / (2.0 * h)
        for e in h * np.eye(robot.nv)
    ]
    np.testing.assert_allclose(robot.jacobian(y, frame)[3:], np.transpose(moved), atol=1e-8)
    reachable = within_reach(robot)
    np.testing.assert_allclose(reachable.jacobian(y, frame), robot.jacobian(y, frame), rtol=1e-9, atol=1e-9)
    unit = robot.mass_matrix_inverse(y) @ robot.mass_matrix(y)
    np.testing.assert_allclose(unit, np.eye(robot.nv), atol=1e-11)
    batch = np.tile(y, (2, 1))
    np.testing.assert_allclose(robot.jacobian(batch, frame)[1], robot.jacobian(y, frame), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(robot.mass_matrix_inverse(batch)[1], robot.mass_matrix_inverse(y), rtol=1e-9, atol=1e-12)


def test_an_arm_that_is_pushed_far_from_where_it_is_held_keeps_its_efforts():
    """The loops at the held position are closed in steps from those at the state, 0.16 rad further in an update."""
    name = 'four-bar with a spring'
    robot, law = robot_of(name), law_of(name, 'cartesian_impedance')
    pushed = np.concatenate([np.zeros(10), np.arange(0.0, 0.5, 0.002), np.full(10, 0.5)])
    states = np.zeros((len(pushed), 2, 1))
    states[:, 0] = robot.neutral() + pushed[:, None]
    law.deactivate()
    law.activate()
    efforts, outcomes = law.updates(states)
    assert outcomes.count('state_held') <= 3 and set(outcomes) == {'held', 'state_held'}
    assert np.isfinite(efforts).all() and np.abs(np.diff(efforts, axis=0)).max() < 0.1 * np.abs(efforts).max()
