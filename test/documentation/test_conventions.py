"""One test for each sentence of CONVENTIONS.md, named after its number; from 23 on in ``test_conventions_joints``."""

import re
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

from support.robots.small_robots import AUBO, general, joint, link, one, robot

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robot_dynamics_ros
from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.guards.torque_limiter import effort_limits
from robot_dynamics_ros.control.terms.compensation import Compensation
from robot_dynamics_ros.control.terms.dynamics_query import DynamicsQuery
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import KINDS

pytestmark = [pytest.mark.plain, pytest.mark.ros]

ROOT = Path(__file__).parents[2]
PACKAGE = Path(robot_dynamics_ros.__file__).parent
REST = np.zeros(6)


def sentences() -> dict[int, str]:
    text = (ROOT / 'CONVENTIONS.md').read_text(encoding='utf-8')
    return {int(number): sentence for number, sentence in re.findall(r'^(\d+)\. (.*(?:\n +.*)*)', text, re.MULTILINE)}


def test_every_sentence_has_its_test_and_every_test_its_sentence():
    sources = [path.read_text(encoding='utf-8') for path in sorted(Path(__file__).parent.glob('test_conventions*.py'))]
    tested = [int(number) for source in sources for number in re.findall(r'^def test_(\d+)_', source, re.MULTILINE)]
    assert len(tested) > 10
    assert tested == list(sentences()) == list(range(1, len(tested) + 1))


def test_01_units_are_si():
    lever, slide = one(axis='0 1 0'), one('prismatic', '0 0 1', inside='<limit lower="-1" upper="1"/>')
    assert abs(lever.gravity_torque([0.0])) == pytest.approx([2.0 * 9.81 * 0.5])  # kg m/s^2 m
    assert slide.gravity_torque([0.0]) == pytest.approx([2.0 * 9.81])  # N
    assert lever.mass_matrix([0.0]) == pytest.approx(np.array([[0.3 + 2.0 * 0.5**2]]))  # kg m^2
    assert slide.mass_matrix([0.0]) == pytest.approx(np.array([[2.0]]))  # kg
    assert lever.link_pose([np.pi / 2], 'arm')[:3, 0] == pytest.approx([0.0, 0.0, -1.0])  # rad
    assert slide.link_pose([0.25], 'arm')[:3, 3] == pytest.approx([0.0, 0.0, 0.25])  # m
    assert lever.kinetic_energy([0.0], [3.0]) == pytest.approx(0.5 * 0.8 * 3.0**2)  # J
    assert slide.potential_energy([0.25]) == pytest.approx(2.0 * 9.81 * 0.25)  # J


def test_02_joint_order():
    """Names and document order are mixed up on purpose."""
    limits = {name: f'<limit effort="{effort}"/>' for name, effort in (('z', 1), ('m', 2), ('a', 3), ('k', 4))}
    arm = robot(
        *(link(name, mass, '0.1 0.2 0.3', (1, 0, 0, 1, 0, 1)) for name, mass in zip('dcbe', (1, 2, 3, 4), strict=True)),
        link('base'),
        joint('a', 'base', 'b', axis='1 0 0', inside=limits['a']),
        joint('k', 'd', 'e', axis='0 1 0', inside=limits['k']),
        joint('z', 'base', 'd', axis='0 0 1', inside=limits['z']),
        joint('m', 'b', 'c', 'prismatic', axis='1 0 0', inside=limits['m']),
    )
    assert arm.joint_names == ('a', 'm', 'z', 'k')
    assert arm.limits.effort.tolist() == [3, 2, 1, 4]
    # only m slides, and only what hangs on the same branch is coupled
    assert arm.mass_matrix(np.zeros(4))[1, 1] == pytest.approx(2.0)
    assert ((abs(arm.mass_matrix([0.3, 0.4, 0.5, 0.6])) > 1e-12)[np.ix_([0, 1], [2, 3])] == 0).all()
    assert abs(arm.mass_matrix([0.3, 0.4, 0.5, 0.6])[2, 3]) > 1e-3
    pushed = arm.inverse_dynamics(*np.zeros((3, 4)), {'c': [0, 0, 0, 1.0, 0, 0]})
    assert pushed - arm.gravity_torque(np.zeros(4)) == pytest.approx([0, -1, 0, 0], abs=1e-12)
    assert arm.with_attached(one(), 'b', prefix='b_').joint_names == ('a', 'm', 'z', 'k', 'b_a')


