"""Motors of the MIT type: the sag that a user of an OpenArm reported, its end, and hand guiding."""

import re
from pathlib import Path

from support.robots import openarm_type
from support.robots.openarm_type import (
    COMMANDED,
    DAMPING,
    HEAVIER,
    REACHED,
    REPORTED_DAMPING,
    REPORTED_STIFFNESS,
    STIFFNESS,
)

import numpy as np
import pinocchio as pin
import pytest

from robot_dynamics_ros.control.guards.fade_in import FadeIn
from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.control.laws.hand_guiding import HandGuidingLaw
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.simulation.plant.motor_pd import MotorPd
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm

ROBOT, CORRECTED = openarm_type.robot(), openarm_type.robot(HEAVIER)
REST = np.zeros(7)
NO_HAND = np.zeros(3)
PERIOD, STEPS = 0.01, 10
"""s and simulation steps: the controllers of an OpenArm run at 100 Hz."""
POSES = [
    np.array([0.8, 0.5, 0.3, 1.2, 0.2, 0.1, -0.3]),
    np.array([1.5, 0.2, -0.5, 0.6, 0.5, -0.3, 0.8]),
    np.array([2.5, 0.3, 0.6, 0.4, -1.0, 0.4, -1.0]),
]
ELBOW = 3
HAND = 5.0
"""Force of a hand at the tip, N."""
FORCES = [HAND * sign * axis for axis in np.eye(3) for sign in (1.0, -1.0)]


def motors(stiffness=STIFFNESS, damping=DAMPING) -> MotorPd:
    return MotorPd(*(np.broadcast_to(np.array(gain, float), 7).copy() for gain in (stiffness, damping)))


def plant(pd, start=REST, mass_error=0.0, friction_error=0.0) -> MujocoArm:
    arm = MujocoArm(ROBOT, PERIOD / STEPS, start, mass_error, friction_error, pd)
    arm.brakes = False
    return arm


def position_at_rest(arm, goal, model=None, duration=4.0):
    """Return where the arm comes to rest with its position command moved to ``goal`` and the torques of ``model``."""
    start = arm.position_command.copy()
    count = round(duration / PERIOD)
    for k in range(count):
        arm.position_command[:] = start + min(1.0, 2.0 * k / count) * (goal - start)
        arm.torque[:] = 0.0 if model is None else model.gravity_torque(arm.position)
        arm.step(STEPS)
    assert abs(arm.velocity).max() < 0.01
    return arm.position


def lifted(degrees):
    goal = np.zeros(7)
    goal[0] = np.deg2rad(degrees)
    return goal


def sag(pd, model=None):
    """Return joint 1 at rest and the largest error of all joints, degrees, for each commanded angle."""
    arm = plant(pd, mass_error=HEAVIER)
    found = [(position_at_rest(arm, lifted(goal), model), lifted(goal)) for goal in COMMANDED]
    return np.rad2deg([q[0] for q, _ in found]), np.rad2deg([abs(q - goal).max() for q, goal in found])


# the motor


def test_gravity_lifts_joint_1_of_the_description_by_10_8_newton_metres():
    torque = [ROBOT.gravity_torque(lifted(angle))[0] for angle in (90.0, 30.0)]
    assert torque == pytest.approx([10.8, 10.8 * np.sin(np.deg2rad(30.0))], abs=0.1)


def test_a_motor_adds_its_pd_to_the_torque():
    """From rest and moving, over one short step, against forward dynamics with the PD among the torques."""
    pd, torque = motors(), np.array([3.0, -2.0, 1.0, 2.0, 0.3, -0.2, 0.1])
    arm = MujocoArm(ROBOT, 1e-6, POSES[0], friction_error=-1.0, motors=pd)
    arm.brakes = False
    arm.position_command[:], arm.torque[:] = POSES[0] + 0.1, torque
    for _ in range(2):
        q, qd = arm.position, arm.velocity
        expected = torque + pd.stiffness * (arm.position_command - q) - pd.damping * qd
        np.testing.assert_allclose(arm.motor_torque, expected, rtol=0, atol=1e-12)
        arm.step()
        wanted = ROBOT.forward_dynamics(q, qd, expected)
        # the damping of the wrist, 0.5 N m s/rad on 1 g m^2, changes the torque by a thousandth in a step
        assert (arm.velocity - qd) / arm.period == pytest.approx(wanted, abs=2e-3 * abs(wanted).max())
        arm.step(20_000)
        assert abs(arm.velocity).max() > 0.05


