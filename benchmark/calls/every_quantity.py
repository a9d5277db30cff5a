"""What does each quantity of an arm or a humanoid cost from Python, against the Python bindings of Pinocchio?

Calls of this package allocate their result; those of Pinocchio use the memory of one Data object and prepared forces.
After a / is a function of Pinocchio that computes less, or whose result is yet to be read from its Data.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from benchmark.known_robots import KNOWN, Known
from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Payload

AT_MOST = 0.90
AGREEMENT = 1e-9
"""Largest difference, relative to the largest number of a result."""
WRENCH = np.array([1.0, -2.0, 3.0, 10.0, 20.0, -30.0])
"""On the tip in its axes: N m, N."""
PAYLOAD = Payload(1.5, (0.01, -0.02, 0.03), np.diag([0.01, 0.012, 0.008]))
PARAMETERS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
"""Pinocchio's inertial parameters end with xx, xy, yy, xz, yz, zz."""


class Row(NamedTuple):
    """Both calls, and Pinocchio's result as this package orders it."""

    ours: Callable
    theirs: Callable
    expected: Callable


def angular_first(rows) -> np.ndarray:
    return np.roll(rows, 3, axis=0)


def full(upper) -> np.ndarray:
    """Return a symmetric matrix of its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def forces_at(known: Known, frame: pin.Frame, wrench: np.ndarray) -> pin.StdVec_Force:
    """Return Pinocchio's forces on all joints for a wrench (6,) on a frame, in its axes."""
    forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(known.model.njoints)])
    forces[frame.parentJoint] = frame.placement.act(pin.Force(wrench[3:], wrench[:3]))
    return forces


def with_wrench(known: Known, frame: pin.Frame) -> dict[str, Row]:
    """Return inverse dynamics with the wrench by name in the default reference frame, and as an array in links'."""
    robot, state = known.robot, known.state()
    forces = forces_at(known, frame, WRENCH)
    rotation = robot.link_pose(state[0], known.tip)[:3, :3]
    aligned = {known.tip: np.concatenate([rotation @ WRENCH[:3], rotation @ WRENCH[3:]])}
    link, on_links = robot._model.frame(known.tip).link, np.zeros((len(robot.link_names), 6))
    on_links[link] = np.roll(forces[frame.parentJoint].vector, 3)
    theirs = partial(pin.rnea, known.model, known.model.createData(), *known.pinocchio_state(*state), forces)
    by_name = partial(robot.inverse_dynamics, *state, aligned)
    as_array = partial(robot.inverse_dynamics, *state, on_links, None, 'local')
    return {
        'inverse_dynamics, wrench by name': Row(by_name, theirs, lambda: theirs()[known.order]),
        'inverse_dynamics, wrenches as array': Row(as_array, theirs, lambda: theirs()[known.order]),
    }


def with_payload(known: Known) -> Row:
    """Return inverse dynamics with a payload on a link that is not the last one."""
    robot, model = known.robot.with_payload(PAYLOAD, known.inner_link), known.model.copy()
    frame = model.frames[model.getFrameId(known.inner_link, pin.FrameType.BODY)]
    body = pin.Inertia(PAYLOAD.mass, np.array(PAYLOAD.com), np.array(PAYLOAD.inertia))
    model.appendBodyToJoint(frame.parentJoint, body, frame.placement)
    state = known.state()
    theirs = partial(pin.rnea, model, model.createData(), *known.pinocchio_state(*state))
    return Row(partial(robot.inverse_dynamics, *state), theirs, lambda: theirs()[known.order])


