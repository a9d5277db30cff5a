"""Every preset against a plant that adds what its maker's page says: gravity and friction once, and never twice.

The plant is made of the makers' statements below, not of the table of presets, and its gravity is Pinocchio's.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.laws.joint_space_control import LAWS, Hold, JointSpaceControl
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.control.terms.compensation_policy import OWNERS, PRESETS, CompensationPolicy
from robot_dynamics_ros.control.terms.feedforward_terms import TorqueTerms, mismatch
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import share_folder

pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')


class Plant(NamedTuple):
    """What a robot's own controller adds to a commanded torque."""

    adds: tuple[str, ...]
    source: str


PLANTS = {
    'sim': Plant((), 'MuJoCo, XML reference, actuator/motor: the control is the force on the joint'),
    'effort_controller': Plant((), 'ros2_controllers 6.9.0, forward_controllers_base.cpp, update: set_value(command)'),
    'motor_pd': Plant(('pd',), 'openarm_ros2 at 73ef898, v10_simple_hardware.cpp: kp, kd, q, qd, torque to each motor'),
    'franka': Plant(('gravity', 'friction'), 'libfranka 0.21.2, control_types.h: "without gravity and friction"'),
    'ur_direct_torque': Plant(
        ('gravity', 'friction'), 'script manual SW 5.25.1, direct_torque: always gravity; scales'
    ),
    'kuka_fri': Plant(('gravity', 'friction'), 'kuka_drivers 2.0.0, Home.md: superimposed over gravity compensation'),
    'monitor_only': Plant((), 'AUBO i5, ROS 2 driver: takes positions; torques are compared with measured ones'),
}
"""By preset. Friction is the whole of the model: what a robot leaves of it nobody adds."""
GAZEBO = Plant(('gravity',), 'franka_ros2 2.5.0, gazebo_gravity_compensation_system.cpp, write: += gravity torque')

BARE = Robot.named('aubo_i5')
GRAVITY = (1.0, -3.0, -9.0)
MASS, COM = 2.0, np.array([0.0, 0.05, 0.1])
ROBOT = BARE.with_payload(Payload(MASS, COM)).with_gravity(GRAVITY)
Q, QD, QDD = np.random.default_rng(5).uniform(-1.5, 1.5, (3, 6))
STILL = np.zeros(6)
STIFFNESS, DAMPING = np.full(6, 50.0), np.full(6, 5.0)
BANDWIDTH = 10.0
MOTOR_STIFFNESS = np.array([70.0, 70.0, 70.0, 60.0, 10.0, 10.0])
"""N m/rad, of the first joints of an OpenArm."""


def with_pinocchio():
    """Gravity torque and inverse dynamics of the arm, its rotors, payload and gravity, by Pinocchio (6 each)."""
    model = pin.buildModelFromUrdf(str(share_folder() / 'urdf' / 'aubo_i5.urdf'))
    model.gravity.linear = np.array(GRAVITY)
    model.inertias[6] += pin.Inertia(MASS, COM, np.zeros((3, 3)))
    data = model.createData()
    assert tuple(model.names)[1:] == BARE.joint_names
    gravity = pin.computeGeneralizedGravity(model, data, Q).copy()
    return gravity, pin.rnea(model, data, Q, QD, QDD) + BARE.rotor_inertia * QDD


PIN_GRAVITY, PIN_MOTION = with_pinocchio()


def friction(qd):
    """CONVENTIONS.md, number 33, without load-dependent friction, of which the arm's file has none (6)."""
    of = BARE.friction
    level = of.coulomb + of.stribeck / (1.0 + (qd / of.stribeck_velocity) ** 2)
    return of.viscous * qd + level * qd / np.hypot(qd, of.transition) + of.offset


