"""Closed loops of a robot through changed copies, pickles and files; how a robot shows them."""

import copy
import pickle

from support.robots.facade_robots import ACTUATORS, TREE

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Payload, Robot

POSE = np.array([[0.0, -1.0, 0.0, 0.2], [1.0, 0.0, 0.0, 0.1], [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 0.0, 1.0]])
LOOPS = [
    LoopClosure('hinge', 'mast', POSE, 'tool', kind='revolute', stiffness=40.0, damping=2.0, rest=0.3),
    Coupling('a_wag', 'z_turn', (0.1, -0.5)),
]
Q, QD, TAU = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 3))


def robot() -> Robot:
    tree = Robot.from_urdf(TREE).with_actuators(ACTUATORS)
    return tree.with_loops(LOOPS, gain=5.0)


CHANGES = {
    'actuators': lambda it: it.with_actuators(ACTUATORS),
    'payload': lambda it: it.with_payload(Payload(1.0, (0.1, 0.0, 0.2)), 'tool'),
    'no payload': lambda it: it.with_payload(Payload(1.0, (0.1, 0.0, 0.2)), 'tool').without_payload(),
    'gravity': lambda it: it.with_gravity((1.0, 2.0, -3.0)),
    'base orientation': lambda it: it.with_base_orientation([[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
    'binding': lambda it: it.compiled(threads=1),
    'no lock': lambda it: it.with_locked_joints({}),
    'the whole chain': lambda it: it.chain(),
    'pickle': lambda it: pickle.loads(pickle.dumps(it)),
    'copy': copy.copy,
    'deep copy': copy.deepcopy,
    'YAML': lambda it: Robot.from_yaml(it.to_yaml()),
}


@pytest.mark.parametrize('change', CHANGES)
def test_changed_robots_keep_their_loops(change):
    one = robot()
    changed = CHANGES[change](one)
    loops = changed.loops
    assert ([it.name for it in loops.closures], loops.couplings, loops.gain) == (['hinge'], (LOOPS[1],), 5.0)
    assert loops.closures[0].pose_a == pytest.approx(POSE, abs=1e-15) and loops.closures[0].rest == 0.3
    assert changed.loop_errors(Q) == pytest.approx(one.loop_errors(Q), abs=1e-14)
    qdd = changed.forward_dynamics(Q, QD, TAU)
    assert qdd == pytest.approx(changed.with_loops(LOOPS, gain=5.0).forward_dynamics(Q, QD, TAU), rel=1e-12)
    assert np.abs(qdd - changed.with_loops([]).forward_dynamics(Q, QD, TAU)).max() > 0.1


def test_a_payload_has_a_part_in_the_forces_of_the_loops():
    """One coupling leaves G' M G qdd = G' (tau - h) for the velocities that are left, the payload in M and h."""
    coupled = robot().with_loops([LOOPS[1]], gain=0.0)
    loaded = coupled.with_payload(Payload(3.0, (0.1, 0.0, 0.2)), 'tool').with_gravity((1.0, 2.0, -3.0))
    qd = np.array([QD[0], QD[1], -0.5 * QD[0]])
    G = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, 0.0]])
    reduced = np.linalg.solve(G.T @ loaded.mass_matrix(Q) @ G, G.T @ (TAU - loaded.bias_torque(Q, qd)))
    qdd = loaded.forward_dynamics(Q, qd, TAU)
    assert qdd == pytest.approx(G @ reduced, rel=1e-11)
    assert np.abs(qdd - coupled.forward_dynamics(Q, qd, TAU)).max() > 0.1


@pytest.mark.parametrize('source', [robot, lambda: pickle.loads(pickle.dumps(robot()))], ids=['made', 'unpickled'])
def test_the_poses_of_loops_cannot_be_changed(source):
    (closure,) = source().loops.closures
    for pose in (closure.pose_a, closure.pose_b):
        with pytest.raises(ValueError, match='read-only'):
            pose[0, 3] = 1.0


def test_the_poses_that_were_given_stay_writable():
    robot()
    assert POSE.flags.writeable


def test_a_robot_shows_the_number_of_its_loops():
    tree = Robot.from_urdf(TREE)
    assert 'loop' not in repr(tree)
    assert 'z_turn, m_slide, a_wag; 1 closed loop; gravity' in repr(tree.with_loops(LOOPS[:1]))
    assert 'z_turn, m_slide, a_wag; 2 closed loops; gravity' in repr(tree.with_loops(LOOPS))


def test_a_robot_whose_loops_were_opened_is_the_one_before():
    tree = Robot.from_urdf(TREE)
    opened = tree.with_loops(LOOPS, gain=7.0).with_loops([], gain=7.0)
    assert opened.digest == tree.digest != tree.with_loops(LOOPS).digest
    assert not opened.loops.all and opened.model.arrays.constraints == 0
