"""The sentences of CONVENTIONS.md on joints of several velocities, frames, bases that move, and motors."""

from dataclasses import replace

from support.robots import random_trees as trees
from support.robots.small_robots import AUBO, general, joint, link, one, robot

import mpmath
import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.terms.dynamics_query import DynamicsQuery
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.validation import REFERENCE_FRAMES as FRAMES


def test_23_coordinates_of_joints_of_several_degrees_of_freedom():
    """On a joint that is turned by a quarter about x against its parent: its z is the parent's -y."""
    cylinder, plane, flyer = (general(kind, turned=True) for kind in ('cylindrical', 'planar', 'free'))
    about_z = [[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]  # R_x R_z, a quarter each
    assert cylinder.link_pose([np.pi / 2, 0.5], 'arm')[:3] == pytest.approx(np.c_[about_z, [0.0, -0.5, 0.0]])
    assert plane.link_pose([0.1, 0.2, np.pi / 2], 'arm')[:3] == pytest.approx(np.c_[about_z, [0.1, 0.0, 0.2]])
    half = np.sqrt(0.5)
    pose = flyer.link_pose([0.1, 0.2, 0.3, 0.0, 0.0, half, half], 'arm')
    assert pose[:3] == pytest.approx(np.c_[about_z, [0.1, -0.3, 0.2]])


def test_24_velocities_in_the_links_frame():
    flyer, plane = general('free'), general('planar')
    half = np.sqrt(0.5)
    q = [0.0, 0.0, 0.0, 0.0, 0.0, half, half]  # a quarter about z
    v = flyer.link_velocity(q, [1.0, 0.0, 0.0, 0.0, 0.0, 2.0], 'arm', 'local')
    assert v == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    seen = flyer.link_velocity(q, [1.0, 0.0, 0.0, 3.0, 0.0, 0.0], 'arm', 'local_world_aligned')
    assert seen == pytest.approx([0.0, 1.0, 0.0, 0.0, 3.0, 0.0])
    assert flyer.integrate(q, [0.0, 0.0, 0.0, 3.0, 0.0, 0.0]) == pytest.approx([0.0, 3.0, 0.0, *q[3:]])
    assert plane.integrate([0.0, 0.0, np.pi / 2], [3.0, 0.0, 0.0]) == pytest.approx([0.0, 3.0, np.pi / 2])


def test_25_in_which_frame_velocities_are():
    lever = one(origin='1 0 0')
    q, qd = [np.pi / 2], [2.0]  # arm along the base's y, turning about the point (1, 0, 0)
    seen = {frame: lever.link_velocity(q, qd, 'arm', frame) for frame in FRAMES}
    assert seen['local_world_aligned'] == pytest.approx([0, 0, 2, 0, 0, 0])
    assert seen['world'] == pytest.approx([0, 0, 2, 0, -2, 0])  # of the point at the base's origin: w x (-1, 0, 0)
    tip = robot(link('base'), link('arm', 1.0), link('tip'), joint('a', 'base', 'arm'),
                joint('end', 'arm', 'tip', 'fixed', origin='0.5 0 0', rpy='0 0 1.5707963267948966'))  # fmt: skip
    assert tip.link_velocity(q, qd, 'tip', 'local_world_aligned') == pytest.approx([0, 0, 2, -1, 0, 0])
    assert tip.link_velocity(q, qd, 'tip', 'local') == pytest.approx([0, 0, 2, 1, 0, 0])  # its x is the base's -x
    assert tip.jacobian(q, 'tip', 'world')[:, 0] == pytest.approx([0, 0, 1, 0, 0, 0])
    assert tip.jacobian(q, 'tip')[:, 0] == pytest.approx([0, 0, 1, -0.5, 0, 0])


def test_26_free_joints_of_mjcf():
    half = np.sqrt(0.5)
    buoy = '<body name="arm" pos="1 2 3" euler="0 0 90"><freejoint name="a"/><geom size="0.1"/></body>'
    robot, plant = (read(f'<mujoco><worldbody>{buoy}</worldbody></mujoco>') for read in (Robot.from_mjcf, compiled))
    assert plant.qpos0 == pytest.approx([1, 2, 3, half, 0, 0, half])
    q = [1.0, 2.0, 3.0, 0.0, 0.0, half, half]
    assert robot.link_pose(q, 'arm')[:3] == pytest.approx(np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3]]))
    assert robot.link_pose(robot.neutral(), 'arm').tolist() == np.eye(4).tolist()
    data = mujoco.MjData(plant)
    data.qvel[:] = [0, 3, 0, 1, 0, 0]  # along the base's y, turning about the link's x, which is that y
    mujoco.mj_forward(plant, data)
    v = robot.link_velocity(q, [1, 0, 0, 3, 0, 0], 'arm', 'local_world_aligned')
    assert v == pytest.approx([0, 1, 0, 0, 3, 0]) and v == pytest.approx(velocity_of(plant, data))


