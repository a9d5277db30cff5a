"""Closed loops on ``Robot``: what its methods return for one state and for batches, and what they refuse."""

import pickle
from dataclasses import replace

from support.code.bindings import of_binding
from support.robots import random_trees as trees
from support.robots.mechanisms import cable
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, LoopError, ModelError, UnknownNameError
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

pytestmark = [pytest.mark.plain, pytest.mark.quick]

CRANK, COUPLER, ROCKER, BASE = 0.3, 0.7, 0.5, 0.8  # m


def bar(name: str, parent: str, origin: float, length: float) -> Joint:
    """Return a revolute joint about z with a slender bar along x."""
    inertia = ten_parameters(length, np.array([length / 2, 0.0, 0.0]), np.diag([1e-3, length**3 / 12, length**3 / 12]))
    return Joint(
        name,
        f'{name}_link',
        parent,
        'revolute',
        np.array([0.0, 0.0, 1.0]),
        np.eye(3),
        np.array([origin, 0, 0]),
        inertia,
    )


def at(x: float) -> np.ndarray:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def four_bar(kind='point', **more) -> Robot:
    """Return a planar four-bar linkage in a vertical plane: two bars on the base, closed at the end of the coupler."""
    joints = [
        bar('crank', 'base', 0.0, CRANK),
        bar('coupler', 'crank_link', CRANK, COUPLER),
        bar('rocker', 'base', BASE, ROCKER),
    ]
    closure = LoopClosure('pin', 'coupler_link', at(COUPLER), 'rocker_link', at(ROCKER), kind, **more)
    robot = Robot(Model.of('four_bar', 'base', joints), gravity=(0.0, -9.81, 0.0))
    return robot.with_loops([closure])


def on_crank(name: str, *pose, **more) -> LoopClosure:
    return LoopClosure(name, 'crank_link', *pose, **more)