def on_the_joint(plant, command, qd, position_command=Q):
    """The torque on the joints at Q under a command, with what the robot's own controller adds (6).

    Velocity commands of motors with a PD are those of the motion.
    """
    added = {'gravity': PIN_GRAVITY, 'friction': friction(qd), 'pd': MOTOR_STIFFNESS * (position_command - Q)}
    return command + sum(added[term] for term in plant.adds)


def assert_equal(torque, expected):
    """Equal up to rounding: 1e-11 of the largest of some 60 N m, a hundred times what is seen."""
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-11 * np.abs(PIN_GRAVITY).max())


def policy(preset, owner=''):
    """The policy of a node with all terms that are its own."""
    return CompensationPolicy(preset, owner, [''])


def torque_of(law, *inputs):
    """The torque of a law at its inputs, (6)."""
    out = np.full(6, np.nan)
    law.torque(*inputs, out=out)
    return out


def controlled(preset, law, qd, desired):
    """The command of torque_controller at Q, with the feedforward torque of feedforward_node (6)."""
    terms = policy(preset).terms
    control = JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, BANDWIDTH, terms)
    feedforward = torque_of(Compensation(ROBOT, terms), *desired)
    return torque_of(control, Q, qd, desired, feedforward)


def gravity_command(preset):
    """The command of gravity_compensation_node (6); it does not configure where gravity is the robot's."""
    return torque_of(GravityTorque(ROBOT), Q) if 'gravity' in policy(preset).terms else STILL


def test_every_preset_has_a_plant_with_a_source():
    assert set(PLANTS) == set(PRESETS)
    assert all(plant.source for plant in PLANTS.values())


def test_the_outside_gravity_counts():
    assert_equal(ROBOT.gravity_torque(Q), PIN_GRAVITY)
    assert np.abs(PIN_GRAVITY).max() > 20.0 and np.abs(friction(QD)).min() > 1.0
    assert_equal(ROBOT.friction_torque(QD), friction(QD))


@pytest.mark.parametrize('preset', PLANTS)
def test_an_arm_at_rest_gets_gravity_once(preset):
    """Friction at rest is its constant offset: at most once, whoever adds it."""
    plant = PLANTS[preset]
    offset = friction(STILL)
    without_friction = Plant(tuple(term for term in plant.adds if term != 'friction'), plant.source)
    assert_equal(on_the_joint(without_friction, gravity_command(preset), STILL), PIN_GRAVITY)
    hold = torque_of(Hold(ROBOT, STIFFNESS, DAMPING, policy(preset).terms), Q, STILL, Q)
    assert_equal(on_the_joint(without_friction, hold, STILL), PIN_GRAVITY)
    feedforward = torque_of(Compensation(ROBOT, policy(preset).terms), Q, STILL, STILL)
    assert_equal(on_the_joint(plant, feedforward, STILL), PIN_GRAVITY + offset)


@pytest.mark.parametrize('preset', PLANTS)
def test_a_motion_gets_each_term_once(preset):
    command = torque_of(Compensation(ROBOT, policy(preset).terms), Q, QD, QDD)
    total = on_the_joint(PLANTS[preset], command, QD)
    assert_equal(total, PIN_MOTION + friction(QD))
    assert_equal(total, ROBOT.inverse_dynamics(Q, QD, QDD) + ROBOT.friction_torque(QD))


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('preset', PLANTS)
def test_each_law_on_its_plant(preset, law):
    """Along the desired motion, so that feedback is zero; pd has no gravity by its definition."""
    plant, desired = PLANTS[preset], (Q, QD, QDD)
    if law == 'pd_gravity' and 'gravity' in plant.adds:
        with pytest.raises(ArgumentError, match='gravity would be added twice'):
            controlled(preset, law, QD, desired)
        return
    total = on_the_joint(plant, controlled(preset, law, QD, desired), QD)
    whole, of_plant = PIN_MOTION + friction(QD), on_the_joint(plant, STILL, QD)
    expected = {'pd': of_plant, 'pd_gravity': PIN_GRAVITY, 'pd_feedforward': whole, 'computed_torque': whole}
    assert_equal(total, expected[law])


