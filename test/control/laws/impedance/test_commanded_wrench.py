"""A commanded wrench: its torque by the textbook, its ramp and its end, and what it does to an arm in MuJoCo."""

from support.control.impedance_plant import ImpedancePlant
from support.matrices import crossed, matrix
from support.robots.small_robots import AUBO, seven_joints

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros.control.arm.inverse_kinematics import InverseKinematics
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    REFERENCE_FRAMES,
    CartesianHold,
    CartesianImpedance,
    Impedance,
)
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE, CommandedWrench
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit
from robot_dynamics_ros.errors import ArgumentError

ARMS = {'six joints': AUBO, 'seven joints': seven_joints()}
LIMITS, SPEED = (5.0, 40.0), (0.8, 0.25)
Q = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1])
NOW = 1000.0


def pressing(wrench, is_local=False, free=(True, True)) -> CommandedWrench:
    """Return a wrench that is in force."""
    found = CommandedWrench(LIMITS, SPEED, free=free)
    found.want(wrench, is_local, NOW)
    found.elapse(9.0, NOW)
    return found


def impedance_of(arm, wrench, stiffness=np.zeros(6), reference_frame='local_world_aligned', posture=0.0):  # noqa: B008
    return Impedance(stiffness, *np.full((2, arm.nv), posture), reference_frame=reference_frame, wrench=wrench)


def hold_of(arm, *arguments, **more):
    return CartesianHold(arm, impedance_of(arm, *arguments, **more))


@pytest.mark.parametrize('is_local', [False, True])
@pytest.mark.parametrize('reference_frame', REFERENCE_FRAMES)
@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_it_adds_the_torque_of_a_wrench_and_brakes_a_fast_frame(arm, reference_frame, is_local):
    rng, n = np.random.default_rng(6), arm.nv
    stiffness = np.array([20.0, 30.0, 40.0, 300.0, 400.0, 500.0])
    seen = set()
    for _ in range(60):
        w = np.concatenate([rng.uniform(-2.0, 2.0, 3), rng.uniform(-20.0, 20.0, 3)])
        q, away, qd = rng.uniform(-1.4, 1.4, (3, n)) * np.array([[1.0], [0.1], [rng.choice([0.0, 0.2, 1.5])]])
        out, without = np.empty((2, n))
        free = rng.choice([False, True], 2)
        hold_of(arm, pressing(w, is_local, free), stiffness, reference_frame).torque(q, qd, q + away, out)
        hold_of(arm, None, stiffness, reference_frame).torque(q, qd, q + away, without)
        R, J = arm.link_pose(q, arm.link_names[-1])[:3, :3], arm.jacobian(q, arm.link_names[-1])
        expected = np.zeros(6)
        for k, part in enumerate(np.split(w, 2)):
            expected[3 * k : 3 * k + 3] = R @ part if is_local else part
        velocity, powers = (
            np.split(J @ qd, 2),
            [np.linalg.norm(it) * v for it, v in zip(np.split(w, 2), SPEED, strict=True)],
        )
        fastest = 0.0
        for k, v in enumerate(velocity):
            x, P = np.linalg.norm(v) / SPEED[k], powers[k] + free[k] * powers[1 - k]
            braked, fastest = np.clip(x - 1.0, 0.0, 1.0), max(x, fastest)
            expected[3 * k : 3 * k + 3] -= P * braked / max(x, 1.0) * v / SPEED[k] ** 2
            seen.add((k, 'all' if braked == 1.0 else 'none' if braked == 0.0 else 'less'))
        np.testing.assert_allclose(out - without, J.T @ expected, atol=1e-9)
        # from twice the limits on it gives a free frame no power
        assert fastest < 2.0 or not free.all() or expected @ J @ qd < 1e-9
    assert len(seen) == 6


