"""What methods that return another robot keep: everything that they do not change, method by method."""

import copy
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace

from support.robots.small_robots import general

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import Finding, Frame, Friction, Model
from robot_dynamics_ros.model.residual import FEATURES, ResidualModel
from robot_dynamics_ros.robot.changed_copies import ChangedCopies, Copied
from robot_dynamics_ros.robot.compiled_code import CompiledCode
from robot_dynamics_ros.robot.described_robot import Described, Setting

BALL, BOX = Payload(1.0, (0.1, 0.0, 0.2)), Payload(0.5, (0.0, 0.1, 0.0), np.diag([0.01, 0.02, 0.015]))
KIND_OF = {'turn': 'revolute', 'slide': 'prismatic', 'cart': 'planar', 'elbow': 'revolute', 'wrist': 'revolute'}
KIND_OF |= {'finger': 'revolute', 'thumb': 'revolute'}


FRAMES = {'tool': 'thumb_link', 'wrist_tip': 'wrist_link', 'plate': 'ground'}
SAID = 'said by the file'


def joint(number: int, name: str, kind: str) -> Joint:
    """Return a joint, in whose numbers none is a default, where its kind allows another."""
    single, k = KINDS[kind].coordinates == 1, number + 1.0
    return Joint(
        name,
        f'{name}_link',
        'ground' if number == 0 else f'{list(KIND_OF)[number - 1]}_link',
        kind,
        np.array([0.0, 1.0, 0.0]),
        np.eye(3),
        np.array([0.1 * k, 0.0, 0.2]),
        ten_parameters(k, [0.1, 0.0, 0.05], np.diag([0.2, 0.2, 0.3])),
        rotor=0.01 * k,
        spin=0.0002 * k if kind == 'revolute' else 0.0,
        **({'lower': -k, 'upper': k, 'stiffness': 5.0 * k, 'rest': 0.1 * k} if single else {}),
        velocity=2.0 * k,
        effort=50.0 * k,
        **{field: 0.1 * k + 0.01 * i for i, field in enumerate(Friction._fields)},
        gear_ratio=100.0 * k,
        torque_constant=3.0 * k,
        motor_coupling=(('elbow', 0.5),) if name == 'wrist' else (),
    )


def robot_with_everything() -> Robot:
    """Return a robot with numbers of its own in every field of its model and setting."""
    joints = [joint(i, name, kind) for i, (name, kind) in enumerate(KIND_OF.items())]
    numbers = {it.link: i for i, it in enumerate(joints, start=1)}
    frames = {name: Frame(numbers.get(link, 0), np.eye(3), np.array([0.0, 0.1, 0.3])) for name, link in FRAMES.items()}
    written = [Finding('warning', where, SAID) for where in ("joint 'elbow'", "link 'wrist_link'", 'option')]
    model = Model.of('everything', 'ground', joints, frames, written, ten_parameters(9.0, np.zeros(3), np.eye(3)))
    robot = Robot(model, (1.0, -2.0, -9.0))
    # each velocity of the planar joint has numbers of its own
    more = 0.01 * np.arange(robot.nv)
    robot = robot.with_friction(**{field: column + more for field, column in robot.friction._asdict().items()})
    robot = robot.with_limits(velocity=robot.limits.velocity + more, effort=robot.limits.effort + more)
    robot = robot.with_rotor_inertia(robot.rotor_inertia + more)
    closure = LoopClosure('bar', 'wrist_tip', np.eye(4), 'thumb_link', np.eye(4), 'revolute', 3.0, 0.2, 0.1)
    coupling = Coupling('thumb', 'finger', (0.1, 2.0))
    robot = robot.with_loops([closure, coupling], 7.0, 1e-4, ['elbow', 'wrist'], {'finger': 0.3})
    for link, payload in (('tool', BALL), ('elbow_link', BOX), ('plate', BALL)):
        robot = robot.with_payload(payload, link)
    return robot.compiled(threads=1)


def with_residual(robot: Robot) -> Robot:
    """Return the robot with a residual, and without the planar joint, which could have none."""
    robot = robot.with_locked_joints({'cart': [0.0, 0.0, 0.0]}).compiled(threads=1)
    n = robot.nv
    numbers = (np.full(n, it) for it in (50.0, 2.0, 1.0))
    return robot.with_residual(ResidualModel(robot.digest, robot.joint_names, *numbers, np.ones((n, len(FEATURES)))))


@pytest.fixture(scope='module')
def robot():
    return robot_with_everything()