def test_03_links_are_the_base_and_what_each_joint_moves():
    assert len(AUBO.link_names) == AUBO.nq + 1 and AUBO.link_names[0] == 'base_link'
    for i in range(6):
        moved = np.where(np.arange(6) == i, 0.3, REST)
        still = [np.allclose(AUBO.link_pose(REST, name), AUBO.link_pose(moved, name)) for name in AUBO.link_names]
        assert still == [k < i + 1 for k in range(7)]


def test_04_angular_part_first():
    for kind, part in (('continuous', 2), ('prismatic', 5)):  # a hinge about z feels m_z, a slide along z feels f_z
        arm = one(kind).with_gravity((0, 0, 0))
        felt = [arm.inverse_dynamics([0], [0], [0], {'arm': wrench})[0] for wrench in np.eye(6)]
        assert felt == pytest.approx([-1.0 if k == part else 0.0 for k in range(6)], abs=1e-15)


def test_05_a_wrench_acts_on_the_link():
    """1 N and 1 N m along and about each of the flange's own axes, against the work that they do."""
    q, step = np.array([0.3, 0.8, -1.2, 0.5, 0.9, -0.4]), 1e-6
    pose = AUBO.link_pose(q, 'ee_link')
    shifted = [AUBO.link_pose(q + sign * step * np.eye(6), 'ee_link') for sign in (1, -1)]
    rate = (shifted[0] - shifted[1]) / (2 * step)  # (joint, 4, 4)
    turn = pose[:3, :3].T @ rate[:, :3, :3]  # the skew matrix of the angular velocity, in the flange's own axes
    lift = rate[:, :3, 3] @ pose[:3, :3]  # the velocity of its origin, likewise
    for wrench, work in zip(np.eye(6), (turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0], *lift.T), strict=True):
        push = AUBO.inverse_dynamics(q, REST, REST, {'ee_link': wrench}, None, 'local') - AUBO.gravity_torque(q)
        assert push == pytest.approx(-work, abs=1e-8)  # what the wrench does, the joints need not do
        freed = AUBO.forward_dynamics(q, REST, AUBO.gravity_torque(q), {'ee_link': wrench}, None, 'local')
        assert freed @ work > 0.0  # and left alone, the arm gives way to it
    # a hinge about z at (1, 0, 0), its arm along the base's y, the hand 0.5 m out and turned by a quarter against it
    hand = joint('b', 'arm', 'hand', 'fixed', origin='0.5 0 0', rpy=f'0 0 {np.pi / 2}')
    lever = robot(link('base'), link('arm', 1.0), link('hand'), joint('a', 'base', 'arm', origin='1 0 0'), hand)
    pushes = np.eye(6)[[3, 4, 2]]  # f_x, f_y, m_z
    for frame, felt in zip(('local', 'local_world_aligned', 'world'), ([-0.5, 0], [0.5, 0], [0, 1]), strict=True):
        torques = lever.inverse_dynamics(np.full((3, 1), np.pi / 2), [0], [0], {'hand': pushes}, reference_frame=frame)
        assert torques[:, 0] == pytest.approx([*felt, -1], abs=1e-12)
    torques = lever.inverse_dynamics(np.full((3, 1), np.pi / 2), [0], [0], {'hand': pushes})  # local_world_aligned
    assert torques[:, 0] == pytest.approx([0.5, 0, -1], abs=1e-12)


def test_06_gravity_is_free_fall_in_the_base_frame():
    assert AUBO.gravity.tolist() == one().gravity.tolist() == [0.0, 0.0, -9.81]
    gravity, turned = np.array([1.0, -2.0, -3.0]), '0.4 -0.7 1.1'
    for k, axis in enumerate(('1 0 0', '0 1 0', '0 0 1')):
        # a slide along an axis of the base falls freely by gravity's own component
        assert one('prismatic', axis).with_gravity(gravity).forward_dynamics([0], [0], [0]) == pytest.approx(
            [gravity[k]]
        )
    # along its own x, turned against the base, by what gravity has in that direction of the base
    fall = one('prismatic', '1 0 0', rpy=turned).with_gravity(gravity).forward_dynamics([0], [0], [0])
    assert fall == pytest.approx([gravity @ Rotation.from_euler('xyz', [0.4, -0.7, 1.1]).as_matrix()[:, 0]])