def states(robot, batch=(), seed=1) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities (..., 3) with closed loops."""
    random = np.random.default_rng(seed)
    start = np.array([1.0, -0.7, 1.6]) + random.uniform(-0.2, 0.2, (*batch, 3))
    return robot.close_loops(start, random.normal(size=(*batch, 3)))


def torques(batch=(), seed=2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(*batch, 3))


ROBOT = four_bar()


def test_closed_states_are_closed():
    q, qd = states(ROBOT, (4, 2))
    assert q.shape == qd.shape == (4, 2, 3)
    assert np.abs(ROBOT.loop_errors(q)).max() < 1e-13
    assert np.abs(ROBOT.loop_rates(q, qd)).max() < 1e-13
    assert ROBOT.close_loops(q[0, 0]).qd is None


@pytest.mark.rounding
def test_velocities_are_the_nearest_in_kinetic_energy():
    q, _ = states(ROBOT)
    qd = np.array([1.0, 2.0, -1.0])
    after = ROBOT.impact(q, qd)
    lost = ROBOT.kinetic_energy(q, qd) - ROBOT.kinetic_energy(q, after)
    # Pythagoras in the mass metric
    assert abs(lost - ROBOT.kinetic_energy(q, qd - after)) < bound(20, 3, scale=ROBOT.kinetic_energy(q, qd))
    assert lost > 0.1
    condition = np.linalg.cond(ROBOT.mass_matrix(q))
    assert np.abs(ROBOT.impact(q, after) - after).max() < bound(20, 3, condition, np.abs(after).max())


def test_accelerations_keep_the_loop_closed_and_forces_do_no_work():
    q, qd = states(ROBOT, (5,))
    tau = torques((5,))
    qdd = ROBOT.forward_dynamics(q, qd, tau)
    assert np.abs(ROBOT.loop_accelerations(q, qd, qdd)).max() < 1e-11
    forces, J = ROBOT.constraint_forces(q, qd, tau), ROBOT.loop_jacobian(q)
    needed = ROBOT.inverse_dynamics(q, qd, qdd) - tau
    assert np.abs((np.swapaxes(J, -1, -2) @ forces[..., None])[..., 0] - needed).max() < 1e-11
    assert np.abs((forces * (J @ qd[..., None])[..., 0]).sum(-1)).max() < 1e-12


def test_forces_of_dependent_rows_are_the_least_ones():
    q, qd = states(ROBOT)
    tau = torques()
    twice = ROBOT.with_loops(
        [*ROBOT.model.loops.closures, LoopClosure('again', 'coupler_link', at(COUPLER), 'rocker_link', at(ROCKER))]
    )
    forces = ROBOT.constraint_forces(q, qd, tau)
    both = twice.constraint_forces(q, qd, tau)
    # along z nothing is held: the axes of A are turned about it
    assert np.abs(both - np.tile(forces, 2) / 2.0).max() < 1e-11
    assert np.abs(twice.forward_dynamics(q, qd, tau) - ROBOT.forward_dynamics(q, qd, tau)).max() < 1e-11
    assert twice.mobility(q) == ROBOT.mobility(q) == 1


def test_torques_of_actuated_joints_produce_the_motion():
    q, qd = states(ROBOT, (4,))
    qdd = ROBOT.forward_dynamics(q, qd, torques((4,)))
    for actuated in (['crank'], ['rocker'], ['crank', 'rocker']):
        tau = ROBOT.inverse_dynamics(q, qd, qdd, actuated=actuated)
        assert not tau[:, [i for i, name in enumerate(ROBOT.joint_names) if name not in actuated]].any()
        assert np.abs(ROBOT.forward_dynamics(q, qd, tau) - qdd).max() < 1e-10
    # of all that produce it, the least ones
    least = ROBOT.inverse_dynamics(q, qd, qdd, actuated=ROBOT.joint_names)
    assert (np.linalg.norm(least, axis=-1) < np.linalg.norm(ROBOT.inverse_dynamics(q, qd, qdd), axis=-1)).all()


def test_joints_that_cannot_produce_a_motion_are_named():
    free = ROBOT.with_loops([])
    with pytest.raises(ArgumentError, match='q: the joints crank, rocker cannot produce this motion'):
        free.inverse_dynamics([1.0, 1.0, 1.0], np.zeros(3), np.ones(3), actuated=['crank', 'rocker'])
    with pytest.raises(UnknownNameError, match="actuated: no joint 'elbow'; there are crank"):
        ROBOT.inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), actuated=['elbow'])
    with pytest.raises(ArgumentError, match='actuated: expected a list of joint names'):
        ROBOT.inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), actuated='crank')


@pytest.mark.parametrize('batch', [(), (1,), (2, 3), pytest.param((40,), marks=pytest.mark.compiled)], ids=str)
def test_every_form_of_arguments(batch):
    q, qd = states(ROBOT, batch)
    tau = torques(batch)
    for found, item in (
        (lambda out=None: ROBOT.loop_errors(q, out=out), (3,)),
        (lambda out=None: ROBOT.loop_jacobian(q, out=out), (3, 3)),
        (lambda out=None: ROBOT.loop_rates(q, qd, out=out), (3,)),
        (lambda out=None: ROBOT.loop_accelerations(q, qd, tau, out=out), (3,)),
        (lambda out=None: ROBOT.constraint_forces(q, qd, tau, out=out), (3,)),
        (lambda out=None: ROBOT.impact(q, qd, out=out), (3,)),
        (lambda out=None: ROBOT.closure_torque(q, {'pin': 2.0}, out=out), (3,)),
        (lambda out=None: ROBOT.forward_dynamics(q, qd, tau, out=out), (3,)),
    ):
        out = np.empty((*batch, *item))
        assert found(out) is out
        assert np.array_equal(out, found())
    assert ROBOT.mobility(q).shape == batch
    # rows of a batch have the bits of single states
    for index in np.ndindex(batch):
        assert np.array_equal(
            ROBOT.forward_dynamics(q, qd, tau)[index], ROBOT.forward_dynamics(q[index], qd[index], tau[index])
        )


@pytest.mark.compiled
def test_bindings_have_the_same_bits():
    q, qd = states(ROBOT, (20,))
    generic, special = (of_binding(ROBOT, binding) for binding in ('generic', 'own'))
    assert np.array_equal(
        generic.forward_dynamics(q, qd, torques((20,))), special.forward_dynamics(q, qd, torques((20,)))
    )
    wrenches = {'coupler_link': [0.1, 0.2, 0.3, 4.0, 5.0, 6.0]}
    assert np.array_equal(
        generic.forward_dynamics(q, qd, torques((20,)), wrenches),
        special.forward_dynamics(q, qd, torques((20,)), wrenches),
    )


@pytest.mark.parametrize('wrenches', [{'coupler_link': 1}, {'coupler_link': 1, 'rocker_link': 2}, 'all'], ids=str)
def test_wrenches_act_as_their_joint_torques(wrenches):
    q, qd = states(ROBOT)
    random = np.random.default_rng(3)
    all_links = wrenches == 'all'
    wrenches = random.normal(size=(4, 6)) if all_links else {link: random.normal(size=6) for link in wrenches}
    rest = np.zeros(3)
    by_torques = ROBOT.inverse_dynamics(q, rest, rest) - ROBOT.inverse_dynamics(q, rest, rest, wrenches)
    found = ROBOT.forward_dynamics(q, qd, torques(), wrenches)
    assert np.abs(found - ROBOT.forward_dynamics(q, qd, torques() + by_torques)).max() < 1e-11


def test_errors_decay_at_the_gain():
    q, qd = np.array([1.0, -0.7, 1.6]), np.array([0.1, 0.2, -0.3])
    for gain in (0.0, 7.0, 20.0):
        robot = ROBOT.with_loops(ROBOT.model.loops.closures, gain=gain)
        qdd = robot.forward_dynamics(q, qd, torques())
        wanted = -2.0 * gain * robot.loop_rates(q, qd) - gain**2 * robot.loop_errors(q)
        assert np.abs(robot.loop_accelerations(q, qd, qdd) - wanted).max() < 1e-10
    assert np.array_equal(qdd, ROBOT.forward_dynamics(q, qd, torques()))  # the default


def test_a_spring_and_a_damper_act_about_the_closing_axis():
    sprung = four_bar('revolute', stiffness=3.0, damping=0.5, rest=0.4)
    q, qd = states(sprung)
    angle = q[2] - q[0] - q[1]
    torque = 3.0 * (0.4 - angle) - 0.5 * (qd[2] - qd[0] - qd[1])
    tau = torques()
    by_motor = four_bar('revolute').closure_torque(q, {'pin': torque})
    assert np.abs(sprung.forward_dynamics(q, qd, tau) - ROBOT.forward_dynamics(q, qd, tau + by_motor)).max() < 1e-10
    # the spring counts among what the actuated joints need not do
    qdd = sprung.forward_dynamics(q, qd, tau)
    alone = sprung.inverse_dynamics(q, qd, qdd, actuated=['crank'])
    assert np.abs(sprung.forward_dynamics(q, qd, alone) - qdd).max() < 1e-10


@pytest.mark.parametrize('angle', [-3.1, -2.0, -0.3, 0.0, 1e-9, 0.7, 1.6, 3.0])
def test_the_angle_of_a_spring_is_right_up_to_half_a_turn(angle):
    door = Robot(Model.of('door', 'base', [bar('hinge', 'base', 0.0, 1.0)]), gravity=(0.0, 0.0, 0.0))
    door = door.with_loops([LoopClosure('spring', None, at(0.0), 'hinge_link', kind='revolute', stiffness=1.0)])
    assert abs(door.inverse_dynamics([angle], [0.0], [0.0], actuated=['hinge'])[0] - angle) < 1e-14 * max(
        1.0, 1 / (3.15 - abs(angle))
    )


@pytest.mark.rounding
def test_coupled_joints_move_together():
    robot = ROBOT.with_loops([Coupling('rocker', 'crank', (0.2, -0.5, 0.3)), Coupling('coupler', None, (0.1,))])
    q, qd = robot.close_loops([0.4, 0.0, 0.0], [1.0, 2.0, 3.0])
    closed = bound(20, 3, np.linalg.cond(robot.mass_matrix(q)), max(1.0, np.abs(qd).max()))
    assert abs(q[2] - (0.2 - 0.5 * q[0] + 0.3 * q[0] ** 2)) < closed and abs(q[1] - 0.1) < closed
    assert abs(qd[2] - (-0.5 + 0.6 * q[0]) * qd[0]) < closed and abs(qd[1]) < closed
    qdd = robot.forward_dynamics(q, qd, torques())
    assert abs(qdd[2] - (-0.5 + 0.6 * q[0]) * qdd[0] - 0.6 * qd[0] ** 2) < closed * np.abs(qdd).max()
    # the same motion with the ratio's torque put in by hand: the effective inertia of both joints
    slope = -0.5 + 0.6 * q[0]
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert abs((tau - torques()) @ [1.0, 0.0, slope]) < 1e-11


@pytest.mark.compiled
def test_long_light_chains_are_closed_from_afar():
    robot = cable(100).robot
    random = np.random.default_rng(0)
    for width in (0.1, 0.4, 0.8):
        q = robot.close_loops(random.uniform(-width, width, 100)).q
        assert np.abs(robot.loop_errors(q)).max() < 1e-12


def test_torques_of_joints_that_the_loops_hold_are_not_rounding():
    """A joint without effect has no torque, however little rounding leaves of its effect."""
    robot = Robot.named('aubo_i5')
    q, zero = np.radians([0, -30, 60, 0, 60, 0]), np.zeros(6)
    grasp = robot.link_pose(q, 'wrist3_Link')
    arm = robot.with_loops([LoopClosure('crank', None, grasp, 'wrist3_Link', kind='revolute')])
    turned = np.eye(6)[5]
    with pytest.raises(ArgumentError, match='q: the joints shoulder_joint cannot produce this motion'):
        arm.inverse_dynamics(q, zero, turned, actuated=['shoulder_joint'])
    with pytest.raises(ArgumentError, match='q: the empty list of joints cannot produce this motion'):
        arm.inverse_dynamics(q, zero, turned, actuated=[])
    with pytest.raises(ArgumentError, match="actuated: joint 'wrist3_joint' occurs twice"):
        arm.inverse_dynamics(q, zero, turned, actuated=['wrist3_joint', 'wrist3_joint'])
    # the loop alone keeps the arm at rest, up to rounding
    weightless = arm.with_gravity([0.0, 0.0, 0.0])
    assert not weightless.inverse_dynamics(q, zero, zero, actuated=['shoulder_joint']).any()
    held = robot.with_loops([LoopClosure('held', None, grasp, 'wrist3_Link', kind='weld')])
    assert not held.inverse_dynamics(q, zero, zero, actuated=['shoulder_joint']).any()


def test_of_accelerations_that_the_loops_do_not_allow_the_nearest_ones_are_produced():
    q, qd = states(ROBOT)
    asked = np.array([1.0, -2.0, 0.5])
    exact = ROBOT.with_loops(ROBOT.loops.all, gain=0.0)
    qdd = exact.forward_dynamics(q, qd, ROBOT.inverse_dynamics(q, qd, asked, actuated=['crank']))
    J, M = ROBOT.loop_jacobian(q), ROBOT.mass_matrix(q)
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    nearest = np.linalg.lstsq(K, np.concatenate([M @ asked, J @ qdd]), rcond=1e-12)[0][:3]
    np.testing.assert_allclose(qdd, nearest, atol=1e-9)


def test_loops_that_cannot_be_closed_are_named():
    short = ROBOT.with_loops([LoopClosure('too short', 'coupler_link', at(0.1), 'rocker_link', at(0.1))])
    with pytest.raises(LoopError, match=r"q: loop 'too short' cannot be closed from here; it stays open by 0\."):
        short.close_loops([1.0, 1.0, 1.0])
    with pytest.raises(LoopError, match=r"q\[0, [01]\]: loop 'too short'"):
        short.close_loops(np.array([[[0.9, 1.0, 1.0], [0.1, 0.3, 0.2]]]))


@pytest.mark.parametrize(
    ('loops', 'error', 'message'),
    [
        (5, ArgumentError, 'loops: expected a list, got 5'),
        (['pin'], ArgumentError, "loops: expected a LoopClosure or a Coupling, got 'pin'"),
        ([on_crank('a', link_b='crank_link')], ModelError, 'are one rigid body'),
        ([on_crank('a', link_b='elbow')], UnknownNameError, "loop 'a': link_b: no link 'elbow'; there are"),
        ([on_crank('a', kind='ball')], ModelError, "loop 'a': kind: expected one of point, weld"),
        ([on_crank('')], ModelError, 'loops: name: expected a name'),
        ([on_crank('a', np.ones((4, 4)))], ModelError, "loop 'a': pose_a: expected a rotation"),
        ([on_crank('a', stiffness=1.0)], ModelError, 'damping and rest are of revolute'),
        ([on_crank('a', kind='revolute', damping=-1.0)], ModelError, "loop 'a': damping: expected"),
        ([on_crank('a', kind='revolute', stiffness=1.0, rest=4.0)], ModelError, "loop 'a': rest: expected an angle"),
        (2 * [on_crank('a')], ModelError, "loop 'a': the name occurs twice"),
        ([Coupling('crank', 'crank', (1.0,))], ModelError, "joint 'crank': it is coupled to itself"),
        ([Coupling('elbow', 'crank', (1.0,))], ModelError, "coupling of joint 'elbow': no joint 'elbow'"),
        ([Coupling(None, 'crank', (1.0,))], ModelError, 'coupling of joint None: no joint None'),
        ([Coupling('crank', 'rocker', ())], ModelError, 'polynomial: expected 1 to 5 numbers, got 0'),
        ([Coupling('crank', 'rocker', (0, 1, 0, 0, 0, 1))], ModelError, 'polynomial: expected 1 to 5 numbers, got 6'),
        ([Coupling('crank', 'rocker', 'ab')], ModelError, 'polynomial: expected'),
        ([Coupling('crank', None, (1.0, 1.0))], ModelError, 'polynomial: expected a constant'),
        (2 * [Coupling('crank', None, (1.0,))], ModelError, "coupling of joint 'crank': the joint has two couplings"),
    ],
)  # fmt: skip
def test_wrong_loops_are_refused_by_name(loops, error, message):
    with pytest.raises(error, match=message):
        ROBOT.with_loops(loops)


@pytest.mark.parametrize('gain', [-1.0, np.nan, 'fast'])
def test_wrong_gains_are_refused(gain):
    with pytest.raises(ModelError, match='gain: expected'):
        ROBOT.with_loops([], gain=gain)


def test_joints_of_several_coordinates_are_not_coupled():
    joints = trees.random_joints(3, count=6, general=1.0)
    (kind, name), *_ = (
        (joint.kind, joint.name) for joint in joints if joint.kind in ('free', 'spherical', 'planar', 'cylindrical')
    )
    with pytest.raises(ModelError, match=f"joint '{name}' is {kind}; expected a joint of one coordinate"):
        Robot(Model.of('tree', 'base', joints)).with_loops([Coupling(name, None, (0.0,))])


def test_what_takes_no_loops_into_account_is_refused():
    zero = np.zeros(3)
    with pytest.raises(
        ModelError, match='forward_dynamics_on_moving_base: not available for four_bar, which has closed loops'
    ):
        ROBOT.forward_dynamics(zero, zero, zero, base_velocity=np.zeros(6))
    with pytest.raises(ModelError, match='forward_dynamics_derivatives: not available'):
        ROBOT.forward_dynamics_derivatives(zero, zero, zero)
    with pytest.raises(ModelError, match='forward_dynamics_by_mass_matrix: not available'):
        ROBOT.forward_dynamics(zero, zero, zero, method='mass_matrix')
    wrenches = {'coupler_link': np.ones(6)}
    with pytest.raises(ModelError, match=r'^forward_dynamics_by_mass_matrix: not available'):
        ROBOT.forward_dynamics(zero, zero, zero, wrenches, method='mass_matrix')
    q, qd = states(ROBOT)
    assert np.array_equal(
        ROBOT.forward_dynamics(q, qd, zero), ROBOT.forward_dynamics(q, qd, zero, method='articulated')
    )


@pytest.mark.parametrize(
    ('torques', 'error', 'message'),
    [
        (1.0, ArgumentError, 'torques: expected a mapping'),
        ({'hinge': 1.0}, UnknownNameError, "torques: no closure 'hinge'; there are pin"),
        ({'pin': 'x'}, ArgumentError, r"torques\['pin'\]"),
        ({'pin': np.nan}, ArgumentError, r"torques\['pin'\]: nan is not finite"),
        ({'pin': [1.0, np.nan]}, ArgumentError, r"torques\['pin'\]\[1\]: nan is not finite"),
        ({'pin': np.ones(2), 'end': np.ones(3)}, ArgumentError, r"broadcast: 'pin' \(2,\), 'end' \(3,\)"),
    ],
)
def test_wrong_torques_of_closing_joints_are_refused(torques, error, message):
    (pin,) = ROBOT.loops.closures
    two = (
        ROBOT if isinstance(torques, dict) and 'hinge' in torques else ROBOT.with_loops([pin, replace(pin, name='end')])
    )
    with pytest.raises(error, match=message):
        two.closure_torque(np.zeros(3), torques)


@pytest.mark.rounding
def test_a_closure_without_effect_changes_nothing():
    q, qd = states(ROBOT)
    lone = LoopClosure('on the axis', None, at(0.0), 'crank_link', at(0.0))
    with_it = ROBOT.with_loops([lone, *ROBOT.model.loops.closures])
    assert np.array_equal(with_it.forward_dynamics(q, qd, torques()), ROBOT.forward_dynamics(q, qd, torques()))
    forces = with_it.constraint_forces(q, qd, torques())
    sizes = np.linalg.svd(ROBOT.loop_jacobian(q), compute_uv=False)
    condition = sizes[0] / sizes[sizes > 1e-9 * sizes[0]][-1]
    assert np.abs(forces[:3]).max() < bound(60, len(forces), condition, np.abs(forces).max())


def test_changed_copies_keep_the_loops():
    q, qd = states(ROBOT)
    assert len(pickle.loads(pickle.dumps(ROBOT)).loop_errors(q)) == 3
    assert len(ROBOT.with_gravity((0.0, 0.0, 0.0)).loop_errors(q)) == 3
    heavy = ROBOT.with_payload(Payload(2.0, [0.1, 0.0, 0.0], np.zeros((3, 3))), 'coupler_link')
    assert np.abs(heavy.forward_dynamics(q, qd, torques()) - ROBOT.forward_dynamics(q, qd, torques())).max() > 0.1
    assert np.abs(heavy.loop_accelerations(q, qd, heavy.forward_dynamics(q, qd, torques()))).max() < 1e-11
    assert len(ROBOT.with_loops([]).loop_errors(q)) == 0
    assert ROBOT.with_loops([]).mobility(q) == 3