def test_behind_closed_brakes_motors_hold_the_arm_where_it_stands():
    arm = plant(motors(), POSES[0])
    arm.position_command[:], arm.torque[:] = 0.0, 5.0
    arm.step(50)
    arm.close_brakes()
    arm.step(1)
    stands = arm.position
    assert abs(stands - POSES[0]).max() > 0.01
    assert arm.position_command.tolist() == stands.tolist() and not arm.torque.any()
    arm.reset()
    assert arm.position_command.tolist() == POSES[0].tolist()


# the sag


def test_an_arm_that_is_heavier_than_its_description_sags_as_reported():
    reached, _ = sag(motors(REPORTED_STIFFNESS, REPORTED_DAMPING))
    # of 0.2 to 1.5 degrees; the description's masses leave up to 5.6
    np.testing.assert_allclose(reached, REACHED, rtol=0, atol=1.6)


def test_the_sag_is_the_equilibrium_of_stiffness_and_gravity():
    pd = motors(REPORTED_STIFFNESS, REPORTED_DAMPING)
    arm = plant(pd, mass_error=HEAVIER)
    q = position_at_rest(arm, lifted(60.0))
    pd_torque = REPORTED_STIFFNESS * (lifted(60.0) - q)
    error, friction = pd_torque - CORRECTED.gravity_torque(q), ROBOT.friction.coulomb
    free = np.arange(7) != ELBOW  # gravity presses the elbow against its limit
    assert (abs(error) < 1.05 * friction)[free].all()
    assert abs(pd_torque[0] - ROBOT.gravity_torque(q)[0]) > 1.5


@pytest.mark.compiled
def test_gravity_torques_end_the_sag_as_far_as_the_masses_are_right():
    pd = motors()
    before, described, corrected = (sag(pd, model)[1] for model in (None, ROBOT, CORRECTED))
    assert (before > 4.0).all() and before[-1] > 10.0
    assert (described < 0.3 * before).all() and described[-1] > 2.0
    assert (corrected < 0.5).all()


@pytest.mark.compiled
def test_the_page_has_these_figures():
    page = Path(__file__).parents[3].joinpath('doc', 'how_to', 'arms', 'openarm.md').read_text(encoding='utf-8')
    rows = re.findall(r'^\| (\d+) \|(.+)\|$', page, re.MULTILINE)
    told = np.array([[goal, *figures.split('|')] for goal, figures in rows], float).T
    simulated = sag(motors(REPORTED_STIFFNESS, REPORTED_DAMPING))[0]
    errors = [sag(motors(), model)[1] for model in (None, ROBOT, CORRECTED)]
    assert told[:2].tolist() == [list(COMMANDED), list(REACHED)]
    np.testing.assert_allclose(told[2:], [simulated, *errors], rtol=0, atol=0.2)


@pytest.mark.parametrize('error', [0.0, HEAVIER])
def test_gravity_torques_are_those_of_pinocchio(error):
    robot = openarm_type.robot(error)
    model = pin.buildModelFromXML(openarm_type.urdf(error))
    model.gravity.linear = np.array(openarm_type.MOUNTED)
    assert tuple(model.names)[1:] == robot.joint_names
    data = model.createData()
    for q in (*POSES, *(lifted(angle) for angle in COMMANDED)):
        expected = pin.computeGeneralizedGravity(model, data, q)
        np.testing.assert_allclose(robot.gravity_torque(q), expected, rtol=0, atol=1e-12 * abs(expected).max())


# hand guiding