def compiled(text):
    return mujoco.MjModel.from_xml_string(text)


def velocity_of(plant, data):
    """Return the velocity of MuJoCo's first body: angular and linear, in the world's axes."""
    v = np.empty(6)
    mujoco.mj_objectVelocity(plant, data, mujoco.mjtObj.mjOBJ_XBODY, 1, v, 0)
    return v


def test_27_mimicking_joints_are_joints_of_their_own():
    leader = joint('a', 'base', 'arm', inside='')
    follower = joint('b', 'base', 'hand', inside='<mimic joint="a" multiplier="-2" offset="1"/>')
    both = robot(link('base'), link('arm', 2.0), link('hand', 1.0, '0.5 0 0'), leader, follower)
    assert both.joint_names == ('a', 'b')
    assert both.mass_matrix([0.0, 3.0]) == pytest.approx(np.diag([0.0, 0.25]))
    assert any("'b': it mimics 'a'" in str(finding) for finding in both.findings)


def test_28_what_the_robot_exerts_acts_on_the_link_the_other_way():
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 6))
    F = np.array([1.0, -2.0, 3.0, 40.0, 50.0, -60.0])
    free = AUBO.mass_matrix(q) @ qdd + AUBO.coriolis_torque(q, qd) + AUBO.gravity_torque(q)
    for frame in FRAMES:
        pushing = AUBO.inverse_dynamics(q, qd, qdd, {'ee_link': -F}, reference_frame=frame)
        assert pushing == pytest.approx(free + AUBO.jacobian(q, 'ee_link', frame).T @ F, abs=1e-10)


def test_29_motion_of_the_base():
    slide, hinge = one('prismatic', '1 0 0'), one()  # 2 kg 0.5 m along x
    rest = [0.0], [0.0], [0.0]
    spin = slide.inverse_dynamics([0.25], [0.0], [0.0], base_velocity=[0, 0, 3.0, 0, 7.0, 0])
    assert spin == pytest.approx([-2.0 * (0.5 + 0.25) * 3.0**2])  # towards the axis, whatever the linear velocity
    assert hinge.inverse_dynamics(*rest, base_acceleration=[0, 0, 4.0, 0, 0, 0]) == pytest.approx([0.8 * 4.0])
    wall = slide.with_gravity((-9.81, 0, 0))  # hung on the wall: its own x is up
    assert wall.inverse_dynamics(*rest, base_acceleration=[0, 0, 0, 4.0, 0, 0]) == pytest.approx([2.0 * (9.81 + 4.0)])
    fall = slide.forward_dynamics(*rest, base_acceleration=[0, 0, 0, 4.0, 0, 0])
    assert fall == pytest.approx([-4.0])  # left alone it stays where it was and the base goes from under it