def rows_of(known: Known) -> dict[str, Row]:
    """Return all rows of a robot."""
    robot, model, data, order = known.robot, known.model, known.model.createData(), known.order
    q, qd, x = known.state()
    at, v, a = known.pinocchio_state(q, qd, x)
    number = model.getFrameId(known.tip, pin.FrameType.BODY)
    aligned, square = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, np.ix_(order, order)

    def row(ours, arguments, theirs, their_arguments, converted) -> Row:
        theirs = partial(theirs, model, data, *their_arguments)
        return Row(partial(ours, *arguments), theirs, lambda: converted(theirs()))

    def derivatives(found) -> np.ndarray:
        return np.array([found[0][square], found[1][square], full(found[2])[square]])

    def regressor(found) -> np.ndarray:
        return found.reshape(robot.nv, -1, 10)[order][:, known.links][..., PARAMETERS].reshape(robot.nv, -1)

    def pose(_) -> np.ndarray:
        return data.oMf[number].homogeneous

    def read_pose() -> np.ndarray:
        pin.framesForwardKinematics(model, data, at)
        return data.oMf[number].homogeneous

    def kinetic_energy(_) -> float:
        # v' M v / 2, since the kinetic energy of Pinocchio 4.1.0 leaves out the rotors
        return 0.5 * v @ full(pin.crba(model, data, at)) @ v

    def inertia(found) -> np.ndarray:
        J = pin.computeFrameJacobian(model, data, at, number, aligned)
        return angular_first(angular_first(np.linalg.inv(J @ full(found) @ J.T)).T)

    vector = partial(np.take, indices=order)
    rows = {
        'inverse_dynamics': row(robot.inverse_dynamics, (q, qd, x), pin.rnea, (at, v, a), vector),
        **with_wrench(known, model.frames[number]),
        'inverse_dynamics, payload within': with_payload(known),
        'forward_dynamics': row(robot.forward_dynamics, (q, qd, x), pin.aba, (at, v, a), vector),
        'mass_matrix': row(robot.mass_matrix, (q,), pin.crba, (at,), lambda found: full(found)[square]),
        'gravity_torque': row(robot.gravity_torque, (q,), pin.computeGeneralizedGravity, (at,), vector),
        'coriolis_matrix': row(
            robot.coriolis_matrix, (q, qd), pin.computeCoriolisMatrix, (at, v), lambda found: found[square]
        ),
        'inverse_dynamics_derivatives': row(
            robot.inverse_dynamics_derivatives, (q, qd, x), pin.computeRNEADerivatives, (at, v, a), derivatives
        ),
        'forward_dynamics_derivatives': row(
            robot.forward_dynamics_derivatives, (q, qd, x), pin.computeABADerivatives, (at, v, a), derivatives
        ),
        'torque_regressor': row(
            robot.torque_regressor, (q, qd, x), pin.computeJointTorqueRegressor, (at, v, a), regressor
        ),
        'link_pose': Row(partial(robot.link_pose, q, known.tip), read_pose, read_pose),
        'link_pose / framesForwardKinematics': row(
            robot.link_pose, (q, known.tip), pin.framesForwardKinematics, (at,), pose
        ),
        'jacobian': row(
            robot.jacobian,
            (q, known.tip),
            pin.computeFrameJacobian,
            (at, number, aligned),
            lambda found: angular_first(found)[:, order],
        ),
        'kinetic_energy': row(robot.kinetic_energy, (q, qd), pin.computeKineticEnergy, (at, v), kinetic_energy),
        'center_of_mass': row(robot.center_of_mass, (q,), pin.centerOfMass, (at,), np.copy),
        'centroidal_momentum': row(
            robot.centroidal_momentum,
            (q, qd),
            pin.computeCentroidalMomentum,
            (at, v),
            lambda found: angular_first(found.vector),
        ),
        'operational_space_inertia / computeMinverse': row(
            robot.operational_space_inertia, (q, known.tip), pin.computeMinverse, (at,), inertia
        ),
    }
    if robot.nq != robot.nv:
        del rows['coriolis_matrix']  # Christoffel symbols need qd as the derivative of q
    return rows


def disagreement(rows: dict[str, Row]) -> float:
    """Return the largest relative difference of both sides; AssertionError above AGREEMENT."""
    largest = 0.0
    for name, row in rows.items():
        ours, expected = row.ours(), row.expected()
        assert np.shape(ours) == np.shape(expected), name
        difference = np.abs(ours - expected).max() / np.abs(expected).max()
        assert difference < AGREEMENT, f'{name}: off by {difference:.1e}'
        largest = max(largest, difference)
    return largest


def main():
    print(heading())
    for known_robot in KNOWN:
        for binding in ('generic', 'specialised'):
            measure(known_robot(), binding)


def measure(known: Known, binding: str) -> None:
    """Print all rows; ``binding`` says whether the robot has code of its own."""
    known = known._replace(robot=known.robot.compiled() if binding == 'specialised' else known.robot)
    rows = rows_of(known)
    print(f'{known.name}, {known.robot.nv} velocities, {binding}; pin agrees to {disagreement(rows):.0e}')
    for name, row in rows.items():
        times = interleaved({'ours': row.ours, 'pin': row.theirs}, seconds=0.002, rounds=101)
        print(
            f'  {name}: {1e6 * times["ours"]:.2f} us, pin {1e6 * times["pin"]:.2f} us; '
            f'/ pin {verdict(times["ours"] / times["pin"], AT_MOST)}'
        )


if __name__ == '__main__':
    main()
