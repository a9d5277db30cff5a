"""Wrenches, payload, gravity and actuators: robots with other properties, and external wrenches."""

from support.robots.facade_robots import (
    ACTUATORS,
    FORMS,
    JOINTS,
    MERGED,
    METHOD,
    METHODS,
    ROBOT,
    ROBOTS,
    TREE,
    assert_close,
    call,
    expected,
    robot_of,
    same_bits,
    states,
    twin,
    urdf_of,
)
from support.robots.small_robots import joint, link

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.validation import REFERENCE_FRAMES as FRAMES

# Wrenches


def jacobian(robot, q, link):
    """Return J (6, n) of a link by central differences of its pose: angular, then linear, in the link's own axes."""
    step = 1e-6
    rotation = robot.link_pose(q, link)[:3, :3]
    columns = []
    for unit in np.eye(robot.nq):
        rate = (robot.link_pose(q + step * unit, link) - robot.link_pose(q - step * unit, link)) / (2 * step)
        turn = rotation.T @ rate[:3, :3]
        columns.append([turn[2, 1], turn[0, 2], turn[1, 0], *(rotation.T @ rate[:3, 3])])
    return np.transpose(columns)


LINKS = {'aubo_i5': ('base_link', 'shoulder_Link', 'wrist1_Link', 'wrist3_Link', 'ee_link')}
LINKS['tree'] = ('ground', 'mast', 'boom', 'sledge', 'tool', 'flag')
LINK = pytest.mark.parametrize(('name', 'link'), [(name, link) for name in ROBOTS for link in LINKS[name]])


@LINK
def test_a_wrench_does_the_work_of_its_link(name, link):
    robot, (q, qd, x) = robot_of(name), states(name, 'inverse_dynamics')
    wrench = np.random.default_rng(3).normal(scale=10.0, size=6)
    work = jacobian(robot, q, link).T @ wrench
    assert (abs(work).max() > 1.0) == (robot._model.frame(link).link > 0)
    acting = {'wrenches': {link: wrench}, 'reference_frame': 'local'}
    saved = robot.inverse_dynamics(q, qd, x) - robot.inverse_dynamics(q, qd, x, **acting)
    assert saved == pytest.approx(work, abs=1e-7)
    gained = robot.forward_dynamics(q, qd, x, **acting) - robot.forward_dynamics(q, qd, x)
    assert robot.mass_matrix(q) @ gained == pytest.approx(work, abs=1e-7)


@LINK
def test_wrenches_by_name_in_batches(name, link):
    robot, (q, qd, x) = robot_of(name), states(name, 'inverse_dynamics', (2, 3))
    wrench = np.random.default_rng(4).normal(scale=10.0, size=(3, 6))
    for method in (robot.inverse_dynamics, robot.forward_dynamics):
        result = method(q, qd, x, {link: wrench})
        for i, j in np.ndindex(2, 3):
            alone = method(q[i, j], qd[i, j], x[i, j], wrenches={link: wrench[j]})
            assert result[i, j] == pytest.approx(alone, rel=1e-12, abs=1e-12)


@LINK
@pytest.mark.parametrize('frame', FRAMES)
def test_a_wrench_is_mapped_by_the_jacobian_of_its_frame(name, link, frame):
    robot, (q, qd, x) = robot_of(name), states(name, 'inverse_dynamics', (2, 3))
    wrench = np.random.default_rng(8).normal(scale=10.0, size=(3, 6))
    J = robot.jacobian(q, link, frame)  # or code would be made for each link and frame
    work = np.squeeze(wrench[:, None] @ J, -2)
    saved = robot.inverse_dynamics(q, qd, x) - robot.inverse_dynamics(q, qd, x, {link: wrench}, reference_frame=frame)
    assert saved == pytest.approx(work, abs=1e-10)
    gained = robot.forward_dynamics(q, qd, x, {link: wrench}, reference_frame=frame) - robot.forward_dynamics(q, qd, x)
    assert (robot.mass_matrix(q) @ gained[..., None])[..., 0] == pytest.approx(work, abs=1e-9)