def test_30_gear_ratios_count_motor_turns():
    motors = {'gear_ratio': {'a': 50.0}, 'motor_inertia': {'a': 4e-4}}
    for kind, inside in (('continuous', ''), ('prismatic', '<limit lower="-1" upper="1"/>')):
        bare = one(kind, inside=inside)
        driven = bare.with_actuators(motors)
        assert driven.actuators.gear_ratio.tolist() == [50.0]
        # a motor at 50 times the joint's speed has half of 4e-4 (50 qd)^2
        more = driven.kinetic_energy([0.0], [3.0]) - bare.kinetic_energy([0.0], [3.0])
        assert more == pytest.approx(0.5 * 4e-4 * (50.0 * 3.0) ** 2)
        assert driven.rotor_inertia == pytest.approx([1.0])


def test_31_rotors_turn_on_the_link_before_their_joint():
    """Two parallel axes: the second's rotor turns at qd_1 + 50 qd_2, or at qd_1 - 50 qd_2; 2 kg m^2 are in the arm."""
    arm, hand = (
        link('arm', 2.0, '0 0 0', (2.0, 0, 0, 2.0, 0, 2.0)),
        link('hand', 1.0, '0 0 0', (0.1, 0, 0, 0.1, 0, 0.1)),
    )
    bare = robot(link('base'), arm, hand, joint('a', 'base', 'arm'), joint('b', 'arm', 'hand', origin='0 0 1'))
    motors = {'gear_ratio': {'a': 50.0, 'b': 50.0}, 'motor_inertia': {'a': 0.0, 'b': 4e-4}}
    qd, body = np.array([0.5, 0.3]), 2.0 - 4e-4
    for direction in (1, -1):
        driven = bare.with_actuators({**motors, 'rotor_direction': {'a': 0, 'b': direction}})
        energy = (
            0.5 * body * qd[0] ** 2 + 0.5 * 0.1 * qd.sum() ** 2 + 0.5 * 4e-4 * (qd[0] + direction * 50 * qd[1]) ** 2
        )
        assert driven.rotor_spin == pytest.approx([0.0, direction * 50 * 4e-4])
        assert driven.kinetic_energy([0.2, 0.3], qd) == pytest.approx(energy)
        M = driven.mass_matrix([0.2, 0.3])
        more = M - bare.mass_matrix([0.2, 0.3])
        assert more == pytest.approx(np.array([[0.0, direction * 0.02], [direction * 0.02, 1.0]]))
        assert driven.inertia_torque([0.2, 0.3], [1.0, 2.0]) == pytest.approx(M @ [1.0, 2.0])
        assert driven.forward_dynamics([0.2, 0.3], [0.0, 0.0], M @ [1.0, 2.0]) == pytest.approx([1.0, 2.0])
    assert bare.with_actuators(motors).rotor_spin.tolist() == [0.0, 0.0]


def test_32_torque_constants_are_at_the_joint():
    assert AUBO.motor_current(AUBO.actuators.torque_constant) == pytest.approx(np.ones(6))
    driven = one().with_actuators({'torque_constant': {'a': 8.0}, 'gear_ratio': {'a': 100.0}})
    assert driven.torque_of_current([2.5]) == pytest.approx([20.0])
    assert driven.motor_current([20.0]) == pytest.approx([2.5])
    rough = one(inside='<dynamics damping="3" friction="2"/>').with_actuators({'torque_constant': {'a': 8.0}})
    assert rough.motor_current([20.0]) == pytest.approx([2.5])  # friction or not