def test_it_grows_and_falls_evenly_and_ends_where_nobody_wants_it():
    wrench = CommandedWrench(LIMITS, SPEED, ramp_time=0.5)
    wanted = np.array([0.0, 5.0, 0.0, 0.0, 0.0, -40.0])
    wrench.want(wanted, True, NOW)
    for k in range(1, 13):
        wrench.elapse(0.05, NOW)
        np.testing.assert_allclose(wrench.now, [np.zeros(6), min(1.0, 0.1 * k) * wanted], atol=1e-12)
    # in other axes one falls as the other grows
    wrench.want(0.5 * wanted, False, NOW)
    wrench.elapse(0.1, NOW)
    np.testing.assert_allclose(wrench.now, [0.2 * wanted, 0.8 * wanted], atol=1e-12)
    wrench.elapse(0.05, NOW + AGE)
    np.testing.assert_allclose(wrench.now[0], 0.3 * wanted, atol=1e-12)
    wrench.elapse(0.1, NOW + AGE + 1e-6)
    np.testing.assert_allclose(wrench.now[0], 0.1 * wanted, atol=1e-12)
    # a clock that goes back ends it; the next one counts, also from later than the state
    wrench.want(wanted, False, NOW)
    wrench.elapse(0.1, NOW)
    np.testing.assert_allclose(wrench.now[0], 0.0, atol=1e-12)
    wrench.want(wanted, False, NOW + 0.001)
    wrench.elapse(0.1, NOW)
    np.testing.assert_allclose(wrench.now[0], 0.2 * wanted, atol=1e-12)
    # evenly along a diagonal, too
    wrench.begin_anew()
    wrench.want([0.0, 0.0, 0.0, 20.0, -20.0, 20.0], False, NOW)
    wrench.elapse(0.25, NOW)
    np.testing.assert_allclose(wrench.now[0, 3:], np.array([1.0, -1.0, 1.0]) * 20.0 / np.sqrt(3.0), atol=1e-12)
    # after a pause it goes on where it is still wanted, and has fallen where it has ended meanwhile
    wrench = CommandedWrench(LIMITS, SPEED, ramp_time=0.5)
    wrench.want(wanted, False, NOW)
    wrench.elapse(9.0, NOW)
    wrench.elapse(0.0, NOW + AGE, pause=0.1)
    np.testing.assert_allclose(wrench.now[0], wanted, atol=1e-12)
    wrench.elapse(0.0, NOW + AGE + 1e-6, pause=0.1)
    np.testing.assert_allclose(wrench.now[0], 0.8 * wanted, atol=1e-12)


def test_it_goes_on_with_another_description_within_the_limits_of_then():
    wrench, wanted = CommandedWrench(LIMITS, SPEED, ramp_time=0.5), np.array([0.0, 5.0, 0.0, 0.0, 0.0, -40.0])
    wrench.want(wanted, False, NOW)
    wrench.elapse(9.0, NOW)
    after = CommandedWrench(LIMITS, SPEED, ramp_time=0.5)
    after.continue_from(wrench)
    after.elapse(0.1, NOW)
    np.testing.assert_allclose(after.now[0], wanted, atol=1e-12)
    after.end()
    after.elapse(0.1, NOW)
    np.testing.assert_allclose(after.now[0], 0.8 * wanted, atol=1e-12)
    for largest in ((5.0, 10.0), (0.0, 0.0)):
        after = CommandedWrench(largest, SPEED, ramp_time=0.5)
        after.continue_from(wrench)
        np.testing.assert_allclose(after.now[0, 3:], [0.0, 0.0, -largest[1]], atol=1e-12)
        after.elapse(1.0, NOW)
        np.testing.assert_allclose(after.now[0, [1, 5]], [largest[0], -largest[1]], atol=1e-12)
    wrench.end()
    wrench.elapse(0.1, NOW)
    np.testing.assert_allclose(wrench.now[0], 0.8 * wanted, atol=1e-12)


def test_in_both_axes_it_is_no_larger_than_its_limit():
    """A wrench in the axes of the base falls as one in those of the frame grows."""
    wrench, (out, without) = pressing([0.0, 0.0, 0.0, 0.0, 0.0, 40.0]), np.empty((2, 6))
    R, J = AUBO.link_pose(Q, AUBO.link_names[-1])[:3, :3], AUBO.jacobian(Q, AUBO.link_names[-1])
    wrench.want([0.0, 0.0, 0.0, *(39.9 * R.T @ [0.0, 0.0, 1.0])], True, NOW)
    wrench.elapse(0.5, NOW)
    assert np.linalg.norm(wrench.now, axis=1).sum() > 39.0
    wrench.now[:] = [[0.0, 0.0, 0.0, 0.0, 0.0, 30.0], [0.0, 0.0, 0.0, *(30.0 * R.T @ [0.0, 0.0, 1.0])]]
    hold_of(AUBO, wrench).torque(Q, np.zeros(6), Q, out)
    hold_of(AUBO, None).torque(Q, np.zeros(6), Q, without)
    np.testing.assert_allclose(out - without, J.T @ [0.0, 0.0, 0.0, 0.0, 0.0, 40.0], atol=1e-9)