@LINK
@pytest.mark.parametrize('frame', FRAMES)
def test_a_wrench_is_what_pinocchio_makes_of_it(name, link, frame):
    """Brought to the joint's frame by Pinocchio's own placements."""
    robot, (q, qd, x) = robot_of(name), states(name, 'inverse_dynamics')
    t, wrench = twin(name, tuple(robot.gravity)), np.random.default_rng(9).normal(scale=10.0, size=6)
    pin, model, data, back = t.pin, t.model, t.data, np.argsort(t.order)
    pin.framesForwardKinematics(model, data, q[back])
    number = model.getFrameId(link)
    joint, pose = model.frames[number].parentJoint, data.oMf[number]
    aligned = pin.SE3(np.eye(3), pose.translation)
    seen_from = {'world': pin.SE3.Identity(), 'local_world_aligned': aligned, 'local': pose}[frame]
    forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
    forces[joint] = data.oMi[joint].actInv(seen_from.act(pin.Force(wrench[3:], wrench[:3])))
    expected = pin.rnea(model, data, q[back], qd[back], x[back], forces)[t.order]
    assert_close(robot.inverse_dynamics(q, qd, x, {link: wrench}, reference_frame=frame), expected)


@ROBOT
@pytest.mark.parametrize('frame', FRAMES)
def test_wrenches_as_array_are_those_by_name(name, frame):
    robot, (q, qd, x) = robot_of(name), states(name, 'inverse_dynamics', (2, 3))
    array = np.random.default_rng(5).normal(scale=10.0, size=(2, 3, len(robot.link_names), 6))
    for given in (array, array[0], array[0, 0], array[:, :1]):
        by_name = {link: given[..., i, :] for i, link in enumerate(robot.link_names)}
        for method in (robot.inverse_dynamics, robot.forward_dynamics):
            results = (
                method(q, qd, x, given, reference_frame=frame),
                method(q, qd, x, by_name, reference_frame=frame),
                method(q, qd, x),
            )
            assert results[0] == pytest.approx(results[1], rel=1e-12, abs=1e-12)
            assert abs(results[0] - results[2]).max() > 0.1


@ROBOT
def test_wrenches_on_one_body_add_up(name):
    robot, (q, qd, x) = robot_of(name), states(name, 'inverse_dynamics')
    link, carrier = MERGED[name], robot.link_names[robot._model.frame(MERGED[name]).link]
    one, two = np.random.default_rng(6).normal(scale=10.0, size=(2, 6))
    plain = robot.inverse_dynamics(q, qd, x)
    apart = [robot.inverse_dynamics(q, qd, x, given) - plain for given in ({link: one}, {carrier: two})]
    assert robot.inverse_dynamics(q, qd, x, {link: one, carrier: two}) - plain == pytest.approx(sum(apart), abs=1e-12)
    assert same_bits(robot.inverse_dynamics(q, qd, x, {}), plain)


@pytest.mark.parametrize('form', FORMS)
def test_wrenches_in_another_form_yield_the_same_bits(form):
    robot, (q, qd, x) = robot_of('aubo_i5'), states('aubo_i5', 'inverse_dynamics', (4,))
    one, every = np.random.default_rng(7).normal(scale=10.0, size=(4, 6)), np.arange(4 * 7 * 6.0).reshape(4, 7, 6)
    for method in (robot.inverse_dynamics, robot.forward_dynamics):
        assert same_bits(method(q, qd, x, {'ee_link': FORMS[form](one)}), method(q, qd, x, {'ee_link': one}))
        assert same_bits(method(q, qd, x, FORMS[form](every)), method(q, qd, x, every))


# Payload, gravity, actuators, names


def carrying(name, link, mass, com, inertia) -> Robot:
    """Return the robot of a URDF in which the payload is one more link, fixed to ``link``."""
    xx, xy, xz, yy, yz, zz = inertia[np.triu_indices(3)]
    body = f"""
      <link name="load"><inertial><origin xyz="{' '.join(map(repr, map(float, com)))}"/>
        <mass value="{mass}"/>
        <inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>
      <joint name="grasp" type="fixed"><parent link="{link}"/><child link="load"/></joint></robot>"""
    robot = Robot.from_urdf(urdf_of(name).replace('</robot>', body)).with_gravity(robot_of(name).gravity)
    rotor = dict(zip(robot.joint_names, robot_of(name).rotor_inertia, strict=True))
    return robot.with_actuators({'rotor_inertia': rotor})  # nothing to compile for each link


