"""What the digest of a model tells apart: two with the same one have the same torques, friction aside."""

import dataclasses

from support.robots.mechanisms import MECHANISMS, actuated, four_bar

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.control.arm.driven_robot import in_driven_joints
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.closed_loops.loop_types import Loops
from robot_dynamics_ros.model.digest import FORCES, model_digest, robot_digest, same_motion
from robot_dynamics_ros.model.model import Model

JOINTS = 'crank joint', 'coupler joint', 'rocker joint'
HINGE = LoopClosure('hinge', 'coupler', np.eye(4), 'rocker', np.eye(4), 'revolute', 3.0, 0.2, 0.1)
"""All of its fields count."""
GEAR = Coupling('rocker joint', 'crank joint', (0.1, 0.5, 0.2))
NEAR = {'crank joint': 1.0, 'coupler joint': -0.2, 'rocker joint': 1.6}
LOOPS = Loops((HINGE,), (GEAR,), actuated=JOINTS[:1], near=NEAR)

OF_LOOPS = {
    'closures': (),
    'couplings': (),
    'gain': 7.0,
    'tolerance': 1e-4,
    'actuated': JOINTS[2:],
    'near': {**NEAR, 'rocker joint': -1.6},
}
OF_CLOSURE = {
    'link_a': None,
    'pose_a': np.diag([1.0, -1.0, -1.0, 1.0]),
    'link_b': None,
    'pose_b': np.diag([1.0, -1.0, -1.0, 1.0]),
    'kind': 'weld',
    'stiffness': 4.0,
    'damping': 0.3,
    'rest': 0.2,
}
OF_COUPLING = {'joint': 'coupler joint', 'other': 'coupler joint', 'polynomial': (0.1, 0.6, 0.2)}
BY_ANOTHER_FIELD = {
    'joint_kinds': 'arrays have axes, slides and angles of the joints',
    'rotations': 'arrays have products of them',
    'pitches': 'likewise',
}
NOT_IN_IT = {
    'name': 'no number',
    'joint_names': 'compared beside the digest',
    'link_names': 'no number',
    'limits': 'parameters of nodes may replace them',
    'friction': 'a term of its own, which one node adds and another leaves out',
    'actuators': 'of what is measured; rotor inertias are in the arrays',
    'motor_coupling': 'of friction, and of what is measured',
    'frames': 'of poses and wrenches',
    'findings': 'no number',
}


def tree() -> Robot:
    return four_bar().open


def digest_of(loops: Loops) -> str:
    robot = tree().with_loops(loops.all, loops.gain, loops.tolerance, actuated=loops.actuated, near=loops.near)
    return robot.digest


def test_all_fields_are_judged():
    """One that is added has to be decided about."""
    fields = {it.name for it in dataclasses.fields(Model)}
    assert fields == {'arrays', 'loops', *BY_ANOTHER_FIELD, *NOT_IN_IT}
    assert {it.name for it in dataclasses.fields(Loops)} == set(OF_LOOPS)
    assert {it.name for it in dataclasses.fields(LoopClosure)} == {'name', *OF_CLOSURE}
    assert {it.name for it in dataclasses.fields(Coupling)} == set(OF_COUPLING)


@pytest.mark.parametrize('field', OF_LOOPS)
def test_each_field_of_the_loops_counts(field):
    assert digest_of(dataclasses.replace(LOOPS, **{field: OF_LOOPS[field]})) != digest_of(LOOPS)


@pytest.mark.parametrize('field', OF_CLOSURE)
def test_each_field_of_a_closure_counts(field):
    given = OF_CLOSURE[field]
    hinge = dataclasses.replace(HINGE, stiffness=0.0, damping=0.0, rest=0.0) if field == 'kind' else HINGE
    changed = dataclasses.replace(hinge, **{field: given})
    one, other = (dataclasses.replace(LOOPS, closures=(it,)) for it in (hinge, changed))
    assert digest_of(one) != digest_of(other)


