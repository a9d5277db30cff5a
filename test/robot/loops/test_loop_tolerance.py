"""One rank rule of closed loops: rounded axes, sizes and masses of links, motions that the loops do not allow."""

import dataclasses

from support.matrices import matrix
from support.robots.mechanisms import MECHANISMS, Mechanism, four_bar
from support.rounding import bound

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.errors import ArgumentError, LoopError, ModelError

PLANAR = four_bar('planar_point')
HINGES = four_bar('revolute')
STATE = PLANAR.state(3)


def rounded(mechanism: Mechanism, angle: float, seed: int = 0) -> Mechanism:
    """Return a mechanism whose axes are off by up to ``angle`` (rad), as those of a description are."""
    rng = np.random.default_rng(seed)
    joints = tuple(
        dataclasses.replace(it, rotation=it.rotation @ Rotation.from_rotvec(rng.uniform(-angle, angle, 3)).as_matrix())
        for it in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def of_size(mechanism: Mechanism, size: float) -> Mechanism:
    """Return a mechanism with lengths in other units: ``size`` times as long, with the same masses."""
    parameters = np.array([1.0, *3 * [size], *6 * [size**2]])
    joints = tuple(
        dataclasses.replace(
            it,
            origin=size * it.origin,
            inertia=parameters * it.inertia,
            rotor=it.rotor * (size**2 if it.kind == 'revolute' else 1.0),
        )
        for it in mechanism.joints
    )
    lengths = np.array([*3 * [[1.0, 1.0, 1.0, size]], [1.0, 1.0, 1.0, 1.0]])
    loops = tuple(dataclasses.replace(it, pose_a=lengths * it.pose_a, pose_b=lengths * it.pose_b)
                  for it in mechanism.loops)  # fmt: skip
    return dataclasses.replace(mechanism, joints=joints, loops=loops)


@pytest.mark.rounding
@pytest.mark.parametrize('angle', matrix([0.0, 5e-12, 1e-9, 1e-8, 1e-7, 1e-6], [0.0, 1e-6]))
def test_a_planar_linkage_with_rounded_axes_moves(angle):
    q, qd, tau = STATE
    robot = rounded(HINGES, angle).robot
    room = 1e-11 + 100.0 * angle
    assert robot.mobility(q) == 1
    qdd, expected = robot.forward_dynamics(q, qd, tau), PLANAR.robot.forward_dynamics(q, qd, tau)
    assert np.abs(qdd - expected).max() < room * np.abs(expected).max()
    # x and y of the pin are the rows that hold something; of the others no force is left
    forces = robot.constraint_forces(q, qd, tau)
    pin = PLANAR.robot.constraint_forces(q, qd, tau)
    assert np.abs(forces - [0.0, 0.0, *pin, 0.0]).max() < room * np.abs(pin).max()
    for joint in ('crank joint', 'rocker joint'):
        found = robot.inverse_dynamics(q, qd, qdd, actuated=[joint])
        assert np.abs(found - PLANAR.robot.inverse_dynamics(q, qd, qdd, actuated=[joint])).max() < room * 100.0
        assert np.abs(robot.forward_dynamics(q, qd, found) - qdd).max() < room * np.abs(qdd).max()
    near = robot.close_loops(q + 0.02, qd)
    closed = bound(200, 6)  # sums of six lengths of about a metre
    assert np.abs(robot.loop_errors(near.q)[2:4]).max() < closed
    assert np.abs(robot.loop_errors(near.q)).max() < closed + 10.0 * angle


@pytest.mark.parametrize('angle', [1e-11, 1e-9, 1e-7, 1e-6, 1e-4])
def test_constraints_that_depend_on_others_up_to_rounding_are_a_finding(angle):
    (finding,) = (it for it in rounded(HINGES, angle).robot.findings if it.where.startswith('loop'))
    assert finding.where == "loop 'closing'" and finding.severity == 'warning'
    assert "'planar_point'" in finding.message
    assert ('has no effect' if angle < 1e-5 else 'locks a joint') in finding.message


def test_findings_are_those_of_the_loops_in_force():
    robot = rounded(HINGES, 1e-7).robot
    again = robot.with_loops(robot.loops.all)
    assert again.findings == robot.findings
    assert not [it for it in again.with_loops([]).findings if it.where.startswith('loop')]
    longer = robot.with_attached(PLANAR.open, robot.link_names[-1], prefix='other ')
    assert [it.where for it in longer.findings if it.where.startswith('loop')] == ["loop 'closing'"]


@pytest.mark.parametrize('name', sorted(MECHANISMS))
def test_exact_descriptions_have_no_finding(name):
    assert not [it for it in MECHANISMS[name].robot.findings if it.where.startswith('loop')]


def test_above_the_tolerance_a_constraint_locks_the_linkage():
    q, _, tau = STATE
    robot = rounded(HINGES, 1e-6).robot.with_loops(HINGES.loops, gain=0.0, tolerance=1e-8)
    rest = np.zeros(3)
    assert robot.mobility(q) == 0
    assert np.abs(robot.forward_dynamics(q, rest, tau)).max() < 1e-7
    motion = PLANAR.robot.forward_dynamics(q, rest, tau)
    with pytest.raises(ArgumentError, match=r"q: loop 'closing' does not allow this motion here: no torque produces"):
        robot.inverse_dynamics(q, rest, motion, actuated=['crank joint'])
    # at rest the loops alone hold it
    assert not robot.inverse_dynamics(q, rest, rest, actuated=['crank joint']).any()


def test_a_joint_that_the_loops_hold_is_not_moved_by_any_torque():
    q, _, _ = STATE
    robot = PLANAR.robot
    J, M = robot.loop_jacobian(q), robot.mass_matrix(q)
    blocked = np.linalg.solve(M, J.T @ [1.0, 2.0])
    rest = np.zeros(3)
    batch = np.stack([robot.forward_dynamics(q, rest, np.ones(3)), blocked])
    with pytest.raises(ArgumentError, match=r"q\[1\]: loop 'closing' does not allow this motion"):
        robot.inverse_dynamics(q, rest, batch, actuated=['crank joint'])


def test_loops_that_are_open_by_more_than_rounding_are_not_closed():
    apart = [dataclasses.replace(it, pose_a=it.pose_a @ offset(1e-3)) for it in HINGES.loops]
    with pytest.raises(LoopError, match=r"loop 'closing' cannot be closed from here; it stays open by 0\.001"):
        HINGES.robot.with_loops(apart).close_loops(STATE[0])


def offset(z: float) -> np.ndarray:
    pose = np.eye(4)
    pose[2, 3] = z
    return pose


@pytest.mark.parametrize('tolerance', [-1.0, 0.0, 1e-9, 0.1, np.nan, 'x'])
def test_wrong_tolerances_are_refused(tolerance):
    with pytest.raises(ModelError, match='tolerance: expected'):
        PLANAR.robot.with_loops(PLANAR.loops, tolerance=tolerance)


@pytest.mark.parametrize('size', [1e-7, 1e5])
@pytest.mark.parametrize('name', ['four-bar, revolute', 'delta of parallelograms', 'Stewart platform'])
def test_loop_tolerance_fits_links_of_any_size(name, size):
    """Accelerations, forces and mobility are those of the mechanism in metres, in other units."""
    mechanism = MECHANISMS[name]
    q, qd, tau = mechanism.state(0)
    metres = mechanism.robot
    robot, arrays = of_size(mechanism, size).robot.with_gravity(size * metres.gravity), metres.model.arrays
    of_q, of_qd = np.ones(metres.nq), np.where(arrays.S[1:, :3].any(1), 1.0, size)
    for i in range(1, arrays.n + 1):
        of_q[arrays.slide[i] : arrays.slide[i] + arrays.slides[i]] = size
    q_s, qd_s, tau_s = of_q * q, of_qd * qd, tau * size**2 / of_qd
    assert robot.mobility(q_s) == metres.mobility(q) == mechanism.mobility
    qdd = metres.forward_dynamics(q, qd, tau)
    qdd_s = robot.forward_dynamics(q_s, qd_s, tau_s) / of_qd
    assert np.abs(qdd_s - qdd).max() < 1e-10 * np.abs(qdd).max()
    # J' lambda is what the tree lacks
    J, forces = robot.loop_jacobian(q_s), robot.constraint_forces(q_s, qd_s, tau_s)
    needed = robot.inverse_dynamics(q_s, qd_s, of_qd * qdd_s) - tau_s
    assert np.abs(of_qd * (J.T @ forces - needed)).max() < 1e-10 * np.abs(of_qd * needed).max()
    found = robot.inverse_dynamics(q_s, qd_s, of_qd * qdd_s, actuated=robot.joint_names)
    assert np.abs(robot.forward_dynamics(q_s, qd_s, found) / of_qd - qdd).max() < 1e-9 * np.abs(qdd).max()
    # loops close to as many digits
    near = robot.integrate(q_s, of_qd * np.random.default_rng(0).uniform(-0.01, 0.01, robot.nv))
    assert np.abs(robot.loop_errors(robot.close_loops(near).q)).max() < 1e-11 * max(size, 1.0)
    lengths = np.abs(robot.loop_errors(robot.close_loops(near).q))[arrays.constrained[:, 1] // 3 == 1]
    assert lengths.max() < 1e-11 * size
