"""The adaptive law: its torque and its error against oracles, and what it refuses."""

from support.code.look_ups import recorded
from support.control.adaptive_arm import GAINS, PAYLOAD, ROBOT, SETTINGS, drawn_motion
from support.robots.small_robots import mixed
from support.twins.pinocchio_peer import pin

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.laws.adaptation import (
    Adaptation,
    tip_row,
)
from robot_dynamics_ros.control.laws.adaptive import AdaptiveControl, AdaptiveHold
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import named_urdf

SECOND = 1_000_000_000
MOTION = drawn_motion()
NO_NOISE = 0.0, 0.0
URDF = named_urdf('aubo_i5').read_text(encoding='utf-8')
LAMBDA = GAINS.stiffness / GAINS.damping
GRAVITY = GravityRamp(tuple(ROBOT.gravity), tuple(ROBOT.gravity))


def drawn(seed, n=6):
    """Return a measured state (q, qd) and a desired one (q, qd, qdd)."""
    numbers = np.random.default_rng(seed).uniform(-2.0, 2.0, (5, n))
    return numbers[:2], tuple(numbers[2:])


def reference(state, desired, rate):
    """Return qd_r, qdd_r and s."""
    (q, qd), (q_d, qd_d, qdd_d) = state, desired
    qd_r = qd_d + rate * (q_d - q)
    return qd_r, qdd_d + rate * (qd_d - qd), qd_r - qd


