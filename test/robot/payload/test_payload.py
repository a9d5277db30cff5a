"""Payloads: their shapes and sources, adding and removing them, and a base that is mounted any way."""

import copy
import pickle

from support.code.bindings import shared
from support.robots.facade_robots import MERGED, ROBOT, TREE, assert_close, robot_of, same_bits, states
from support.rounding import bound

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.pseudo_inertia import violation

pytestmark = [pytest.mark.plain, pytest.mark.quick]

TURN = Rotation.from_euler('xyz', [0.4, -0.7, 1.1]).as_matrix()
CENTER = (0.1, -0.2, 0.3)
BODY = Payload(2.5, CENTER, np.array([[0.04, 0.01, 0.002], [0.01, 0.05, -0.01], [0.002, -0.01, 0.03]]))
BOX, BALL = Payload.box(3.0, (0.1, 0.2, 0.3), CENTER, TURN), Payload.sphere(1.5, 0.1, (0.0, 0.1, 0.0))


def torques(robot, name='aubo_i5'):
    return robot.inverse_dynamics(*states(name, 'inverse_dynamics', (5,)))


# solid bodies


def of_points(mass, points) -> np.ndarray:
    """Return the ten parameters of a mass spread evenly over points (., 3), placed as the solids here are."""
    placed = points @ TURN.T + CENTER
    return sum(ten_parameters(mass / len(placed), point, np.zeros((3, 3))) for point in placed)


def middles(count):
    """Return the middles (count,) of equal parts of 0 to 1."""
    return (np.arange(count) + 0.5) / count


def product(*axes):
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(axes))


def filled_box(size):
    side = middles(20) - 0.5
    return product(side, side, side) * size


def filled_cylinder(radius, length):
    """Even in area: rings whose radii squared are equally far apart."""
    area, turn, z = product(middles(20), middles(8), middles(20) - 0.5).T
    across = radius * np.sqrt(area)
    return np.column_stack([across * np.cos(2 * np.pi * turn), across * np.sin(2 * np.pi * turn), length * z])


def filled_sphere(radius):
    """Even in volume: shells whose radii cubed are equally far apart, six points on each."""
    shells = radius * np.cbrt(middles(400))
    return (shells[:, None, None] * np.vstack([np.eye(3), -np.eye(3)])).reshape(-1, 3)


SOLIDS = {
    'box': (Payload.box(2.0, (0.3, 0.5, 0.9), CENTER, TURN), filled_box((0.3, 0.5, 0.9))),
    'cylinder': (Payload.cylinder(2.0, 0.3, 0.9, CENTER, TURN), filled_cylinder(0.3, 0.9)),
    'sphere': (Payload.sphere(2.0, 0.3, CENTER), filled_sphere(0.3)),
}


@pytest.mark.parametrize('solid', SOLIDS)
def test_a_solid_is_its_mass_spread_over_it(solid):
    payload, points = SOLIDS[solid]
    assert payload.ten_parameters == pytest.approx(of_points(2.0, points), rel=3e-3, abs=3e-4)
    assert payload.mass == 2.0 and payload.com == CENTER
    assert violation(payload.ten_parameters) is None


@pytest.mark.rounding
def test_solids_of_pinocchio():
    pin = pytest.importorskip('pinocchio', minversion='3.4', reason='Pinocchio (package pin) is not installed')
    theirs = {
        'box': pin.Inertia.FromBox(2.0, 0.3, 0.5, 0.9),
        'cylinder': pin.Inertia.FromCylinder(2.0, 0.3, 0.9),
        'sphere': pin.Inertia.FromSphere(2.0, 0.3),
    }
    for solid, inertia in theirs.items():
        moved = pin.SE3(TURN, np.array(CENTER)).act(inertia)
        assert SOLIDS[solid][0].com == pytest.approx(moved.lever, rel=0, abs=bound(10, 3))
        assert SOLIDS[solid][0].inertia == pytest.approx(moved.inertia, rel=0, abs=bound(10, 3))


def test_a_solid_without_extent_is_a_point_mass():
    point = Payload(2.0, CENTER).ten_parameters
    for payload in (Payload.box(2.0, (0, 0, 0), CENTER), Payload.sphere(2.0, 0, CENTER)):
        assert same_bits(payload.ten_parameters, point)


# sources, sums, what a payload is


@pytest.mark.rounding
def test_from_the_link_of_a_urdf():
    sledge = Payload.from_urdf(TREE, 'sledge')
    assert (sledge.mass, sledge.com) == (2.0, (-0.05, 0.0, 0.1))
    assert sledge.inertia.tolist() == [[0.02, 0.0, 0.001], [0.0, 0.03, 0.0], [0.001, 0.0, 0.02]]
    turned = Rotation.from_euler('xyz', [0.3, 0.2, 0.1]).as_matrix()
    boom = np.array([[0.05, 0.01, 0.002], [0.01, 0.06, -0.004], [0.002, -0.004, 0.04]])
    found, largest = Payload.from_urdf(TREE, 'boom').inertia, bound(20, 3, scale=boom.max())
    assert found == pytest.approx(turned @ boom @ turned.T, rel=0, abs=largest)