@pytest.mark.parametrize('preset', PLANTS)
def test_what_contradicts_the_plant_is_refused(preset):
    plant = PLANTS[preset]
    for owner in OWNERS:
        if (owner == 'robot') != ('gravity' in plant.adds):
            with pytest.raises(ArgumentError, match=f'gravity_owner {owner} contradicts preset {preset}'):
                policy(preset, owner)
        else:
            assert policy(preset, owner).terms == policy(preset).terms
    for term in set(plant.adds) & set(TERMS):
        for wanted in ([term], list(TERMS), [term, 'inertia']):
            with pytest.raises(ArgumentError, match=f'{term} would be added twice|gravity would be added twice'):
                CompensationPolicy(preset, '', wanted)


@pytest.mark.parametrize(('produced', 'consumed'), list(product(PLANTS, PLANTS)))
def test_a_feedforward_torque_of_another_preset_is_refused_or_right(produced, consumed):
    """Two nodes with different presets: pd_feedforward adds the torque where no term counts twice or is missing."""

    def terms(preset):
        chosen = policy(preset)
        return TorqueTerms(ROBOT.joint_names, chosen.terms, chosen.gravity_owner, 'digest', GRAVITY, ())

    refused = mismatch(terms(produced), terms(consumed))
    command = torque_of(Compensation(ROBOT, policy(produced).terms), Q, QD, QDD)
    total = on_the_joint(PLANTS[consumed], command, QD)
    is_right = np.abs(total - PIN_MOTION - friction(QD)).max() < 1e-9
    assert bool(refused) != is_right, refused


def test_the_simulated_franka_needs_the_robots_preset():
    """From franka_ros2 2.4.0 on it adds gravity as the robot does; friction stays the nodes' only without a preset."""
    hold = torque_of(Hold(ROBOT, STIFFNESS, DAMPING, policy('franka').terms), Q, STILL, Q)
    assert_equal(on_the_joint(GAZEBO, hold, STILL), PIN_GRAVITY)
    assert_equal(on_the_joint(GAZEBO, gravity_command('sim'), STILL), 2.0 * PIN_GRAVITY)
    by_owner = CompensationPolicy('', 'robot', [''])
    command = torque_of(Compensation(ROBOT, by_owner.terms), Q, QD, QDD)
    assert_equal(on_the_joint(GAZEBO, command, QD), PIN_MOTION + friction(QD))


def test_motors_with_a_pd_hold_an_arm_at_their_position_command_with_gravity_and_sag_without():
    """At rest the torque on a joint is gravity: their PD is zero, or carries it by the sag g / kp."""
    plant, sag = PLANTS['motor_pd'], PIN_GRAVITY / MOTOR_STIFFNESS
    assert_equal(on_the_joint(plant, gravity_command('motor_pd'), STILL, Q), PIN_GRAVITY)
    assert_equal(on_the_joint(plant, STILL, STILL, Q + sag), PIN_GRAVITY)
    assert np.degrees(np.abs(sag)).max() > 10.0
    assert_equal(on_the_joint(plant, gravity_command('motor_pd'), STILL, Q + sag), 2.0 * PIN_GRAVITY)


def test_a_wrong_preset_on_any_plant_doubles_or_misses_gravity_and_shows():
    """The comparison can fail: on every other kind of plant the torque is off by gravity."""
    for preset, other in product(PLANTS, PLANTS):
        gravity = on_the_joint(PLANTS[other], gravity_command(preset), STILL) - (
            friction(STILL) if 'friction' in PLANTS[other].adds else 0.0
        )
        times = gravity[1] / PIN_GRAVITY[1]
        adds = ('gravity' in PLANTS[preset].adds, 'gravity' in PLANTS[other].adds)
        assert times == pytest.approx({(False, False): 1, (True, True): 1, (False, True): 2, (True, False): 0}[adds])
