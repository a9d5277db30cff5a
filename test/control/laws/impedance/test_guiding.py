"""An arm that is held and free in some directions: where it is held follows it there, and nowhere else."""

from support.control.impedance_plant import ImpedancePlant
from support.robots.small_robots import AUBO, seven_joints

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import REFERENCE_FRAMES, CartesianHold, Impedance
from robot_dynamics_ros.control.laws.impedance.held_pose import HeldPose
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness

LARGEST, DAMPING = np.repeat([30.0, 800.0], 3), np.repeat([4.0, 60.0], 3)
ARMS = {'six joints': AUBO, 'seven joints': seven_joints()}
Q = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1, 0.5])
FREE = {'a line': [5], 'a plane': [3, 4], 'about a point': [0, 1, 2], 'about an axis': [2], 'all': range(6)}


def law_of(arm, stiffness, reference_frame='local_world_aligned'):
    """Return a law that holds, and the pose at which it does."""
    gains = np.zeros(arm.nv), np.full(arm.nv, 1.0 if arm.nv > 6 else 0.0)
    impedance = Impedance(LARGEST, *gains, damping=DAMPING, reference_frame=reference_frame)
    held = HeldPose(stiffness, arm.nv, reference_frame == 'local')
    return CartesianHold(arm, impedance, stiffness=stiffness, held=held), held


def error(T, T_d, reference_frame):
    """Return rotation and translation (6) from a pose to another one."""
    R = T[:3, :3] if reference_frame == 'local' else np.eye(3)
    turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
    return np.concatenate([R.T @ turn, R.T @ (T_d - T)[:3, 3]])


def freed(axes):
    """Return a stiffness without any of some axes."""
    stiffness = Stiffness(LARGEST, 1.0, 0.2, [True] * 6)
    stiffness.want(np.where(np.isin(np.arange(6), list(axes)), 0.0, LARGEST))
    stiffness.K[:], stiffness.G[:] = np.diag(stiffness.wanted), np.diag(np.sqrt(stiffness.wanted))
    return stiffness


@pytest.mark.parametrize('reference_frame', REFERENCE_FRAMES)
@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
@pytest.mark.parametrize('axes', FREE.values(), ids=FREE)
def test_the_pose_where_it_is_held_follows_along_free_axes_alone(arm, axes, reference_frame):
    rng, n, out = np.random.default_rng(1), arm.nv, np.empty(arm.nv)
    is_free = np.isin(np.arange(6), list(axes))
    (law, held), frame = law_of(arm, freed(axes), reference_frame), arm.link_names[-1]
    for _ in range(10):
        q = Q[:n] + rng.uniform(-0.2, 0.2, n)
        q_hold = q + rng.normal(0.0, 0.002, n)
        T = arm.link_pose(q, frame)
        before = error(T, arm.link_pose(q_hold, frame), reference_frame)
        for _ in range(5):
            law.torque(q, np.zeros(n), q_hold, out)
        assert held.is_guided
        after = error(T, held._pose, reference_frame)
        assert np.abs(after[is_free]).max() < 1e-9
        np.testing.assert_allclose(after[~is_free], before[~is_free], atol=1e-4)
        np.testing.assert_allclose(held._pose[:3, :3] @ held._pose[:3, :3].T, np.eye(3), atol=1e-13)


def test_it_is_that_of_the_joints_where_no_axis_is_free_and_after_the_arm_was_led():
    stiffness, out, still, q_hold = freed([5]), np.empty(6), np.zeros(6), Q[:6] + 0.01
    (law, held), expected = law_of(AUBO, stiffness), AUBO.link_pose(q_hold, AUBO.link_names[-1])
    stiffness.K[5, 5] = 1.0  # it is still falling
    law.torque(Q[:6], still, q_hold, out)
    np.testing.assert_allclose(held._pose, expected, atol=1e-12)
    assert not held.is_guided
    stiffness.K[5, 5] = 0.0
    law.torque(Q[:6], still, q_hold, out)
    assert np.abs(held._pose - expected).max() > 1e-3 and held.is_guided
    stiffness.K[5, 5] = 1.0
    law.torque(Q[:6], still, q_hold, out)
    assert np.abs(held._pose - expected).max() > 1e-3 and held.is_guided
    law._law.torque(Q[:6], still, np.array([q_hold, still, still]), None, out)
    assert not held.is_guided
    law.torque(Q[:6], still, q_hold, out)
    np.testing.assert_allclose(held._pose, expected, atol=1e-12)
    assert not held.is_guided


@pytest.mark.compiled
@pytest.mark.parametrize(('arm', 'q'), [(AUBO, Q[:6]), (ARMS['seven joints'], np.full(7, 0.7))], ids=ARMS)
def test_an_arm_that_was_guided_along_a_line_stays_there_and_is_held_there(arm, q):
    """In MuJoCo, by a hand of 10 N for 1 s, with a load of 5 N across the line; then the line gets a stiffness."""
    stiffness, frame = freed([5]), arm.link_names[-1]
    plant, load, hand = ImpedancePlant(arm, law_of(arm, stiffness)[0], q), np.zeros(6), np.zeros(6)
    load[3], hand[5] = 5.0, -10.0
    begin, torques = arm.link_pose(q, frame), []

    def run(steps, wrench):
        for _ in range(steps):
            stiffness.elapse(1e-3)
            plant.step(wrench)
            position = np.array(plant.data.qpos)
            torques.append(plant.data.qfrc_applied - arm.jacobian(position, frame).T @ wrench)
        return (arm.link_pose(position, frame) - begin)[:3, 3]

    loaded = run(1000, load)
    assert loaded[:2] == pytest.approx([5.0 / 800.0, 0.0], abs=1e-3)
    run(1000, load + hand)
    guided = run(3000, load)
    assert guided[2] < loaded[2] - 0.1 and np.abs(guided - run(500, load)).max() < 2e-3
    # the load across is carried as before
    assert guided[:2] == pytest.approx(loaded[:2], abs=1e-3)
    stiffness.want(LARGEST)
    assert run(2000, load) == pytest.approx([*loaded[:2], guided[2]], abs=2e-3)
    assert np.diagonal(stiffness.K).tolist() == pytest.approx(LARGEST.tolist())
    assert np.abs(np.diff(torques[-3000:], axis=0)).max() < 0.1
