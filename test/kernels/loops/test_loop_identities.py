"""Identities of closed loops: power, momentum, energy and the bindings; and loops that are refused."""

from support.robots import random_trees as trees
from support.robots.mechanisms import IN_PLANE, MECHANISMS, four_bar, gears, pose
from support.twins.closed_chains import STENCIL, random_closed_tree, robot_of

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure
from robot_dynamics_ros.errors import ModelError

MECHANISM = pytest.mark.parametrize('name', list(MECHANISMS))


@MECHANISM
def test_power_of_the_loops_forces_is_zero(name):
    """qd' J' lambda = 0 where qd keeps the loops closed, and M qdd + h = tau + J' lambda."""
    mechanism = MECHANISMS[name]
    robot = mechanism.robot
    for seed in range(3):
        q, qd, tau = mechanism.state(seed)
        forces = robot.loop_jacobian(q).T @ robot.constraint_forces(q, qd, tau)
        assert abs(qd @ forces) < 1e-12 * np.linalg.norm(qd) * np.linalg.norm(forces)
        assert np.linalg.norm(forces) > 1e-2
        qdd = robot.forward_dynamics(q, qd, tau)
        left = robot.mass_matrix(q) @ qdd + robot.bias_torque(q, qd) - tau - forces
        assert np.abs(left).max() < 1e-10 * max(np.abs(forces).max(), np.abs(tau).max())


@MECHANISM
def test_energy_changes_by_the_power_of_the_joint_torques(name):
    """d/dt (T + V) = qd' tau, its left side along the motion of forward dynamics."""
    mechanism = MECHANISMS[name]
    robot = mechanism.robot.with_loops(mechanism.loops, gain=0.0)
    q, qd, tau = mechanism.state(2)
    qdd = robot.forward_dynamics(q, qd, tau)
    kinetic = qd @ robot.inertia_torque(q, qdd) + qd @ robot.coriolis_torque(q, qd)
    potential = qd @ robot.gravity_torque(q)
    assert abs(kinetic + potential - qd @ tau) < 1e-11 * np.abs(qd) @ (np.abs(tau) + np.abs(robot.gravity_torque(q)))


def test_total_momentum_of_a_floating_mechanism_changes_by_gravity_alone():
    mechanism = MECHANISMS['floating four-bar']
    robot = mechanism.robot
    mass = sum(joint.inertia[0] for joint in mechanism.joints)
    for seed in range(4):
        q, qd, tau = mechanism.state(seed)
        tau[:6] = 0.0
        qdd = robot.forward_dynamics(q, qd, tau)
        # the base's force on the free joint is none, so that of the whole is gravity at the centre of mass
        step, change = 1e-3, np.zeros(6)
        for k, weight in STENCIL.items():
            for t in (k * step, -k * step):
                at = robot.integrate(q, t * qd + 0.5 * t**2 * qdd)
                change += weight / step * np.sign(t) * robot.centroidal_momentum(at, qd + t * qdd)
        assert np.abs(change - [0.0, 0.0, 0.0, *(mass * robot.gravity)]).max() < 1e-8 * np.abs(qdd).max()
        without = mechanism.open.forward_dynamics(q, qd, tau)
        assert np.abs(qdd - without).max() > 1.0


def test_forces_of_a_loop_have_no_moment_and_no_sum():
    """J' lambda of a free body that carries the mechanism is zero: A and B are pulled by opposite forces."""
    mechanism = MECHANISMS['floating four-bar']
    q, qd, tau = mechanism.state(1)
    forces = mechanism.robot.loop_jacobian(q).T @ mechanism.robot.constraint_forces(q, qd, tau)
    assert np.abs(forces[:6]).max() < 1e-12 * np.abs(forces).max()


def test_a_closure_without_effect_changes_nothing():
    """A hinge about the axis of a joint between the same links."""
    mechanism = gears()
    hinge = pose(rotation=IN_PLANE)
    plane = LoopClosure('plane', None, hinge, 'first', hinge, 'revolute')
    rows = mechanism.open.with_loops([plane]).loop_jacobian(mechanism.q)
    assert np.abs(rows).max() < 1e-15
    robot = mechanism.open.with_loops([*mechanism.loops, plane])
    for seed in range(3):
        state = mechanism.state(seed)
        qdd = mechanism.robot.forward_dynamics(*state)
        assert trees.relative_error(robot.forward_dynamics(*state), qdd) < 1e-12
        assert robot.mobility(state[0]) == mechanism.mobility


def test_loops_that_are_refused():
    tree = four_bar().open
    with pytest.raises(ModelError, match='one rigid body'):
        tree.with_loops([LoopClosure('own', 'crank', pose(), 'crank')])
    with pytest.raises(ModelError, match='one rigid body'):
        tree.with_loops([LoopClosure('fixed', None, pose(), trees.BASE)])
    fixed = gears().open.with_locked_joints({'first joint': 0.2})
    with pytest.raises(ModelError, match=r"'fixed': .* one rigid body"):
        fixed.with_loops([LoopClosure('fixed', None, pose(), 'first')])
    with pytest.raises(ModelError, match='coupled to itself'):
        tree.with_loops([Coupling('crank joint', 'crank joint', (0.0, 1.0))])


def random_robot():
    joints, loops, state = random_closed_tree(3, share=0.3)
    return robot_of(joints, loops, state.gravity), (state.q, state.qd, state.tau)


@pytest.mark.parametrize('name', ['four-bar, weld', 'gears', 'random'])
def test_bindings_and_batches_have_the_same_bits(name):
    if name == 'random':
        robot, state = random_robot()
        states = [np.stack([part] * 9) for part in state]
        states[1] *= np.linspace(0.0, 1.0, 9)[:, None]
    else:
        robot = MECHANISMS[name].robot
        states = [np.stack(parts) for parts in zip(*(MECHANISMS[name].state(seed) for seed in range(9)), strict=True)]
    generic = robot.forward_dynamics(*states)
    specialised = robot.compiled(threads=1)
    assert np.array_equal(specialised.forward_dynamics(*states), generic)
    for one, *state in zip(generic, *states, strict=True):
        assert np.array_equal(robot.forward_dynamics(*state), one)
        assert np.array_equal(specialised.forward_dynamics(*state), one)
    q, qd, tau = states
    for quantity in ('loop_errors', 'loop_jacobian'):
        assert np.array_equal(getattr(specialised, quantity)(q), getattr(robot, quantity)(q))
    assert np.array_equal(specialised.loop_accelerations(q, qd, tau), robot.loop_accelerations(q, qd, tau))