def test_07_gravity_torques_hold_the_arm():
    q, step = np.array([0.3, 0.8, -1.2, 0.5, 0.9, -0.4]), 1e-6
    energy = [AUBO.potential_energy(q + sign * step * np.eye(6)) for sign in (1, -1)]
    assert AUBO.gravity_torque(q) == pytest.approx((energy[0] - energy[1]) / (2 * step), abs=1e-6)
    assert AUBO.forward_dynamics(q, REST, AUBO.gravity_torque(q)) == pytest.approx(REST, abs=1e-10)
    slide = one('prismatic', '1 0 0').with_gravity((-3.0, 0, 0))  # its 2 kg are 0.5 m along x
    assert slide.potential_energy([-0.5]) == pytest.approx(0.0, abs=1e-15)
    assert slide.potential_energy([0.5]) == pytest.approx(2.0 * 3.0 * 1.0)


def test_08_a_torque_is_positive_about_its_axis():
    weightless = (0, 0, 0)
    assert one().with_gravity(weightless).forward_dynamics([0], [0], [1.6])[0] == pytest.approx(1.6 / 0.8)
    assert one().link_pose([0.1], 'arm')[1, 0] > 0  # right-handed about z: x turns towards y
    assert one('prismatic', '0 0 -1').link_pose([0.1], 'arm')[2, 3] == pytest.approx(-0.1)
    # between two equal wheels on one axis a torque turns the outer one forwards and the inner one backwards
    wheels = [link(name, 1.0, '0 0 0', (1, 0, 0, 1, 0, 1)) for name in ('inner', 'outer')]
    pair = robot(link('base'), *wheels, joint('a', 'base', 'inner'), joint('b', 'inner', 'outer'))
    assert pair.forward_dynamics([0, 0], [0, 0], [0, 1.0]) == pytest.approx([-1.0, 2.0])


def test_09_a_payloads_inertia_is_about_its_centre():
    payload = Payload(2.0, (0.5, 0.0, 0.0), np.diag([0.1, 0.2, 0.3]))
    bare = robot(link('base'), link('arm'), joint('a', 'base', 'arm'))
    assert bare.with_payload(payload).mass_matrix([0.0])[0, 0] == pytest.approx(0.3 + 2.0 * 0.5**2)
    # in the axes of the link that is named: a frame turned by 90 degrees about x has its y along the joint
    bolted = robot(
        link('base'), link('arm'), link('hand'),
        joint('a', 'base', 'arm'), joint('b', 'arm', 'hand', 'fixed', rpy=f'{np.pi / 2} 0 0'),
    )  # fmt: skip
    assert bolted.with_payload(payload, 'hand').mass_matrix([0.0])[0, 0] == pytest.approx(0.2 + 2.0 * 0.5**2)


def points_of_mass():
    """Return masses (5,) and places (5, 3) of a cloud of points."""
    rng = np.random.default_rng(0)
    return rng.uniform(0.1, 1.0, 5), rng.uniform(-1.0, 1.0, (5, 3))


def test_10_order_of_the_ten_parameters():
    m, (x, y, z) = points_of_mass()[0], points_of_mass()[1].T
    row = sum(ten_parameters(mass, place, np.zeros((3, 3))) for mass, place in zip(*points_of_mass(), strict=True))
    moments = [m @ (y * y + z * z), -m @ (x * y), -m @ (x * z), m @ (x * x + z * z), -m @ (y * z), m @ (x * x + y * y)]
    assert row == pytest.approx([m.sum(), m @ x, m @ y, m @ z, *moments])
    # the same row is what a link of a URDF becomes
    c = np.array([m @ x, m @ y, m @ z]) / m.sum()
    u, v, w = x - c[0], y - c[1], z - c[2]
    about_c = [m @ (v * v + w * w), -m @ (u * v), -m @ (u * w), m @ (u * u + w * w), -m @ (v * w), m @ (u * u + v * v)]
    body = link('arm', m.sum(), ' '.join(map(str, c)), about_c)
    assert robot(link('base'), body, joint('a', 'base', 'arm'))._model.arrays.I[1] == pytest.approx(row)


def test_11_off_diagonal_entries_are_those_of_the_matrix():
    """Two points at (1, 1, 0) and (-1, -1, 0): J_xy = -2. To turn them about x takes a moment about y of -2 too."""
    payload = Payload(2.0, (0.0, 0.0, 0.0), np.array([[2.0, -2.0, 0.0], [-2.0, 2.0, 0.0], [0.0, 0.0, 4.0]]))
    by_payload = robot(link('base'), link('arm'), joint('a', 'base', 'arm', axis='1 1 0')).with_payload(payload)
    by_urdf = robot(
        link('base'), link('arm', 2.0, '0 0 0', (2, -2, 0, 2, 0, 4)), joint('a', 'base', 'arm', axis='1 1 0')
    )
    for arm in (by_payload, by_urdf):
        assert arm.mass_matrix([0.0])[0, 0] == pytest.approx(0.0, abs=1e-15)  # both points are on the axis


