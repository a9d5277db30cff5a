"""Arguments that ``Robot`` refuses, and the name in each message."""

import itertools

from support.code.bindings import of_binding
from support.matrices import crossed
from support.robots.facade_robots import METHODS, call, robot_of, states
from support.robots.small_robots import general, joint, link, one
from support.robots.small_robots import robot as small_robot

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.validation import REFERENCE_FRAMES as FRAMES

pytestmark = pytest.mark.plain

# What is refused, and by which name


@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_a_robot_without_mass_has_no_centre_of_mass(binding):
    parts = [link('base'), link('arm'), joint('a', 'base', 'arm')]
    massless = of_binding(small_robot(*parts).with_rotor_inertia([0.1]), binding)
    for name in ('center_of_mass', 'center_of_mass_jacobian', 'centroidal_momentum_matrix', 'centroidal_momentum'):
        vectors = 2 if name == 'centroidal_momentum' else 1
        for shape in ((1,), (3, 1)):
            with pytest.raises(ModelError, match=rf'^{name.replace("_", " ")}: no moving link of r has a mass, so'):
                getattr(massless, name)(*np.zeros((vectors, *shape)))


def spoilt(value, *place):
    array = np.zeros((4, 6))
    array[place] = value
    return array


WRONG = {
    'short': (np.zeros(5), 'expected shape (..., 6), got (5,)'),
    'last axis': (np.zeros((6, 4)), 'expected shape (..., 6), got (6, 4)'),
    'a number': (1.0, 'expected shape (..., 6), got ()'),
    'empty': ([], 'expected shape (..., 6), got (0,)'),
    'NaN': (spoilt(np.nan, 2, 3), '[2, 3]: nan is not finite'),
    'inf': (spoilt(-np.inf, 0, 5), '[0, 5]: -inf is not finite'),
    'NaN in one state': ([0, np.nan, 0, 0, 0, 0], '[1]: nan is not finite'),
    'a string': ('zero', "expected real numbers, got 'zero'"),
    'strings': (['0'] * 6, 'expected real numbers'),
    'complex': (np.zeros(6, complex), 'expected real numbers'),
    'bool': (np.zeros(6, bool), 'expected real numbers'),
    'objects': ([object()] * 6, 'expected real numbers'),
    'nothing': (None, 'expected real numbers, got None'),
    'ragged': ([[0] * 6, [0] * 5], 'expected real numbers'),
    'beyond float': ([10**400] * 6, 'expected real numbers'),
    'masked': (np.ma.masked_equal([7.0, 1, 2, 3, 4, 5], 7.0), 'expected numbers without a mask, got a masked array'),
    'nothing masked': (np.ma.zeros((4, 6)), 'expected numbers without a mask'),
    'masked rows': ([np.ma.masked_equal([7.0, 1, 2, 3, 4, 5], 7.0)] * 4, 'expected numbers without a mask'),
}


@pytest.mark.parametrize(('method', 'wrong'), crossed(METHODS, WRONG))
def test_a_wrong_argument_is_named(method, wrong):
    value, text = WRONG[wrong]
    for k, name in enumerate(METHODS[method][0].split()):
        parameter = {'x': 'tau' if method.startswith('forward_dynamics') else 'qdd'}.get(name, name)
        arguments = states('aubo_i5', method, (4,))
        arguments[k] = value
        with pytest.raises(ArgumentError) as error:
            call('aubo_i5', method, arguments)
        assert str(error.value).startswith((f'{parameter}: ', f'{parameter}[')) and text in str(error.value)
        assert len(str(error.value)) < 200


@pytest.mark.parametrize('batch', [(), (4,), (300,)], ids=str)
@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_an_angle_whose_sine_means_nothing_is_named_with_its_joint_and_the_limit(binding, batch):
    robot = of_binding(robot_of('aubo_i5'), binding)
    zeros = np.zeros((*batch, 6))
    for method, more in (('gravity_torque', ()), ('mass_matrix', ()), ('inverse_dynamics', (zeros, zeros))):
        for k, angle in ((0, LARGEST_ANGLE), (4, -1e17)):
            q = zeros.copy()
            q[..., k] = np.nextafter(np.copysign(LARGEST_ANGLE, angle), 0.0)
            assert np.isfinite(getattr(robot, method)(q, *more)).all()
            q.reshape(-1, 6)[-1, k] = angle
            with pytest.raises(ArgumentError) as error:
                getattr(robot, method)(q, *more)
            place = [*(length - 1 for length in batch), k]
            of_joint = f'rad of joint {robot.joint_names[k]!r} is not below 1.09951e+12 rad, '
            assert str(error.value).startswith(f'q{place}: the angle {angle:.6g} {of_joint}')