def test_the_one_heavy_link_of_a_urdf(tmp_path):
    heavy = TREE[TREE.index('<link name="flag">') : TREE.index('<joint name="feet"')]
    path = tmp_path / 'gripper.urdf'
    path.write_text(f'<robot name="gripper"><link name="mount"/>{heavy}</robot>', encoding='utf-8')
    assert Payload.from_urdf(path).com == Payload.from_urdf(TREE, 'flag').com == (0.2, 0.0, 0.0)
    with pytest.raises(ArgumentError, match=r'^link: required, .* mast, boom, sledge, tool, flag$'):
        Payload.from_urdf(TREE)
    with pytest.raises(ArgumentError, match=r'^link: required, .* none$'):
        Payload.from_urdf('<robot name="light"><link name="mount"/></robot>')
    with pytest.raises(UnknownNameError, match=r"^no link 'hand'; there are ground, mast"):
        Payload.from_urdf(TREE, 'hand')
    with pytest.raises(ModelError, match=r"link 'flag'"):
        Payload.from_urdf(TREE.replace('<mass value="0.5"/>', ''), 'flag')


def test_a_sum_is_both_bodies():
    both = BOX + BALL
    assert both.ten_parameters == pytest.approx(BOX.ten_parameters + BALL.ten_parameters, rel=1e-14, abs=1e-15)
    assert both.mass == 4.5
    assert both.com == pytest.approx((3.0 * np.array(CENTER) + 1.5 * np.array([0, 0.1, 0])) / 4.5, abs=1e-15)
    nothing = Payload(0.0, (1.0, 1.0, 1.0))
    assert (nothing + nothing).ten_parameters.tolist() == [0.0] * 10
    assert (BOX + nothing).ten_parameters == pytest.approx(BOX.ten_parameters, rel=1e-14, abs=1e-16)
    with pytest.raises(TypeError):
        BOX + 1.0


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda payload: pickle.loads(pickle.dumps(payload))])
def test_a_copy_of_a_payload_cannot_be_changed_either(copied):
    other = copied(BODY)
    assert same_bits(other.ten_parameters, BODY.ten_parameters)
    assert not other.inertia.flags.writeable and isinstance(other.com, tuple)


def test_what_rounding_explains_is_no_fault():
    """A sheet of 2 g as a URDF prints it, with six decimals: 0.000020 + 0.000019 < 0.000040."""
    assert Payload(0.002, (0.0, 0.0, 0.0), np.diag([0.000020, 0.000019, 0.000040])).mass == 0.002


# adding and removing


@ROBOT
def test_payloads_add_up_wherever_they_hang(name):
    """Torques are linear in bodies: what two payloads add is what each adds alone."""
    robot, links = robot_of(name), (MERGED[name], robot_of(name).link_names[2])
    bare = torques(robot, name)
    alone = [torques(robot.with_payload(it, on), name) - bare for it, on in zip((BOX, BALL), links, strict=True)]
    assert all(np.abs(more).max() > 0.5 for more in alone)
    both = robot.with_payload(BOX, links[0]).with_payload(BALL, links[1])
    assert_close(torques(both, name), bare + sum(alone))
    on_one = robot.with_payload(BOX, links[0]).with_payload(BALL, links[0])
    assert same_bits(torques(on_one, name), torques(robot.with_payload(BOX + BALL, links[0]), name))


def test_the_robot_has_its_payloads():
    robot = robot_of('aubo_i5')
    assert robot.payloads == {}
    carrying = robot.with_payload(BOX).with_payload(BALL, 'ee_link')
    assert carrying.payloads == {'wrist3_Link': BOX, 'ee_link': BALL}
    more = carrying.with_payload(BOX, 'ee_link').with_gravity((1, 2, 3))
    assert same_bits(more.payloads['ee_link'].ten_parameters, (BALL + BOX).ten_parameters)
    more.payloads.clear()  # a copy
    assert len(more.payloads) == 2 and robot.payloads == {}


def test_locked_joints_keep_payloads_on_their_frames():
    robot, q = robot_of('aubo_i5'), np.array([0.1, -0.4, 0.7, 0.2, 0.5, 0.3])
    carrying = robot.with_payload(BOX).with_payload(BALL, 'upperArm_Link')
    held = carrying.with_locked_joints({'wrist3_joint': q[5]})
    assert held.payloads == carrying.payloads
    assert held.gravity_torque(q[:5]) == pytest.approx(carrying.gravity_torque(q)[:5], rel=1e-12, abs=1e-12)
    empty = robot.with_locked_joints({'wrist3_joint': q[5]})
    assert same_bits(held.without_payload().gravity_torque(q[:5]), empty.gravity_torque(q[:5]))