OF_JOINTS = ('friction_torque', 'motor_current', 'torque_of_current', 'link_pose')
UNLOADED = [method for method in METHODS if method in OF_JOINTS or method.endswith('_regressor')]


@LINK
def test_a_payload_is_a_body_more_on_its_link(name, link):
    mass, com = 2.5, (0.1, -0.2, 0.3)
    inertia = np.array([[0.04, 0.01, 0.002], [0.01, 0.05, -0.01], [0.002, -0.01, 0.03]])
    loaded = robot_of(name).with_payload(Payload(mass, com, inertia), link)
    wanted = carrying(name, link, mass, com, inertia)
    for method in METHODS:
        if method not in UNLOADED:
            arguments = states(name, method, (3,))
            assert_close(call(name, method, arguments, loaded), call(name, method, arguments, wanted))
    for method in UNLOADED:
        arguments = states(name, method, (3,))
        # as numbers: what a zero has of a sign is not kept by specialised code, which another link's payload turns off
        assert np.array_equal(call(name, method, arguments, loaded), call(name, method, arguments))


def test_a_payload_is_added_and_never_replaces():
    robot, (q, qd, x) = robot_of('aubo_i5'), states('aubo_i5', 'inverse_dynamics', (3,))
    before = robot.inverse_dynamics(q, qd, x)
    one = Payload(2.0, (0.0, 0.1, 0.05), np.diag([0.01, 0.02, 0.02]))
    two = Payload(3.0, (0.1, 0.0, 0.10))
    extra = [robot.with_payload(payload).inverse_dynamics(q, qd, x) - before for payload in (one, two)]
    assert all(abs(torque).max() > 1.0 for torque in extra)
    both = robot.with_payload(one).with_payload(two)
    assert_close(both.inverse_dynamics(q, qd, x), before + sum(extra))
    assert same_bits(robot.inverse_dynamics(q, qd, x), before)


def test_a_payload_without_inertia_is_a_point_mass_on_the_last_link():
    robot, (q, qd, x) = robot_of('aubo_i5'), states('aubo_i5', 'inverse_dynamics')
    point = Payload(2.0, (0.0, 0.1, 0.05), np.zeros((3, 3)))
    wanted = robot.with_payload(point, link='wrist3_Link').inverse_dynamics(q, qd, x)
    assert same_bits(robot.with_payload(Payload(2.0, (0.0, 0.1, 0.05))).inverse_dynamics(q, qd, x), wanted)
    on_the_flange = robot.with_payload(point, link='ee_link').inverse_dynamics(q, qd, x)
    assert abs(on_the_flange - wanted).max() > 0.1  # the flange is turned against the last link
    nothing = robot.with_payload(Payload(0.0, (1.0, 1.0, 1.0)))
    assert same_bits(nothing.inverse_dynamics(q, qd, x), robot.inverse_dynamics(q, qd, x))


def test_five_kilograms_at_the_shoulder_lift():
    robot, q = robot_of('aubo_i5'), [0, np.pi / 2, 0, 0, 0, 0]
    loaded = robot.with_payload(Payload(5.0, (0.0, 0.0, 0.1)))
    assert robot.gravity_torque(q)[1] == pytest.approx(-69.04, abs=0.005)
    assert loaded.gravity_torque(q)[1] == pytest.approx(-112.53, abs=0.005)


def test_several_tips_need_a_link():
    with pytest.raises(ArgumentError, match=r'^link: required, since tree has several tips: sledge, flag$'):
        robot_of('tree').with_payload(Payload(1.0, (0.0, 0.0, 0.0)))
    assert robot_of('tree').with_payload(Payload(1.0, (0.0, 0.0, 0.0)), 'flag').nv == 3