COORDINATES = {'prismatic': ((0,), ()), 'helical': ((), (0,)), 'planar': ((0, 1), (2,)), 'free': ((0, 1, 2), ())}
"""Indices in q of lengths and of angles."""


@pytest.mark.parametrize('kind', COORDINATES)
def test_coordinates_that_are_no_angles_have_no_limit(kind):
    robot = general(kind)
    slides, angles = COORDINATES[kind]
    for k in (*slides, *angles):
        q = robot.neutral()
        q[k] = 1e20
        if k in slides:
            assert np.isfinite(robot.link_pose(q, 'arm')).all()
        else:
            with pytest.raises(ArgumentError, match=rf"^q\[{k}\]: the angle 1e\+20 rad of joint 'a' is not below"):
                robot.link_pose(q, 'arm')


def test_positions_are_checked_where_no_kernel_reads_them():
    robot, q = robot_of('aubo_i5'), np.full(6, 1e15)
    with pytest.raises(ArgumentError, match="the angle 1e\\+15 rad of joint 'shoulder_joint' is not below"):
        robot.integrate(q, np.zeros(6))


def test_batches_that_do_not_broadcast_are_named_with_their_shapes():
    with pytest.raises(ArgumentError, match=r'do not broadcast: q \(4, 6\), qd \(3, 6\), tau \(6,\)$'):
        robot_of('aubo_i5').forward_dynamics(np.zeros((4, 6)), np.zeros((3, 6)), np.zeros(6))


WRONG_WRENCHES = {
    'unknown link': ({'elbow': np.zeros(6)}, UnknownNameError, "wrenches: no link 'elbow'; there are ee_link"),
    'length': ({'ee_link': np.zeros(5)}, ArgumentError, "wrenches['ee_link']: expected shape (..., 6), got (5,)"),
    'NaN': ({'ee_link': spoilt(np.nan, 1, 2)}, ArgumentError, "wrenches['ee_link'][1, 2]: nan is not finite"),
    'string': ({'ee_link': 'push'}, ArgumentError, "wrenches['ee_link']: expected real numbers, got 'push'"),
    'batch': ({'ee_link': np.zeros((3, 6))}, ArgumentError, "wrenches['ee_link']: batch shape (3,) does not broadcast"),
    'array': (np.zeros((6, 6)), ArgumentError, 'wrenches: expected shape (..., 7, 6), got (6, 6)'),
    'one wrench': (np.zeros(6), ArgumentError, 'wrenches: expected shape (..., 7, 6), got (6,)'),
    'array batch': (np.zeros((3, 7, 6)), ArgumentError, 'wrenches: batch shape (3,) does not broadcast to (4,)'),
    'array NaN': (np.full((7, 6), np.inf), ArgumentError, 'wrenches[0, 0]: inf is not finite'),
    'set': ({'ee_link'}, ArgumentError, 'wrenches: expected real numbers'),
}


@pytest.mark.parametrize('wrong', WRONG_WRENCHES)
@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics'])
@pytest.mark.parametrize('frame', FRAMES)
def test_a_wrong_wrench_is_named(method, wrong, frame):
    wrenches, error, text = WRONG_WRENCHES[wrong]
    for right in ({'ee_link': np.zeros(6)}, np.zeros((7, 6))):  # the fast path is prepared
        call('aubo_i5', method, states('aubo_i5', method, (4,)), wrenches=right, reference_frame=frame)
    with pytest.raises(error) as caught:
        call('aubo_i5', method, states('aubo_i5', method, (4,)), wrenches=wrenches, reference_frame=frame)
    assert text in str(caught.value) and type(caught.value) is error


@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics'])
def test_a_wrong_frame_of_wrenches_is_named(method):
    text = r"^reference_frame: expected one of world, local_world_aligned, local, got 'base'$"
    with pytest.raises(ArgumentError, match=text):
        call('aubo_i5', method, states('aubo_i5', method), wrenches={}, reference_frame='base')