def test_12_rpy_is_about_fixed_axes():
    roll, pitch, yaw = 0.4, -0.7, 1.1
    bolted = robot(link('base'), link('hand'), joint('a', 'base', 'hand', 'fixed', rpy=f'{roll} {pitch} {yaw}'))
    about = [
        Rotation.from_euler(axis, angle).as_matrix() for axis, angle in zip('zyx', (yaw, pitch, roll), strict=True)
    ]
    assert bolted.link_pose([], 'hand')[:3, :3] == pytest.approx(about[0] @ about[1] @ about[2])


def test_13_a_pose_maps_link_coordinates_to_the_base():
    arm = robot(link('base'), link('arm'), joint('a', 'base', 'arm', origin='1 2 3'))
    assert arm.link_pose([np.pi / 2], 'arm') @ [5.0, 0.0, 0.0, 1.0] == pytest.approx([1.0, 2.0 + 5.0, 3.0, 1.0])
    assert arm.link_pose([0.7], 'base') == pytest.approx(np.eye(4))


def test_14_a_link_on_a_fixed_joint_stays_as_a_frame():
    bolt = joint('b', 'arm', 'hand', 'fixed', origin='0.5 0 0', rpy=f'0 0 {np.pi / 2}')
    arm = robot(link('base'), link('arm'), link('hand', 2.0), joint('a', 'base', 'arm'), bolt)
    assert arm.joint_names == ('a',) and arm.link_names == ('base', 'arm') and 'hand' in arm.frame_names
    assert arm.mass_matrix([0.0])[0, 0] == pytest.approx(2.0 * 0.5**2)
    assert arm.link_pose([0.0], 'hand')[:3, 3] == pytest.approx([0.5, 0, 0])
    assert arm.link_pose([0.0], 'hand')[:3, 0] == pytest.approx([0, 1, 0])
    # 1 N along the frame's own x, which is the arm's y, 0.5 m from the axis
    along_x = {'hand': [0, 0, 0, 1.0, 0, 0]}
    assert arm.inverse_dynamics([0], [0], [0], along_x, reference_frame='local') == pytest.approx([-0.5])
    assert arm.with_payload(Payload(1.0, (0, 0, 0)), 'hand').mass_matrix([0.0])[0, 0] == pytest.approx(3.0 * 0.5**2)


def test_15_rotor_inertia_turns_with_its_joint_alone():
    rotor = dict(zip(AUBO.joint_names, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), strict=True))
    none = AUBO.with_actuators({'rotor_inertia': dict.fromkeys(rotor, 0.0)})
    some = AUBO.with_actuators({'rotor_inertia': rotor})
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 6))
    more = np.arange(1.0, 7.0)
    assert some.mass_matrix(q) - none.mass_matrix(q) == pytest.approx(np.diag(more), abs=1e-12)
    assert some.inverse_dynamics(q, qd, qdd) - none.inverse_dynamics(q, qd, qdd) == pytest.approx(more * qdd)
    assert some.forward_dynamics(q, qd, some.inverse_dynamics(q, qd, qdd)) == pytest.approx(qdd)
    assert some.kinetic_energy(q, qd) - none.kinetic_energy(q, qd) == pytest.approx(0.5 * more @ qd**2)


def test_16_friction_is_apart():
    rough = one(inside='<dynamics damping="3" friction="2"/>')
    assert rough.friction_torque([1.5]) == pytest.approx([3 * 1.5 + 2], abs=1e-4)
    assert rough.friction_torque([-1.5]) == pytest.approx([-3 * 1.5 - 2], abs=1e-4)
    for method, last in (('inverse_dynamics', 4.0), ('forward_dynamics', 5.0)):
        results = [getattr(arm, method)([0.3], [1.5], [last]) for arm in (rough, one())]
        assert results[0].tolist() == results[1].tolist()


def test_17_bias_is_coriolis_and_gravity():
    q, qd = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 6))
    bias = AUBO.inverse_dynamics(q, qd, REST)
    assert AUBO.bias_torque(q, qd) == pytest.approx(bias, abs=1e-12)
    assert AUBO.coriolis_torque(q, qd) + AUBO.gravity_torque(q) == pytest.approx(bias, abs=1e-12)
    # one joint turning alone has no Coriolis torque, yet what it carries pulls outwards along the slide: -m r w^2
    slide = joint('b', 'arm', 'load', 'prismatic', axis='1 0 0')
    spun = robot(link('base'), link('arm'), link('load', 2.0), joint('a', 'base', 'arm'), slide)
    assert spun.coriolis_torque([0.0, 0.5], [3.0, 0.0]) == pytest.approx([0.0, -2.0 * 0.5 * 3.0**2])