def torque(robot, state, desired, parameters=None, stiffness=GAINS.stiffness, damping=GAINS.damping):
    """Return the torque of the law whose tip link has ``parameters``, by default those of the robot."""
    adaptation = Adaptation(robot, stiffness, damping, SETTINGS, np.full(robot.nv, np.inf))
    law, out = AdaptiveControl(robot, damping, adaptation), np.empty(robot.nv)
    adaptation.estimate.parameters[:] = tip_row(robot) if parameters is None else parameters
    law.torque(*state, desired, None, out)
    return out


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('make', [lambda: ROBOT, lambda: ROBOT.with_gravity((3.0, -2.0, 8.0)), mixed])
def test_the_torque_is_that_of_the_reference_motion(make, seed):
    robot = make()
    state, desired = drawn(seed, robot.nv)
    Kp, Kd = np.linspace(30.0, 90.0, robot.nv), np.linspace(4.0, 7.0, robot.nv)
    qd_r, qdd_r, s = reference(state, desired, Kp / Kd)
    q, qd = state
    wanted = robot.mass_matrix(q) @ qdd_r + robot.coriolis_matrix(q, qd) @ qd_r + robot.gravity_torque(q) + Kd * s
    wanted += robot.friction_torque(desired[1])
    assert torque(robot, state, desired, None, Kp, Kd) == pytest.approx(wanted, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize('seed', range(3))
def test_the_estimate_stands_for_the_tip_link_as_a_payload_of_the_robot_does(seed):
    state, desired = drawn(seed)
    carrying = ROBOT.with_payload(PAYLOAD)
    found = torque(ROBOT, state, desired, tip_row(carrying))
    assert found == pytest.approx(torque(carrying, state, desired), rel=1e-11, abs=1e-10)
    assert np.abs(found - torque(ROBOT, state, desired)).max() > 1.0


@pytest.mark.parametrize('seed', range(3))
def test_pinocchio_has_the_same_torque_of_the_reference_motion(seed):
    """Its C is half the derivative of the Coriolis torques by the velocities, which is the Christoffel one."""
    state, desired = drawn(seed)
    qd_r, qdd_r, s = reference(state, desired, LAMBDA)
    q, qd = state
    model = pin.buildModelFromXML(URDF)
    model.armature = np.array(ROBOT.rotor_inertia)
    data = model.createData()
    pin.computeRNEADerivatives(model, data, q, qd, np.zeros(6))
    C = 0.5 * data.dtau_dv
    wanted = pin.rnea(model, data, q, np.zeros(6), qdd_r) + C @ qd_r
    wanted += GAINS.damping * s + ROBOT.friction_torque(desired[1])
    assert torque(ROBOT, state, desired) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_the_torque_of_joints_that_turn_endlessly_is_that_of_the_nearest_turn():
    robot = Robot.from_urdf(URDF.replace('type="revolute"', 'type="continuous"'))
    state, desired = drawn(4)
    turned = (desired[0] + 2.0 * np.pi * np.array([1, 0, -2, 0, 3, 1]), *desired[1:])
    near = (state[0] + 0.1, *desired[1:])
    far = (near[0] + 2.0 * np.pi * np.array([1, 0, -2, 0, 3, 1]), *desired[1:])
    assert torque(robot, state, far) == pytest.approx(torque(robot, state, near), rel=1e-9)
    assert torque(robot, state, turned) == pytest.approx(torque(robot, state, desired), rel=1e-9)


def test_the_hold_is_the_law_with_a_reference_at_rest():
    adaptation = Adaptation(ROBOT, GAINS.stiffness, GAINS.damping, SETTINGS, ROBOT.limits.effort)
    state, (q_hold, *_) = drawn(5)
    adaptation.estimate.parameters[:] = tip_row(ROBOT.with_payload(PAYLOAD))
    adaptation.friction[:3] += np.arange(18.0).reshape(3, 6)
    hold, zeros, (found, still) = AdaptiveHold(ROBOT, GAINS.damping, adaptation), np.zeros(6), np.empty((2, 6))
    hold.torque(*state, q_hold, found)
    qd_r, qdd_r, s = reference(state, (q_hold, zeros, zeros), LAMBDA)
    carrying = ROBOT.with_payload(PAYLOAD)
    wanted = carrying.mass_matrix(state[0]) @ qdd_r + carrying.coriolis_matrix(*state) @ qd_r + GAINS.damping * s
    # of friction the offset: with the gravity torque of the estimate it balances the arm
    balance = carrying.gravity_torque(state[0]) + ROBOT.friction.offset + np.arange(12.0, 18.0)
    assert found == pytest.approx(wanted + balance, rel=1e-12, abs=1e-10)
    hold.torque(state[0], zeros, state[0], still)
    assert still == pytest.approx(balance, rel=1e-12, abs=1e-10)
    assert adaptation._laws == 0  # and nothing is adapted


def test_errors_within_the_dead_zone_and_of_joints_whose_reference_stands_still_count_for_nothing():
    adaptation = Adaptation(ROBOT, GAINS.stiffness, GAINS.damping, SETTINGS, ROBOT.limits.effort)
    law, out = AdaptiveControl(ROBOT, GAINS.damping, adaptation), np.empty(6)
    q, zeros = np.zeros(6), np.zeros(6)
    qd_d = np.array([0.019, 0.021, -0.021, -0.019, 0.3, 0.3])
    qd = qd_d - [0.01, 0.01, -0.01, 0.01, 0.0019, -0.0019]
    law.torque(q, qd, (q, qd_d, zeros), None, out)
    assert law.error == pytest.approx([0.0, 0.008, -0.008, 0.0, 0.0, 0.0], abs=1e-12)
    # an arm that is far from its trajectory is not told from one with a large payload
    law.torque(q, qd_d, (np.array([0.0, 0.4, -0.4, 0.0, 0.01, 0.0]), qd_d, zeros), None, out)
    rate = adaptation.rate
    assert law.error == pytest.approx(
        [0.0, 0.05 * rate[1], -0.05 * rate[2], 0.0, 0.01 * rate[4] - 0.002, 0.0], abs=1e-12
    )


@pytest.mark.parametrize(
    ('changed', 'reason'),
    [
        ({'terms': ('coriolis', 'inertia', 'friction')}, 'control law adaptive: the robot compensates gravity itself'),
        ({'terms': ('gravity',)}, 'friction_adaptation_rate: the robot compensates friction itself'),
        ({'settings': SETTINGS._replace(payload_limit=0.0)}, 'adaptation_payload_limit: control law adaptive needs'),
        ({'damping': [1.0, 1.0, 0.0, 1.0, 1.0, 1.0]}, "damping: joint 'foreArm_joint': control law adaptive needs"),
        ({'damping': [1.0]}, 'damping: expected 6 numbers'),
    ],
    ids=['gravity', 'friction', 'limit', 'damping', 'length'],
)
def test_what_adaptation_cannot_do_is_refused_by_name(changed, reason):
    given = {'stiffness': GAINS.stiffness, 'damping': GAINS.damping, 'settings': SETTINGS, **changed}
    with pytest.raises(ArgumentError, match=f'^{reason}'):
        Adaptation(ROBOT, effort_limit=ROBOT.limits.effort, **given)


def test_calls_are_prepared_with_the_law(monkeypatch):
    """The first torque takes no longer than others."""
    robot, (state, desired), out = ROBOT.with_gravity((0.0, 1.0, -9.0)), drawn(3), np.empty(6)
    adaptation = Adaptation(robot, GAINS.stiffness, GAINS.damping, SETTINGS, robot.limits.effort)
    law = AdaptiveControl(robot, GAINS.damping, adaptation)
    looked_up = recorded(monkeypatch)
    law.torque(*state, desired, None, out)
    assert looked_up == []