def at_origin(mass=1.0, inertia=None) -> Payload:
    return Payload(mass, (0.0, 0.0, 0.0), np.zeros((3, 3)) if inertia is None else inertia)


REST = np.zeros(6)
REFUSED = {
    'unknown robot': (lambda r: Robot.named('ur5'), UnknownNameError, "robot 'ur5' is not part of the package"),
    'unknown link': (lambda r: r.link_pose(np.zeros(6), 'hand'), UnknownNameError, "no link 'hand'; there are"),
    'link of payload': (lambda r: r.with_payload(at_origin(), 'hand'), UnknownNameError, "no link 'hand'; there are"),
    'link as a list': (lambda r: r.link_pose(np.zeros(6), ['hand']), UnknownNameError, "no link ['hand']"),
    'no payload': (lambda r: r.with_payload(5.0), ArgumentError, 'payload: '),
    'gravity length': (lambda r: r.with_gravity((0, 0)), ArgumentError, 'gravity: expected shape (3,), got (2,)'),
    'gravity NaN': (lambda r: r.with_gravity((0, np.nan, 0)), ArgumentError, 'gravity[1]: nan is not finite'),
    'gravity masked': (lambda r: r.with_gravity(np.ma.zeros(3)), ArgumentError, 'gravity: expected numbers without a'),
    'result masked': (
        lambda r: r.mass_matrix(REST, out=np.ma.zeros((6, 6))),
        ArgumentError,
        'shape (6, 6), got Masked',
    ),
    'gravity string': (lambda r: r.with_gravity('down'), ArgumentError, "gravity: expected real numbers, got 'down'"),
    'mass negative': (lambda r: at_origin(-1.0), ArgumentError, 'mass: expected at least 0 kg, got -1.0'),
    'mass NaN': (lambda r: at_origin(np.nan), ArgumentError, 'mass: nan is not finite'),
    'mass inf': (lambda r: at_origin(np.inf), ArgumentError, 'mass: inf is not finite'),
    'mass string': (lambda r: at_origin('heavy'), ArgumentError, 'mass: '),
    'mass nothing': (lambda r: at_origin(None), ArgumentError, 'mass: '),
    'masses': (lambda r: at_origin(np.ones(2)), ArgumentError, 'mass: '),
    'com length': (lambda r: Payload(1.0, (0.0, 0.0)), ArgumentError, 'com: expected shape (3,), got (2,)'),
    'com NaN': (lambda r: Payload(1.0, (0.0, np.nan, 0.0)), ArgumentError, 'com[1]: nan is not finite'),
    'inertia asymmetric': (lambda r: at_origin(1.0, np.tri(3)), ArgumentError, 'inertia: expected a sym'),
    'inertia indefinite': (lambda r: at_origin(1.0, np.diag([1, 1, -1e-3])), ArgumentError, 'got -0.001, 1, 1 kg m^2'),
    'inertia of no body': (
        lambda r: at_origin(1.0, np.diag([1, 1, 2.1])),
        ArgumentError,
        'inertia: expected principal',
    ),
    'inertia without mass': (lambda r: at_origin(0.0, np.eye(3)), ArgumentError, 'inertia: expected zeros'),
    'inertia NaN': (lambda r: at_origin(1.0, np.full((3, 3), np.nan)), ArgumentError, 'inertia'),
    'inertia length': (lambda r: at_origin(1.0, np.zeros(6)), ArgumentError, 'inertia: expected'),
    'inertia in a row': (lambda r: r.with_payload(at_origin(1.0, np.zeros(9))), ArgumentError, 'inertia: expected'),
    'inertia ragged': (lambda r: at_origin(1.0, [[1.0, 2.0], [3.0]]), ArgumentError, 'inertia: expected'),
    'size negative': (
        lambda r: Payload.box(1, (1, -1, 1)),
        ArgumentError,
        'size: expected at least 0 m, got (1, -1, 1)',
    ),
    'size length': (lambda r: Payload.box(1, 1), ArgumentError, 'size: expected shape (3,), got ()'),
    'box mass': (lambda r: Payload.box(-1, (1, 1, 1)), ArgumentError, 'mass: expected at least 0 kg'),
    'box turned': (
        lambda r: Payload.box(1, (1, 1, 1), rotation=2 * np.eye(3)),
        ArgumentError,
        'rotation: expected a rot',
    ),
    'box center': (lambda r: Payload.box(1, (1, 1, 1), (0, 0)), ArgumentError, 'center: expected shape (3,), got (2,)'),
    'radius': (lambda r: Payload.cylinder(1, -0.1, 1), ArgumentError, 'radius: expected at least 0 m, got -0.1'),
    'length': (lambda r: Payload.cylinder(1, 0.1, np.nan), ArgumentError, 'length: nan is not finite'),
    'sphere radius': (lambda r: Payload.sphere(1, -0.1), ArgumentError, 'radius: expected at least 0 m, got -0.1'),
    'payload URDF': (lambda r: Payload.from_urdf('<link/>'), ModelError, 'robot description: <link>: expected <robot>'),
    'nothing carried': (
        lambda r: r.without_payload('ee_link'),
        UnknownNameError,
        "no payload on 'ee_link'; there are some",
    ),
    'base scaled': (
        lambda r: r.with_base_orientation(1.00001 * np.eye(3)),
        ArgumentError,
        "rotation: expected a rotation matrix, got one with R'R off the identity by 2e-05",
    ),
    'base reflected': (lambda r: r.with_base_orientation(-np.eye(3)), ArgumentError, 'rotation: expected a rotation'),
    'base NaN': (lambda r: r.with_base_orientation(np.full((3, 3), np.nan)), ArgumentError, 'rotation[0, 0]: nan'),
    'base shape': (lambda r: r.with_base_orientation((0, 0, 0, 1)), ArgumentError, 'rotation: expected shape (3, 3)'),
    'URDF': (lambda r: Robot.from_urdf('<robot/>'), ModelError, 'robot description: '),
    'actuators': (lambda r: r.with_actuators({'mass': {}}), ModelError, "actuators: 'mass': unknown"),
}