@ROBOT
def test_without_its_payloads_a_robot_has_the_bits_it_had(name):
    robot = robot_of(name)
    far = robot.link_names[-1]
    carrying = robot.with_payload(BOX, MERGED[name]).with_payload(BALL, far).with_payload(BODY, robot.link_names[1])
    assert same_bits(torques(carrying.without_payload(), name), torques(robot, name))
    fewer = carrying.without_payload(MERGED[name])
    assert set(fewer.payloads) == {far, robot.link_names[1]}
    assert same_bits(
        torques(fewer, name), torques(robot.with_payload(BALL, far).with_payload(BODY, robot.link_names[1]), name)
    )
    with pytest.raises(UnknownNameError, match=rf"^no payload on '{MERGED[name]}'; there are some on: {far}, "):
        fewer.without_payload(MERGED[name])


@pytest.mark.compiled
def test_the_code_of_a_robot_waits_while_another_link_carries_something():
    robot = robot_of('aubo_i5').compiled()
    assert robot.with_payload(BOX).is_compiled
    carrying = robot.with_payload(BOX).with_payload(BALL, 'foreArm_Link')
    for another in (carrying, pickle.loads(pickle.dumps(carrying)), carrying.with_gravity((1, 2, 3))):
        assert not another.is_compiled
        again = another.without_payload('foreArm_Link')
        assert again.is_compiled and list(again.payloads) == ['wrist3_Link']
    assert same_bits(torques(carrying.without_payload('foreArm_Link')), torques(robot.with_payload(BOX)))


@pytest.mark.compiled
def test_code_may_be_made_for_what_another_link_carries():
    carrying = robot_of('aubo_i5').with_payload(BALL, 'foreArm_Link').compiled()
    assert carrying.is_compiled and carrying.with_payload(BOX).is_compiled
    assert same_bits(torques(carrying), torques(shared(carrying)))
    assert pickle.loads(pickle.dumps(carrying)).is_compiled
    assert not carrying.without_payload().is_compiled
    assert same_bits(torques(carrying.without_payload()), torques(robot_of('aubo_i5')))


@ROBOT
def test_actuators_leave_the_payloads(name):
    robot = robot_of(name).with_payload(BALL, MERGED[name])
    rotor = dict.fromkeys(robot.joint_names, 0.25)
    changed = robot.with_actuators({'rotor_inertia': rotor})
    assert changed.payloads == robot.payloads
    bare = robot_of(name).with_actuators({'rotor_inertia': rotor})
    assert same_bits(torques(changed.without_payload(), name), torques(bare, name))
    assert changed.is_compiled is robot.is_compiled


# mounting


@pytest.mark.parametrize('seed', range(5))
def test_a_turned_base_feels_gravity_from_its_side(seed):
    robot, turn = robot_of('aubo_i5'), Rotation.random(random_state=seed)
    turned = robot.with_base_orientation(turn.as_matrix())
    assert turned.gravity == pytest.approx(turn.inv().apply([0.0, 0.0, -9.81]), abs=1e-14)
    assert same_bits(torques(turned), torques(robot.with_gravity(turned.gravity)))
    # the orientation is that of the base, not one more turn of it
    assert same_bits(turned.with_base_orientation(turn.as_matrix()).gravity, turned.gravity)


def test_a_turned_base_is_a_link_bolted_at_that_angle():
    """The same arm on a fixed joint that turns it, in a world that is not turned."""
    upright = TREE.replace('<joint name="feet"', '<joint name="wall" type="fixed"><parent link="world"/>'
        '<child link="ground"/><origin rpy="0.4 -0.7 1.1"/></joint><link name="world"/><joint name="feet"')  # fmt: skip
    bolted, turned = Robot.from_urdf(upright), Robot.from_urdf(TREE).with_base_orientation(TURN)
    state = states('tree', 'inverse_dynamics', (5,))
    assert_close(turned.inverse_dynamics(*state), bolted.inverse_dynamics(*state))
    assert np.abs(turned.gravity - [0.0, 0.0, -9.81]).max() > 1.0


def test_upright_and_upside_down():
    robot = robot_of('aubo_i5')
    assert robot.with_base_orientation(np.eye(3)).gravity.tolist() == [0.0, 0.0, -9.81]
    assert robot.with_base_orientation(np.diag([1, -1, -1])).gravity.tolist() == [0.0, 0.0, 9.81]
    assert robot.with_base_orientation((1.0 + 4e-7) * np.eye(3)).gravity == pytest.approx([0, 0, -9.81], abs=1e-5)


@pytest.mark.parametrize(('row', 'column'), [(0, 1), (0, 2), (1, 2), (1, 1)])
@pytest.mark.parametrize('number', [1.7e308, -1.7e308])
def test_an_inertia_beyond_all_numbers_is_refused(row, column, number):
    inertia = np.diag([0.0209, 0.0124, 0.0127])
    inertia[row, column] = inertia[column, row] = number
    with pytest.raises(ArgumentError, match=r'^inertia: '):
        Payload(1.88, (0.0, 0.0, 0.0), inertia)