class Guided:
    """An arm under gravity torques and position commands of hand guiding, which act one period late."""

    def __init__(self, start, dead_band=0.005, fade_in_time=0.0, **errors):
        self.arm = plant(motors(), start, **errors)
        gravity = GravityRamp(openarm_type.MOUNTED, openarm_type.MOUNTED)
        blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(PayloadRamp({}), gravity))
        self.law = HandGuidingLaw(blender, ROBOT, np.full(7, dead_band), np.full(7, 2.0))
        self._fade_in = FadeIn(7, fade_in_time)
        self._fade_in.restart(np.zeros(7))
        self._state, self._torque = MeasuredState(np.zeros(7), np.zeros(7)), np.zeros(7)
        self._state.elapsed = PERIOD
        self._sent = np.zeros(7) if fade_in_time else ROBOT.gravity_torque(start), start.copy()

    def move(self, duration, force=NO_HAND):
        """Return the positions (n, 7) under a hand's ``force`` (N) at the tip."""
        found = []
        for _ in range(round(duration / PERIOD)):
            arm, (torque, command) = self.arm, self._sent
            self._state.q[:] = arm.position
            self.law.torque(self._state, self._torque)
            self._fade_in.apply(self._torque, PERIOD)
            if self.law.follow(self._torque):
                command = self.law.position_command.copy()
            arm.torque[:] = torque + ROBOT.jacobian(arm.position, 'tip')[3:].T @ force
            arm.position_command[:] = self._sent[1]
            self._sent = self._torque.copy(), command
            arm.step(STEPS)
            found.append(arm.position)
        return np.array(found)


def tip(q):
    return ROBOT.link_pose(q, 'tip')[:3, 3]


@pytest.mark.compiled
@pytest.mark.parametrize(('mass_error', 'friction_error'), [(0.0, 0.0), (0.0, -1.0), (0.03, 0.0), (0.03, -1.0)])
def test_without_a_hand_the_arm_stays(mass_error, friction_error):
    """A fifth of the degree a minute that is allowed, also where masses are 3 % wrong and with no friction at all."""
    guided = Guided(POSES[0], mass_error=mass_error, friction_error=friction_error)
    settled = guided.move(2.0)[-1]
    assert abs(settled - POSES[0]).max() < np.deg2rad(1.0)
    assert abs(guided.move(60.0)[-1] - settled).max() < np.deg2rad(0.2)


@pytest.mark.compiled
def test_without_a_dead_band_it_drifts_where_masses_are_wrong():
    guided = Guided(POSES[0], dead_band=0.0, mass_error=0.03)
    assert abs(guided.move(4.0)[-1] - POSES[0]).max() > np.deg2rad(1.0)


def test_an_arm_much_heavier_than_its_description_sinks_under_hand_guiding():
    """Before hand guiding the masses have to be right: the page warns of 19 degrees in the first second."""
    motion = Guided(POSES[0], mass_error=HEAVIER).move(1.0)
    assert np.rad2deg(motion[0, 0] - motion[-1, 0]) == pytest.approx(19.0, abs=2.0)


@pytest.mark.compiled
@pytest.mark.parametrize('start', POSES, ids=lambda start: f'{start[0]}')
def test_five_newton_at_the_tip_move_the_arm_and_it_stays_there(start):
    for force in FORCES:
        guided = Guided(start)
        pushed = guided.move(1.0, force)[-1]
        assert (tip(pushed) - tip(start)) @ force / HAND > 0.03  # m
        left = guided.move(2.0)[-1]
        assert np.linalg.norm(tip(left) - tip(start)) > 0.06
        assert abs(guided.move(2.0)[-1] - left).max() < np.deg2rad(1.0) / 30.0


@pytest.mark.compiled
def test_a_position_command_that_stays_holds_the_arm_against_the_hand():
    for force in FORCES:
        guided = Guided(POSES[0])
        guided.law.follow = lambda torque: False
        pushed = guided.move(1.0, force)[-1]
        assert abs((tip(pushed) - tip(POSES[0])) @ force) / HAND < 0.05
        assert np.linalg.norm(tip(guided.move(2.0)[-1]) - tip(POSES[0])) < 0.005


@pytest.mark.compiled
def test_while_the_torque_fades_in_the_stiffness_of_the_motors_holds_the_arm():
    """The arm that sags under its position command rises to it, never falls, and is guided from there on."""
    arm = plant(motors())
    sagged = position_at_rest(arm, POSES[0])
    guided = Guided(POSES[0], fade_in_time=1.0)
    guided.arm = arm
    began = sagged[0]
    motion = guided.move(0.99)
    assert not guided.law.follows
    lowest = motion[:, 0].min()
    assert lowest > began - np.deg2rad(0.1)
    assert motion[-1, 0] - began > np.deg2rad(3.0)
    guided.move(1.0)
    assert guided.law.follows
    assert abs(guided.arm.position - POSES[0]).max() < np.deg2rad(1.0)