@pytest.mark.parametrize(
    ('wrench', 'reason'),
    [
        ([0.0, 4.0, 3.1, 0.0, 0.0, 0.0], '^moment: 5.061 N m is above moment_limit, 5 N m'),
        ([0.0, 0.0, 0.0, 30.0, 0.0, -30.0], '^force: 42.43 N is above force_limit, 40 N'),
        ([0.0, 0.0, 0.0, 0.0, np.nan, 0.0], r'^wrench\[4\]: nan is not finite'),
        ([1.0], '^wrench: expected'),
    ],
)
def test_a_wrong_one_is_refused_by_name_and_the_one_before_stays(wrench, reason):
    commanded = pressing([1.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=reason):
        commanded.want(wrench, False, NOW)
    commanded.elapse(1.0, NOW)
    assert commanded.now[0].tolist() == [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]


@pytest.mark.compiled  # long without
def test_the_limit_of_sampling_counts_it_as_a_damper():
    impedance = Impedance([20.0, 20.0, 20.0, 300.0, 300.0, 300.0], *np.zeros((2, 6)))
    limits = [ImpedanceLimit(AUBO, impedance._replace(wrench=it)) for it in (None, CommandedWrench(LIMITS, SPEED))]
    assert limits[1].period < 0.9 * limits[0].period


@pytest.mark.parametrize(('turns', 'moves'), matrix([(False, False), (True, True), (True, False)], [(True, False)]))
def test_the_limit_of_sampling_is_that_of_dampers_that_are_stated(turns, moves):
    """Of which the wrench does not know."""
    powers, free = np.array(LIMITS) * SPEED, (turns, moves)
    damping = np.repeat((powers + np.array(free) * powers[::-1]) / np.array(SPEED) ** 2, 3)
    stated, wrench = (
        Impedance([0.0] * 6, *np.zeros((2, 6)), damping=damping),
        CommandedWrench(LIMITS, SPEED, free=free),
    )
    alone = ImpedanceLimit(AUBO, Impedance([0.0] * 6, *np.zeros((2, 6)), wrench=wrench))
    assert alone.period == pytest.approx(ImpedanceLimit(AUBO, stated).period, rel=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_a_frame_that_nothing_holds_is_pushed_no_faster_than_twice_the_limit(arm):
    """In MuJoCo, along an axis without spring and damper."""
    q, stiffness = np.r_[Q, 0.2][: arm.nv], np.array([40.0, 40.0, 40.0, 800.0, 0.0, 800.0])
    plant = ImpedancePlant(arm, hold_of(arm, pressing([0.0, 0.0, 0.0, 0.0, -30.0, 0.0]), stiffness, posture=1.0), q)
    speeds = []
    for _ in range(500):
        plant.step()
        speeds.append(-plant.twist()[4])
    assert 1.5 * SPEED[1] < max(speeds) < 2.0 * SPEED[1]


@pytest.mark.compiled
@pytest.mark.parametrize(('arm', 'push'), crossed(ARMS, [60.0, -60.0]))
def test_a_frame_that_is_led_fast_moves_evenly_whichever_way_it_is_pushed(arm, push):
    """At 1.5 times the speed limit, in MuJoCo: a wrench that was less at speed let it surge against the motion."""
    arm, wrench = ARMS[arm], CommandedWrench((5.0, 60.0), (1.0, 0.1), free=(False, False))
    wrench.want([0.0, 0.0, 0.0, 0.0, 0.0, push], False, NOW)
    wrench.elapse(9.0, NOW)
    q, stiffness = np.r_[Q, 0.2][: arm.nv], np.array([40.0, 40.0, 40.0, 800.0, 800.0, 800.0])
    law, inverse = CartesianImpedance(arm, impedance_of(arm, wrench, stiffness)), InverseKinematics(arm)
    plant, pose, speeds, still = (
        ImpedancePlant(arm, None, q),
        arm.link_pose(q, arm.link_names[-1]),
        [],
        np.zeros(arm.nv),
    )
    desired = np.zeros((3, arm.nv))
    desired[0] = q
    for step in range(2500):
        pose[2, 3] -= 0.15e-3 * min(1.0, step / 500.0)
        before = desired[0].copy()
        desired[0] = inverse.position(pose, before, before)
        desired[1] = (desired[0] - before) * 1e3
        law.torque(np.array(plant.data.qpos), np.array(plant.data.qvel), desired, still, plant.data.qfrc_applied)
        mujoco.mj_step(plant.model, plant.data)
        speeds.append(-plant.twist()[5])
    assert min(speeds[1000:]) > 0.07 and max(speeds[1000:]) < 0.18


@pytest.mark.compiled
@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_against_a_wall_the_force_is_the_commanded_one(arm):
    """In MuJoCo, along an axis without spring: the frame goes 5 mm to a wall of 1e4 N/m, and presses."""
    q, stiffness = np.r_[Q, 0.2][: arm.nv], np.array([40.0, 40.0, 40.0, 800.0, 800.0, 0.0])
    damping = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 60.0])
    gains = np.full((2, arm.nv), 1.0)
    wrench = pressing([0.0, 0.0, 0.0, 0.0, 0.0, -20.0])
    law = CartesianHold(arm, Impedance(stiffness, *gains, damping=damping, wrench=wrench))
    plant, pressed = ImpedancePlant(arm, law, q), 0.0
    for _ in range(4000):
        depth = -plant.error()[5] - 0.005
        pressed = max(0.0, 1e4 * depth - 50.0 * plant.twist()[5]) if depth > 0.0 else 0.0
        plant.step(pressed * np.eye(6)[5])
    assert pressed == pytest.approx(20.0, rel=0.02)