def test_18_quaternions_belong_to_spherical_and_free_joints():
    ball = general('spherical')
    half = np.sqrt(0.5)
    assert ball.nq == 4 and ball.neutral().tolist() == [0.0, 0.0, 0.0, 1.0]
    assert ball.link_pose([half, 0.0, 0.0, half], 'arm')[:3, 1] == pytest.approx([0.0, 0.0, 1.0])  # y turned about x
    with pytest.raises(ArgumentError, match='length 1'):
        ball.link_pose([1.0, 0.0, 0.0, 1.0], 'arm')
    sources = [*(ROOT / 'robot_dynamics_interfaces').rglob('*.srv'), *(PACKAGE / 'nodes').rglob('*.py')]
    assert len(sources) > 15
    assert not [path.name for path in sources if 'quaternion' in path.read_text(encoding='utf-8').lower()]
    counts = {kind: general(kind).nq for kind in KINDS}
    assert [kind for kind, count in counts.items() if count > general(kind).nv] == ['spherical', 'free']


def test_19_batches_lead():
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 2, 5, 6))
    shapes = {
        (2, 5, 6): AUBO.inverse_dynamics(q, qd, qdd),
        (2, 5, 6, 6): AUBO.mass_matrix(q),
        (2, 5, 4, 4): AUBO.link_pose(q, 'ee_link'),
        (2, 5): AUBO.kinetic_energy(q, qd),
    }
    assert all(result.shape == shape for shape, result in shapes.items())
    assert shapes[2, 5, 6][1, 3].tolist() == AUBO.inverse_dynamics(q[1, 3], qd[1, 3], qdd[1, 3]).tolist()
    assert shapes[2, 5, 6, 6][1, 3].tolist() == AUBO.mass_matrix(q[1, 3]).tolist()


def test_20_service_lists_are_row_major():
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 6))
    flat = [number for state in states for number in state]
    matrices = DynamicsQuery(AUBO, [], positions=flat).mass_matrix()
    assert all(np.array_equal(M, AUBO.mass_matrix(state)) for M, state in zip(matrices, states, strict=True))
    pytest.importorskip('rclpy', reason='the services need ROS 2')
    from robot_dynamics_ros.nodes.tasks.dynamics_services import _flat  # noqa: PLC0415

    assert list(_flat(matrices)) == [number for M in matrices for row in M for number in row]
    for path in (ROOT / 'robot_dynamics_interfaces' / 'srv').glob('Get*.srv'):
        assert 'row-major: all joints of the first state, then all of the second' in path.read_text(encoding='utf-8')


def test_21_frame_id_of_a_torque_is_the_base_link_and_terms_have_one_order():
    pytest.importorskip('rclpy', reason='the messages need ROS 2')
    from rclpy.serialization import deserialize_message  # noqa: PLC0415
    from sensor_msgs.msg import JointState  # noqa: PLC0415

    from robot_dynamics_ros.nodes.outputs.torque_publishers import NamedTorque  # noqa: PLC0415

    sent = []
    publisher = SimpleNamespace(handle=SimpleNamespace(publish_raw=sent.append))
    node = SimpleNamespace(
        robot=AUBO,
        resources=ExitStack(),
        create_lifecycle_publisher=lambda *_, **__: publisher,
        destroy_lifecycle_publisher=None,
    )
    NamedTorque(node, 'feedforward_torque').publish(10**9, np.arange(6.0))
    message = deserialize_message(sent[0], JointState)
    assert (message.header.frame_id, list(message.effort)) == (AUBO.link_names[0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    terms = Compensation(AUBO, ['friction', 'inertia', 'coriolis', 'gravity']).terms
    assert terms == ('gravity', 'coriolis', 'inertia', 'friction')


def test_22_a_limit_of_zero_is_unknown():
    stated = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'
    limits = one('revolute', inside=stated).limits
    assert [limits.velocity[0], limits.effort[0]] == [2, 3]
    for limit in ('', '<limit lower="-1" upper="1" velocity="0" effort="0"/>', '<limit lower="-1" upper="1"/>'):
        for kind in ('revolute', 'continuous'):
            limits = one(kind, inside=limit).limits
            assert np.isnan(limits.velocity[0]) and np.isnan(limits.effort[0])
            with pytest.raises(ArgumentError, match='no effort limit is known'):
                effort_limits([0.0], limits.effort, ['joint'])
            if kind == 'continuous':
                assert (limits.lower[0], limits.upper[0]) == (-np.inf, np.inf)