def test_a_payload_of_an_arm_with_a_gripper_is_on_the_link_with_its_fingers():
    fingers = [
        joint(
            f'finger {k}',
            'wrist3_Link',
            f'tip {k}',
            'prismatic',
            origin=f'0 0.0{k} 0.1',
            inside='<limit lower="0" upper="0.04"/>',
        )
        for k in (1, 2)
    ]
    tips = [link(f'tip {k}', 0.1) for k in (1, 2)]
    text = Robot.named('aubo_i5').to_urdf()
    robot = Robot.from_urdf(text.replace('</robot>', ''.join(tips + fingers) + '</robot>'))
    assert robot.link_names[-1] == 'tip 2' and robot.end_link == 'wrist3_Link'
    point = Payload(1.0, (0.0, 0.02, 0.05))
    assert dict(robot.with_payload(point).payloads) == {'wrist3_Link': point}
    assert robot_of('tree').end_link == robot_of('tree').link_names[-1]  # no arm of three joints before its branches
    two_arms = robot.with_attached(robot, 'shoulder_Link', prefix='other_')
    with pytest.raises(ArgumentError, match=r'^link: required, since aubo_i5 has several tips: '):
        two_arms.with_payload(point)


@METHOD
@ROBOT
def test_gravity_from_any_side(name, method):
    gravity = (-3.0, 5.0, 2.0)
    turned = robot_of(name).with_gravity(gravity)
    assert turned.gravity.tolist() == list(gravity) != robot_of(name).gravity.tolist()
    arguments = states(name, method)
    assert_close(call(name, method, arguments, turned), np.array(expected(name, method, arguments, gravity)))


def test_actuators_have_the_values_passed():
    bare, robot = Robot.from_urdf(TREE), robot_of('tree')
    assert (robot.rotor_inertia.tolist(), bare.rotor_inertia.tolist()) == ([0.3, 0.9, 0.02], [0, 0, 0])
    assert (robot.friction.offset.tolist(), bare.friction.offset.tolist()) == ([0.4, -0.7, 0.1], [0, 0, 0])
    assert robot.friction.viscous.tolist() == bare.friction.viscous.tolist() == [0.8, 5, 0]
    assert robot.actuators.gear_ratio.tolist() == [100, 2000, 30] and np.isnan(bare.actuators.gear_ratio).all()
    assert robot.rotor_spin.tolist() == bare.rotor_spin.tolist() == [0, 0, 0]
    with pytest.raises(ModelError, match=r"^joint 'z_turn': no torque constant is known; set it by with_actuators$"):
        bare.motor_current([1, 2, 3])
    only_slide = bare.with_actuators({'torque_constant': {'z_turn': 1, 'm_slide': 2, 'a_wag': 3}})
    assert only_slide.torque_of_current([1, 1, 1]).tolist() == [1, 2, 3]
    assert bare.with_gravity((1, 2, 3)).with_actuators(ACTUATORS).gravity.tolist() == [1, 2, 3]
    q = np.array([0.1, 0.2, 0.3])
    assert robot.mass_matrix(q) - bare.mass_matrix(q) == pytest.approx(np.diag([0.3, 0.9, 0.02]), abs=1e-14)


def test_names_and_figures_of_a_tree():
    robot = robot_of('tree')
    assert (robot.name, robot.nq, robot.nv, robot.joint_names) == ('tree', 3, 3, JOINTS)
    assert robot.link_names == ('ground', 'boom', 'sledge', 'flag')
    assert sorted(robot.frame_names) == ['boom', 'flag', 'ground', 'mast', 'sledge', 'tool']
    assert robot.limits.lower.tolist() == [-3, -1, -2] and robot.limits.velocity.tolist() == [2, 1, 2]
    assert robot.limits.effort[:2].tolist() == [50, 80] and np.isnan(robot.limits.effort[2])
    assert repr(robot) == '<Robot tree: z_turn, m_slide, a_wag; gravity [1.0, -2.0, -9.0] m/s^2>'
    assert any("joint 'a_wag'" in str(finding) for finding in robot.findings)
    assert Robot.named('aubo_i5').name == 'aubo_i5' and Robot.named('aubo_i5').gravity.tolist() == [0, 0, -9.81]


def test_a_robot_from_a_path_is_that_of_its_text(tmp_path):
    path = tmp_path / 'tree.urdf'
    path.write_text(TREE, encoding='utf-8')
    assert Robot.from_urdf(path).joint_names == Robot.from_urdf(str(path)).joint_names == JOINTS