def test_33_friction_by_its_equation():
    figures = {'friction_offset': 0.5, 'friction_transition': 1e-4, 'friction_stribeck': 1.5,
               'friction_stribeck_velocity': 0.2, 'friction_load': 0.1, 'friction_quadratic': 0.8}  # fmt: skip
    rough = one(inside='<dynamics damping="3" friction="2"/>').with_actuators(
        {key: {'a': it} for key, it in figures.items()}
    )
    for direction in (1.0, -1.0):
        level = 2.0 + 0.1 * 7.0 + 1.5 / (1.0 + (0.6 / 0.2) ** 2)
        expected = direction * ((3.0 + 0.8 * 0.6) * 0.6 + level) + 0.5
        assert rough.friction_torque([direction * 0.6], [-7.0]) == pytest.approx([expected], abs=1e-6)
    assert rough.friction_torque([1e-9], [7.0]) == pytest.approx([0.5], abs=1e-3)  # no jump at rest
    two = robot(link('base'), link('arm', 2.0), link('hand', 1.0), joint('a', 'base', 'arm'), joint('b', 'arm', 'hand'))
    two = two.with_friction(viscous=[3.0, 5.0]).with_actuators({'motor_coupling': {'b': {'a': 0.5}}})
    assert two.friction_torque([2.0, 1.0]) == pytest.approx([3.0 * 2.0 + 0.5 * 5.0 * (1.0 + 0.5 * 2.0), 5.0 * 2.0])
    q, qd, qdd = [0.3], [0.6], [2.0]
    terms = DynamicsQuery(rough, [], positions=q, velocities=qd, accelerations=qdd).inverse_dynamics()
    assert terms['friction'][0] == pytest.approx(rough.friction_torque(qd, rough.inverse_dynamics(q, qd, qdd)))


@pytest.mark.parametrize(('angle', 'error'), [(1e5, 1.2e-16), (1e7, 1e-15), (1e10, 1e-12), (2.0**40, 1.2e-10)])
def test_34_angles_have_a_bound_and_sines_an_error(angle, error):
    turning = one(axis='0 0 1')
    for q in (np.nextafter(angle, 0.0), -0.999 * angle, 0.987654321 * angle):
        pose = turning.link_pose([q], 'arm')
        with mpmath.workprec(200):
            sine, cosine = (float(function(mpmath.mpf(q))) for function in (mpmath.sin, mpmath.cos))
        assert np.abs(pose[:2, 0] - [cosine, sine]).max() <= error
    with pytest.raises(
        ArgumentError, match=r"^q\[0\]: the angle -1.09951e\+12 rad of joint 'a' is not below 1.09951e\+12"
    ):
        turning.link_pose([-(2.0**40)], 'arm')


def test_35_springs_act_in_forward_dynamics_only():
    described = Joint('a', 'arm', 'base', 'prismatic', np.array([0.0, 0.0, 1.0]), np.eye(3), np.zeros(3),
                      ten_parameters(2.0, np.zeros(3), np.eye(3)), stiffness=50.0, rest=0.3)  # fmt: skip
    sprung, bare = (Robot(Model.of('r', 'base', [it])) for it in (described, replace(described, stiffness=0.0)))
    state = [0.1], [0.2]
    assert sprung.spring_torque(*state) == pytest.approx([50.0 * 0.2])
    assert sprung.forward_dynamics(*state, [7.0]) == pytest.approx([(7.0 + 10.0) / 2.0 - 9.81])
    for method, arguments in (
        ('inverse_dynamics', (*state, [1.0])),
        ('bias_torque', state),
        ('gravity_torque', [[0.1]]),
    ):
        assert getattr(sprung, method)(*arguments) == getattr(bare, method)(*arguments)
    for count in (12, 13):  # by factors of the mass matrix, and by propagation of forces
        joints = trees.random_joints(1, count=count, chain=1.0)
        with_springs = [replace(it, stiffness=50.0, rest=0.3) for it in joints]
        sprung, bare = (Robot(Model.of('r', trees.BASE, row)) for row in (with_springs, joints))
        q, qd, link = np.full(count, 0.1), np.full(count, 0.2), f'link_{count}'
        for method, arguments in (('operational_space_gravity', (q, link)), ('operational_space_bias', (q, qd, link))):
            assert (getattr(sprung, method)(*arguments) == getattr(bare, method)(*arguments)).all()