@pytest.mark.parametrize('wrong', REFUSED)
def test_a_misuse_is_refused_by_name(wrong):
    misuse, error, text = REFUSED[wrong]
    with pytest.raises(Exception) as caught:
        misuse(robot_of('aubo_i5'))
    assert type(caught.value) is error and text in str(caught.value)


@pytest.mark.parametrize('moments', [(1.0, 2.0, 2.5), (0.0, 1.0, 1.0)], ids=['body', 'rod'])
def test_a_turned_inertia_is_accepted(moments):
    """R J R' is symmetric and positive semidefinite up to rounding only."""
    for seed in range(10):
        turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
        turned = turn @ np.diag(moments) @ turn.T
        assert Payload(1.0, (0.0, 0.0, 0.0), turned).mass == 1.0
        assert Payload(1.0, (0.0, 0.0, 0.0), (turned + turned.T) / 2).mass == 1.0


def test_a_payload_stays_what_was_checked():
    inertia = np.eye(3)
    payload = Payload(1.0, (0.0, 0.0, 0.0), inertia)
    inertia[0, 0] = -1.0
    assert payload.inertia[0, 0] == 1.0


def test_payloads_can_be_compared():
    one, two = (Payload(1.0, (0.0, 0.0, 0.0), np.eye(3)) for _ in range(2))
    assert isinstance(one == two, bool)