def plain(value):
    """Return a value as something that compares by its numbers."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return {name: plain(it) for name, it in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return {it.name: plain(getattr(value, it.name)) for it in fields(value)} if is_dataclass(value) else value


def described(robot: Robot) -> dict:
    """Return all that a robot is made from, by name."""
    setting, model = robot._setting, robot._setting.model
    found = {it.name: getattr(setting, it.name) for it in fields(Setting) if it.name not in ('model', 'compiled')}
    found |= {it.name: getattr(model, it.name) for it in fields(Model)}
    for name in ('arrays', 'limits', 'friction', 'actuators'):
        found |= {f'{name}.{part}': it for part, it in found.pop(name)._asdict().items()}
    return {name: plain(it) for name, it in found.items()} | {'is_compiled': robot.is_compiled}


def different(one: Robot, other: Robot) -> set[str]:
    one, other = described(one), described(other)
    assert one.keys() == other.keys()
    return {name for name, value in one.items() if value != other[name]}


def pickled(robot: Robot) -> Robot:
    return pickle.loads(pickle.dumps(robot))


ARRAYS = ModelArrays._fields
LOOPS = {'loops', *(f'arrays.{it}' for it in ARRAYS[ARRAYS.index('loop_link') :])}
CHANGES: dict[str, tuple[Callable[[Robot], Robot], set[str]]] = {
    'compiled': (lambda robot: robot.compiled(threads=2), {'threads'}),
    'with_gravity': (lambda robot: robot.with_gravity((0.0, 0.0, 5.0)), {'gravity'}),
    'with_base_orientation': (lambda robot: robot.with_base_orientation(np.eye(3)), {'gravity'}),
    'with_payload': (lambda robot: robot.with_payload(BOX, 'tool'), {'payloads'}),
    'without_payload': (lambda robot: robot.without_payload('tool'), {'payloads'}),
    'with_friction': (lambda robot: robot.with_friction(viscous=1.5), {'friction.viscous'}),
    'with_limits': (lambda robot: robot.with_limits(velocity=1.5), {'limits.velocity'}),
    'with_residual': (lambda robot: robot.with_residual(None), {'residual'}),
}
"""Methods that change something, and what they change; of a robot that has a residual."""
CHANGES_OF_CONSTANTS: dict[str, tuple[Callable[[Robot], Robot], set[str]]] = {
    'with_rotor_inertia': (
        lambda robot: robot.with_rotor_inertia(2.0 * robot.rotor_inertia),
        {'arrays.rotor', 'arrays.spin'},
    ),
    'with_actuators': (
        lambda robot: robot.with_actuators({'torque_constant': dict.fromkeys(robot.joint_names, 2.0)}),
        {'actuators.torque_constant'},
    ),
    'with_loops': (lambda robot: robot.with_loops([]), LOOPS),
    'with_inertial_parameters': (
        lambda robot: robot.with_inertial_parameters(1.5 * robot.inertial_parameters),
        {'arrays.I', 'payloads'},
    ),
    'with_consistent_inertias': (lambda robot: robot.with_consistent_inertias(), {'arrays.I', 'findings'}),
}
"""Those that change constants, which a residual was fitted with."""
COPIES = {'pickle': pickled, 'deepcopy': copy.deepcopy, 'chain': lambda robot: robot.chain()}
OF_PARTS = {'chain', 'with_locked_joints', 'with_attached'}
"""Those that make other joints: tested below, joint by joint."""


def test_every_method_that_returns_a_robot_is_tested_here():
    methods = {name for kind in (ChangedCopies, CompiledCode) for name, it in vars(kind).items() if returns_a_robot(it)}
    assert methods == CHANGES.keys() | CHANGES_OF_CONSTANTS.keys() | OF_PARTS


def returns_a_robot(method) -> bool:
    return (
        inspect.isfunction(method)
        and inspect.signature(method).return_annotation in (Copied, Described)
        and not method.__name__.startswith('_')
    )


@pytest.mark.parametrize('method', CHANGES | COPIES)
def test_what_a_method_does_not_change_is_kept(robot, method):
    robot = with_residual(robot)
    change, expected = CHANGES.get(method) or (COPIES[method], set())
    assert different(robot, change(robot)) == expected


@pytest.mark.parametrize('method', CHANGES_OF_CONSTANTS)
def test_what_a_change_of_constants_does_not_change_is_kept(robot, method):
    if method == 'with_consistent_inertias':
        parameters = robot.without_payload().inertial_parameters
        parameters = parameters.copy()
        parameters[4] *= 9.0
        robot = robot.with_inertial_parameters(parameters)
    change, expected = CHANGES_OF_CONSTANTS[method]
    assert different(robot, change(robot)) - {'is_compiled'} == expected


def record(robot: Robot, name: str, prefix: str = '') -> dict:
    """Return all fields of a joint, without ``prefix`` in names."""
    (found,) = (it for it in robot._setting.model.joints if it.name == prefix + name)
    values = {it.name: getattr(found, it.name) for it in fields(Joint)}
    values |= {it: values[it].removeprefix(prefix) for it in ('name', 'link', 'parent')}
    values['motor_coupling'] = tuple((other.removeprefix(prefix), ratio) for other, ratio in found.motor_coupling)
    return {it: plain(value) for it, value in values.items()}


def kept_setting(robot: Robot) -> dict:
    """Return the fields of a setting that belong to no joint or link."""
    of_parts = ('model', 'payloads', 'residual', 'compiled')
    return {it.name: plain(getattr(robot._setting, it.name)) for it in fields(Setting) if it.name not in of_parts}


def test_a_chain_keeps_all_of_its_joints(robot):
    tree = robot.with_loops([])
    part = tree.chain('ground', 'wrist_link')
    assert part.joint_names == ('turn', 'slide', 'cart', 'elbow', 'wrist')
    for name in part.joint_names:
        assert record(part, name) == record(tree, name)
    assert kept_setting(part) == kept_setting(tree)
    assert plain(part.payloads) == plain({'elbow_link': BOX, 'plate': BALL})
    assert set(part.frame_names) == {*part.link_names, 'plate', 'wrist_tip'}
    assert {it for it in part.findings if it.message == SAID} == {it for it in tree.findings if it.message == SAID}
    lost = sum(tree.model.arrays.I[-2:, 0])
    assert any(f'are cut off, with {lost:.4g} kg' in it.message for it in part.findings)
    # all that the closures need
    whole = robot.chain('slide_link', gravity=robot.gravity)
    assert plain(whole.loops) == plain(robot.loops) and whole.payloads.keys() == {'tool', 'elbow_link'}


def test_locked_joints_leave_all_of_the_others(robot):
    held = robot.with_locked_joints({'slide': 0.2})
    assert held.joint_names == tuple(name for name in robot.joint_names if name != 'slide')
    for name in held.joint_names:
        found, expected = record(held, name), record(robot, name)
        if name == 'turn':  # which moves the link of the locked joint, too
            del found['inertia'], expected['inertia']
        if name == 'cart':  # which it moves
            for field in ('parent', 'origin', 'rotation'):
                del found[field], expected[field]
        assert found == expected
    assert kept_setting(held) == kept_setting(robot)
    assert plain(held.payloads) == plain(robot.payloads) and plain(held.loops) == plain(robot.loops)
    assert set(held.frame_names) == set(robot.frame_names)
    assert [it for it in held.findings if it.message == SAID] == [it for it in robot.findings if it.message == SAID]


def test_attached_robots_keep_all_of_both(robot):
    both = robot.with_attached(robot.with_gravity((0.0, 0.0, 3.0)), 'tool', prefix='b_')
    assert both.joint_names == (*robot.joint_names, *(f'b_{name}' for name in robot.joint_names))
    for name in robot.joint_names:
        of_one, of_other, expected = record(both, name), record(both, name, 'b_'), record(robot, name)
        if name == list(KIND_OF)[-1]:  # which carries the other one
            del of_one['inertia']
            assert of_one == {field: value for field, value in expected.items() if field != 'inertia'}
        else:
            assert of_one == expected
        if name == 'turn':
            for field in ('parent', 'origin', 'rotation'):
                del of_other[field], expected[field]
        assert of_other == expected
    assert kept_setting(both) == kept_setting(robot)
    expected = {**robot.payloads, **{f'b_{name}': it for name, it in robot.payloads.items()}}
    assert plain(both.payloads) == plain(expected)
    q = 0.3 * np.arange(both.nq)
    assert both.gravity_torque(q) == pytest.approx(lumped(both).gravity_torque(q), rel=1e-12, abs=1e-12)
    assert len([it for it in both.findings if it.message == SAID]) == 6
    assert {it.name for it in both.loops.closures} == {'bar', 'b_bar'}
    assert both.loops.actuated == ('elbow', 'wrist', 'b_elbow', 'b_wrist')


def lumped(robot: Robot) -> Robot:
    """Return the robot with its payloads as a part of its links."""
    return robot.with_inertial_parameters(robot.inertial_parameters)


@pytest.mark.parametrize('change', sorted(OF_PARTS))
def test_a_residual_of_other_joints_is_refused(robot, change):
    learnt = with_residual(robot.with_loops([]))
    arguments = {'chain': ('ground', 'elbow_link'), 'with_locked_joints': ({'slide': 0.2},)}
    with pytest.raises(ArgumentError, match='residual'):
        getattr(learnt, change)(*arguments.get(change, (robot, 'tool', None, 'b_')))


def test_numbers_of_each_velocity_are_written_or_refused():
    planar = general('planar').with_friction(viscous=[1.0, 2.0, 2.0])
    with pytest.raises(ModelError, match=r"joint 'a': a URDF has one viscous a joint, got \[1.0, 2.0, 2.0\]"):
        planar.to_urdf()
    assert Robot.from_yaml(planar.to_yaml()).friction.viscous.tolist() == [1.0, 2.0, 2.0]
    text = planar.with_friction(transition=[1.0, 2.0, 3.0]).to_yaml()
    for wrong, complaint in (
        ('[1.0, 2.0, -1.0]', 'expected more than 0'),
        ('[1.0]', r'finite numbers of shape \(3,\)'),
    ):
        with pytest.raises(ModelError, match=rf"joint 'a': of_each: transition: .*{complaint}"):
            Robot.from_yaml(text.replace('[1.0, 2.0, 3.0]', wrong))
    with pytest.raises(
        ModelError, match=r"joint 'a': a YAML file holds a known velocity of each, got \[1.0, nan, nan\]"
    ):
        Robot(replace(planar.model, limits=planar.limits._replace(velocity=np.array([1.0, np.nan, np.nan])))).to_yaml()
