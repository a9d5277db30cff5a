"""A robot of ours and Pinocchio's model of it: the quantities that both have, and the largest difference.

Pinocchio's 6-vectors have the linear part first, its joints an order of their own, a planar or endless joint the cosine
and sine of its angle; for one velocity its matrices are vectors.
"""

from support.robots.random_trees import random_direction
from support.twins.naive import places

import numpy as np
import pytest

from robot_dynamics_ros import Robot

pin = pytest.importorskip(
    'pinocchio',
    minversion='3.4',  # 2.6 knows no rotors
    reason='the outside source, Pinocchio (package pin), is not installed',
)
FRAMES = ('world', 'local_world_aligned', 'local')
PARAMETERS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # theirs are xx, xy, yy, xz, yz, zz


class Peer:
    """A robot's twin in Pinocchio, and the way to it and back; frames and joints go by their names."""

    def __init__(self, robot: Robot, model):
        """Take Pinocchio's ``model`` of the same joints, rotors included, under any gravity."""
        model.gravity.linear = robot.gravity
        self.robot, self.model, self.data = robot, model, model.createData()
        self.joints = robot._model.joints
        self.ids = [model.getJointId(joint.name) for joint in self.joints]
        assert sorted(self.ids) == list(range(1, model.njoints))
        order: list[int] = []
        for joint, number in zip(self.joints, self.ids, strict=True):
            own = model.joints[number].idx_v + np.arange(model.joints[number].nv)
            order.extend(np.roll(own, 3) if joint.kind == 'free' else own)
        self.order = np.array(order, int)  # where our velocities stand in theirs

    def positions(self, q):
        """Return q as Pinocchio has it."""
        theirs = np.empty(self.model.nq)
        for (of_q, _), number in zip(places(self.joints), self.ids, strict=True):
            joint, own = self.model.joints[number], q[of_q]
            if joint.nq > len(own):
                own = [*own[:-1], np.cos(own[-1]), np.sin(own[-1])]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = own
        return theirs

    def velocities(self, qd):
        """Return qd, or another vector of that length, as Pinocchio has it."""
        theirs = np.empty(self.model.nv)
        theirs[self.order] = qd
        return theirs

    def mass_matrix(self, q):
        """Return their mass matrix in our order; of what they compute, only the upper triangle is relied on."""
        upper = np.triu(pin.crba(self.model, self.data, self.positions(q)))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.order, self.order)]

    def forces(self, wrenches):
        """Return wrenches (n + 1, 6) on our links as forces on Pinocchio's joints."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for wrench, number in zip(wrenches[1:], self.ids, strict=True):
            forces[number] = pin.Force(wrench[3:], wrench[:3])
        return forces

    def accelerations(self, q, qd, tau, wrenches):
        """Return qdd (nv,) under wrenches on the links."""
        state = self.positions(q), self.velocities(qd), self.velocities(tau)
        return pin.aba(self.model, self.data, *state, self.forces(wrenches))[self.order]

    def derivatives(self, q, qd, qdd, wrenches):
        """Return those of inverse dynamics by q, qd and qdd (3, nv, nv)."""
        state = self.positions(q), self.velocities(qd), self.velocities(qdd)
        by_q, by_qd, upper = pin.computeRNEADerivatives(self.model, self.data, *state, self.forces(wrenches))
        M = np.triu(upper) + np.triu(upper, 1).T
        return np.array([by_q, by_qd, M])[:, self.order[:, None], self.order]

    def by_link(self, regressor):
        """Return a regressor's columns in our order."""
        blocks = regressor.reshape(*regressor.shape[:-1], -1, 10)
        first = blocks.shape[-2] - len(self.ids)  # some begin with the base
        return blocks[..., np.array(self.ids) - 1 + first, :][..., PARAMETERS].reshape(*regressor.shape[:-1], -1)


def random_state(robot: Robot, seed):
    """Return q, qd, qdd, tau and wrenches (n + 1, 6) on the links."""
    rng = np.random.default_rng(seed)
    q = robot.integrate(robot.neutral(), rng.uniform(-2.0, 2.0, robot.nv))
    return q, *rng.uniform(-2.0, 2.0, (3, robot.nv)), rng.normal(scale=10.0, size=(len(robot.link_names), 6))


def random_gravity(seed):
    """Return gravity (3,) from any side."""
    return 9.81 * random_direction(np.random.default_rng(seed))