@pytest.mark.parametrize('count', [1, pytest.param(300, marks=pytest.mark.compiled)])
@pytest.mark.parametrize('wrong', [np.nan, np.inf])
@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_a_result_in_place_of_an_argument_hides_nothing(binding, wrong, count):
    lift = of_binding(one('prismatic'), binding)  # its weight is the same everywhere
    for method, arguments in (('gravity_torque', 1), ('bias_torque', 2), ('inverse_dynamics', 3)):
        for k in range(arguments):
            vectors = np.zeros((arguments, count, 1))
            vectors[k, count // 2] = wrong
            given = vectors.copy()
            with pytest.raises(ArgumentError, match='is not finite'):
                getattr(lift, method)(*vectors, out=vectors[k])
            np.testing.assert_equal(vectors, given)


def without_inertia(joint) -> Robot:
    """Return three joints in a row of which the links from ``joint`` on have no inertia."""
    names, text, parent = ('first', 'second', 'third'), '<robot name="row"><link name="base"/>', 'base'
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    for name in names:
        body = f'<inertial><mass value="1"/>{inertia}</inertial>' if names.index(name) < names.index(joint) else ''
        ends = f'<parent link="{parent}"/><child link="{name}_link"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>'
        text += f'<link name="{name}_link">{body}</link><joint name="{name}" type="continuous">{ends}</joint>'
        parent = f'{name}_link'
    return Robot.from_urdf(text + '</robot>')


@pytest.mark.parametrize('batch', [(), (4,)], ids=str)
@pytest.mark.parametrize('joint', ['first', 'third'])
def test_joints_without_inertia_are_refused_in_forward_dynamics(joint, batch):
    with pytest.raises(ModelError, match='no inertia'):
        without_inertia(joint).forward_dynamics(np.zeros((*batch, 3)), np.zeros(3), np.ones(3))
    with pytest.raises(ModelError, match=r"^mass matrix inverse: joint '.*' has no inertia"):
        without_inertia(joint).mass_matrix_inverse(np.zeros((*batch, 3)))


def forked() -> Robot:
    """Return two links on the base, of which the first has no inertia: its code would divide by a constant 0."""
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    text = '<robot name="fork"><link name="base"/>'
    for name, body in (('left', ''), ('right', f'<inertial><mass value="1"/>{inertia}</inertial>')):
        ends = f'<parent link="base"/><child link="{name}_link"/><axis xyz="0 0 1"/>'
        text += f'<link name="{name}_link">{body}</link><joint name="{name}" type="continuous">{ends}</joint>'
    return Robot.from_urdf(text + '</robot>')


@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_a_link_without_inertia_beside_the_last_one_is_named(binding):
    robot, zeros = of_binding(forked(), binding), np.zeros(2)
    of_which = r"joint 'left' has no inertia"
    with pytest.raises(ModelError, match=f'^forward dynamics: {of_which}'):
        robot.forward_dynamics(zeros, zeros, np.ones(2))
    with pytest.raises(ModelError, match=f'^forward dynamics derivatives: {of_which}'):
        robot.forward_dynamics_derivatives(zeros, zeros, np.ones(2))
    with pytest.raises(ModelError, match=f'^mass matrix inverse: {of_which}'):
        robot.mass_matrix_inverse(zeros)
    assert (robot.mass_matrix(zeros) == np.diag([0.0, 1.0])).all()


@pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: a robot has no code of its own')
def test_code_of_a_robot_without_inertia_is_refused():
    robot = forked().compiled('forward_dynamics', 'mass_matrix')
    with pytest.raises(ModelError, match=r"^forward dynamics: joint 'left' has no inertia"):
        robot.address('forward_dynamics')
    with pytest.raises(ModelError, match=r"^forward dynamics: joint 'left' has no inertia"):
        robot.kernel('forward_dynamics')


def test_the_joint_without_inertia_is_named_and_no_other():
    with pytest.raises(ModelError, match=r"joint 'third'"):
        without_inertia('third').forward_dynamics(np.zeros(3), np.zeros(3), np.ones(3))


def test_a_speed_beyond_all_numbers_is_no_lack_of_inertia():
    q, qd, tau = np.zeros(6), np.full(6, 1e200), np.zeros(6)
    with pytest.raises((ArgumentError, ModelError)) as error:
        robot_of('aubo_i5').forward_dynamics(q, qd, tau)
    assert 'inertia' not in str(error.value)


@pytest.mark.skipif(not numba_is_disabled(), reason='Numba is enabled: kernels are machine code, and raise nothing')
@pytest.mark.parametrize('error', [ZeroDivisionError('of the test'), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize(('shape', 'at'), [((6,), 1), ((4, 6), 3)])
def test_an_exception_in_a_kernel_reaches_the_caller_as_it_is(monkeypatch, shape, at, error):
    robot, q, calls = Robot.named('aubo_i5'), np.zeros(shape), itertools.count(1)
    torque, compute = robot.inverse_dynamics(q, q, q), rnea.py_func

    def fails_once(*arguments):
        if next(calls) == at:
            raise error
        compute(*arguments)

    monkeypatch.setitem(rnea.__dict__, '_for_python', fails_once)
    with pytest.raises(type(error)) as raised:
        robot.inverse_dynamics(q, q, q)
    assert raised.value is error
    assert 'fails_once' in [entry.name for entry in raised.traceback]
    np.testing.assert_array_equal(robot.inverse_dynamics(q, q, q), torque)