@pytest.mark.parametrize('field', OF_COUPLING)
def test_each_field_of_a_coupling_counts(field):
    changed = dataclasses.replace(GEAR, **{field: OF_COUPLING[field]})
    assert digest_of(dataclasses.replace(LOOPS, couplings=(changed,))) != digest_of(LOOPS)


@pytest.mark.parametrize('field', ModelArrays._fields)
def test_each_array_counts(field):
    """But for the inertia of the last link, which payloads change."""
    joints = tree().model.joints
    sprung = [dataclasses.replace(joints[0], stiffness=2.0, rest=0.1), *joints[1:]]
    model = Robot(Model.of('sprung', 'base', sprung)).with_loops(LOOPS.all).model
    array = np.array(getattr(model.arrays, field))
    array.flat[0] += 1
    changed = model.arrays._replace(**{field: array})
    assert robot_digest(changed) != robot_digest(model.arrays)


@pytest.mark.parametrize('field', NOT_IN_IT)
def test_other_fields_do_not_count(field):
    """Nor does the order in which joints are stated, nor a position of 0."""
    model = tree().with_loops(LOOPS.all, actuated=JOINTS[:1]).model
    given = getattr(model, field)
    if field in ('limits', 'friction', 'actuators'):
        changed = type(given)(*(np.nan_to_num(it) + 0.5 for it in given))
    elif field == 'motor_coupling':
        changed = ((1, 0, 0.5),)
    elif field == 'frames':
        changed = {**given, 'another': given['coupler']}
    else:
        changed = f'{given}!' if isinstance(given, str) else (*given[:-1], 'another')
    assert model_digest(dataclasses.replace(model, **{field: changed})) == model_digest(model)
    assert digest_of(dataclasses.replace(LOOPS, near=dict(reversed([*NEAR.items()])))) == digest_of(LOOPS)


def test_the_assembly_mode_of_a_four_bar_is_told_apart():
    """Its torques differ."""
    modes = (1.0, -0.2, 1.6), (1.0, -1.9, -2.6)
    robots = [actuated(four_bar('planar_point', near=mode), JOINTS[:1]) for mode in modes]
    one, other = map(in_driven_joints, robots)
    assert np.abs(one.gravity_torque([1.0]) - other.gravity_torque([1.0])).max() > 0.1
    assert one.digest != other.digest == Robot.from_yaml(robots[1].to_yaml()).digest


def test_actuated_joints_and_positions_of_robots_without_loops_do_not_count():
    """Nor do those of mimic joints."""
    coupling = Coupling('rocker joint', 'crank joint', (0.1, 0.5))
    plain, stated = (tree().with_loops([coupling], actuated=it) for it in ((), JOINTS[:2]))
    assert plain.digest == stated.digest == robot_digest(plain.model.arrays)
    assert MECHANISMS['parallelogram'].open.digest == robot_digest(MECHANISMS['parallelogram'].open.model.arrays)


MOTIONS = [
    'parent',
    'first',
    'before',
    'angle',
    'quaternion',
    'slide',
    'slides',
    'E0',
    'Ec',
    'Es',
    'r0',
    'r1',
    'S',
    'loop_link',
    'loop_R',
    'loop_p',
    'constrained',
    'coupled',
    'polynomial',
    'loop_tolerance',
]
"""Arrays that positions, velocities and constraints depend on."""


def test_each_array_is_one_of_motions_or_of_forces():
    assert {*MOTIONS} | {*FORCES} == {*ModelArrays._fields} and not {*MOTIONS} & {*FORCES}


@pytest.mark.parametrize('name', ModelArrays._fields)
def test_two_models_have_the_same_motion_whatever_their_links_weigh(name):
    model = tree().with_loops(LOOPS.all).model
    array = getattr(model.arrays, name)
    other = dataclasses.replace(model, arrays=model.arrays._replace(**{name: array + 1}))
    assert array.size and same_motion(model, other) == (name in FORCES) and same_motion(model, model)