def errors(peer: Peer, links, state, forward_dynamics=True) -> dict[str, float]:
    """Return how far off each answer is, relative to the largest magnitude in the quantity."""
    q, qd, qdd, tau, wrenches = state
    answers = [
        *of_torques(peer, q, qd, qdd, wrenches),
        *of_derivatives(peer, q, qd, qdd, wrenches),
        *(of_accelerations(peer, q, qd, tau, wrenches) if forward_dynamics else ()),
        *of_energies(peer, q, qd),
        *of_the_mass(peer, q, qd),
        *of_parameters(peer, q, qd, qdd),
        *(answer for link in links for answer in of_a_link(peer, link, q, qd, qdd)),
    ]
    return {name: relative(*both) for name, *both in answers}


def relative(ours, theirs, least=0.0) -> float:
    """Return the largest difference over the largest magnitude of theirs, or over ``least`` where that is larger."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    difference = np.abs(ours - theirs).max()
    return float(difference and difference / max(np.abs(theirs).max(), least))


# Name, our answer and Pinocchio's; the least scale, where a quantity may be zero or near it.


def of_torques(peer, q, qd, qdd, wrenches):
    robot, model, data, order = peer.robot, peer.model, peer.data, peer.order
    at, v, a, M = peer.positions(q), peer.velocities(qd), peer.velocities(qdd), peer.mass_matrix(q)
    gravity = pin.computeGeneralizedGravity(model, data, at)[order]
    bias = pin.nonLinearEffects(model, data, at, v)[order]
    f_ext = peer.forces(wrenches)
    yield 'inverse_dynamics', robot.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, at, v, a)[order]
    with_wrenches = pin.rnea(model, data, at, v, a, f_ext)[order]
    yield (
        'inverse_dynamics with wrenches',
        robot.inverse_dynamics(q, qd, qdd, wrenches, reference_frame='local'),
        with_wrenches,
    )
    yield 'mass_matrix', robot.mass_matrix(q), M
    yield 'gravity_torque', robot.gravity_torque(q), gravity
    yield 'bias_torque', robot.bias_torque(q, qd), bias
    least = np.abs(M).max()  # N m: at 1 rad/s
    yield 'coriolis_torque', robot.coriolis_torque(q, qd), bias - gravity, least
    yield 'inertia_torque', robot.inertia_torque(q, qdd), M @ qdd
    if not {'planar', 'spherical', 'free'} & {joint.kind for joint in peer.joints}:  # ours is of Christoffel symbols
        C = pin.computeCoriolisMatrix(model, data, at, v)[np.ix_(order, order)]
        yield 'coriolis_matrix', robot.coriolis_matrix(q, qd), C, least


def of_accelerations(peer, q, qd, tau, wrenches):
    none = np.zeros_like(wrenches)
    yield 'forward_dynamics', peer.robot.forward_dynamics(q, qd, tau), peer.accelerations(q, qd, tau, none)
    with_wrenches = peer.accelerations(q, qd, tau, wrenches)
    yield (
        'forward_dynamics with wrenches',
        peer.robot.forward_dynamics(q, qd, tau, wrenches, reference_frame='local'),
        with_wrenches,
    )
    # by their M and the derivatives of their torques: computeMinverse and computeABADerivatives of Pinocchio 4.1.0 lose
    # up to six digits more where M's condition is 1e6, as complex steps show in test/kernels/test_pinocchio.py
    M = peer.mass_matrix(q)
    yield 'mass_matrix_inverse', peer.robot.mass_matrix_inverse(q), np.linalg.inv(M)
    by_q, by_qd, _ = -np.linalg.solve(M, peer.derivatives(q, qd, peer.accelerations(q, qd, tau, wrenches), wrenches))
    ours = peer.robot.forward_dynamics_derivatives(q, qd, tau, wrenches, reference_frame='local')
    yield from each('forward_dynamics_derivatives', ours, np.array([by_q, by_qd, np.linalg.inv(M)]))


def of_derivatives(peer, q, qd, qdd, wrenches):
    ours = peer.robot.inverse_dynamics_derivatives(q, qd, qdd, wrenches, reference_frame='local')
    yield from each('inverse_dynamics_derivatives', ours, peer.derivatives(q, qd, qdd, wrenches))


def each(name, ours, theirs):
    """By q, qd and x; one that is zero up to rounding is held against a millionth of the largest."""
    least = 1e-6 * np.abs(theirs).max()
    for by, own, expected in zip(('q', 'qd', 'x'), ours, theirs, strict=True):
        yield f'{name} by {by}', own, expected, least


def of_energies(peer, q, qd):
    """Kinetic energy is that of their mass matrix: Pinocchio 4.1.0 leaves some rotors out of its own."""
    robot, at = peer.robot, peer.positions(q)
    kinetic, potential = 0.5 * qd @ peer.mass_matrix(q) @ qd, pin.computePotentialEnergy(peer.model, peer.data, at)
    lift = 9.81 * sum(inertia.mass for inertia in peer.model.inertias)  # J: all mass lifted by 1 m
    yield 'kinetic_energy', robot.kinetic_energy(q, qd), kinetic
    yield 'potential_energy', robot.potential_energy(q), potential, lift
    yield 'total_energy', robot.total_energy(q, qd), kinetic + potential, lift


def of_the_mass(peer, q, qd):
    robot, model, data, order = peer.robot, peer.model, peer.data, peer.order
    at, v = peer.positions(q), peer.velocities(qd)
    yield 'center_of_mass', robot.center_of_mass(q), pin.centerOfMass(model, data, at).copy()
    J = pin.jacobianCenterOfMass(model, data, at).reshape(3, -1)[:, order]
    yield 'center_of_mass_jacobian', robot.center_of_mass_jacobian(q), J
    A = angular_first(pin.computeCentroidalMap(model, data, at).reshape(6, -1))[:, order]
    yield 'centroidal_momentum_matrix', robot.centroidal_momentum_matrix(q), A
    h = angular_first(pin.computeCentroidalMomentum(model, data, at, v).vector)
    yield 'centroidal_momentum', robot.centroidal_momentum(q, qd), h


def of_parameters(peer, q, qd, qdd):
    robot, model, data = peer.robot, peer.model, peer.data
    at, v, a = peer.positions(q), peer.velocities(qd), peer.velocities(qdd)
    Y = pin.computeJointTorqueRegressor(model, data, at, v, a).reshape(model.nv, -1)[peer.order]
    yield 'torque_regressor', robot.torque_regressor(q, qd, qdd), peer.by_link(Y)
    kinetic = pin.computeKineticEnergyRegressor(model, data, at, v)
    yield 'kinetic_energy_regressor', robot.kinetic_energy_regressor(q, qd), peer.by_link(kinetic)
    potential = pin.computePotentialEnergyRegressor(model, data, at)
    yield 'potential_energy_regressor', robot.potential_energy_regressor(q), peer.by_link(potential)


def of_a_link(peer, link, q, qd, qdd):
    robot, model, data, frame = peer.robot, peer.model, peer.data, peer.model.getFrameId(link, pin.FrameType.BODY)
    at, v, a = peer.positions(q), peer.velocities(qd), peer.velocities(qdd)
    for seen in FRAMES:
        reference = getattr(pin, seen.upper())
        # aligned with the world, theirs is spatial unless asked for otherwise
        acceleration = pin.getFrameClassicalAcceleration if seen == FRAMES[1] else pin.getFrameAcceleration
        least = 1.0  # rad/s^2, m/s^2: of rad/s and m/s to the second power
        pin.forwardKinematics(model, data, at, v, np.zeros(model.nv))
        bias = angular_first(acceleration(model, data, frame, reference).vector)
        yield f'jacobian_dot_qd of {link} ({seen})', robot.jacobian_dot_qd(q, qd, link, seen), bias, least
        pin.forwardKinematics(model, data, at, v, a)
        whole = angular_first(acceleration(model, data, frame, reference).vector)
        yield f'link_acceleration of {link} ({seen})', robot.link_acceleration(q, qd, qdd, link, seen), whole, least
        velocity = angular_first(pin.getFrameVelocity(model, data, frame, reference).vector)
        yield f'link_velocity of {link} ({seen})', robot.link_velocity(q, qd, link, seen), velocity
        J = angular_first(pin.computeFrameJacobian(model, data, at, frame, reference).reshape(6, -1))[:, peer.order]
        yield f'jacobian of {link} ({seen})', robot.jacobian(q, link, seen), J
    pin.updateFramePlacement(model, data, frame)
    yield f'link_pose of {link}', robot.link_pose(q, link), data.oMf[frame].homogeneous


def angular_first(array):
    return np.concatenate([array[3:], array[:3]])
