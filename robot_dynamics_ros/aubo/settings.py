"""Payload, gravity and mounting that are set on a controller, and how they differ from others."""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.aubo.rpc import RefusedError, RpcClient
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.rotations import from_rpy
from robot_dynamics_ros.payload import Payload

MASS, LENGTH, FALL = 0.01, 0.002, 0.1
"""Differences that are ignored: kg of a payload, m of its centre of mass, m/s^2 of gravity."""
INERTIA, SHARE = 1e-3, 0.1
"""Likewise of the inertia: kg m^2, or the part of its largest element, whichever is more."""
UPRIGHT = 9.80665
"""m/s^2, standard gravity (CGPM 1901): the length of the vector that follows from a mounting pose."""


class Settings(NamedTuple):
    """What is set on a controller; what it did not tell is None, and ``refused`` says why, a line each."""

    payload: Payload | None
    gravity: np.ndarray | None  # (3,) m/s^2, in the base frame
    mounting: np.ndarray | None  # (3, 3), the base frame in the world
    refused: tuple[str, ...]


NOTHING = Settings(None, None, None, ())


def read_settings(client: RpcClient, robot: str) -> Settings:
    """Ask a controller for the settings of ``robot``, a name of the controller.

    ControllerError where the connection ends; what the controller refuses or answers wrongly is None.
    """
    refused: list[str] = []

    def answer(question: str, convert):
        try:
            return convert(client.ask(question, robot))
        except RefusedError as error:
            refused.append(str(error))
        except ArgumentError as error:
            refused.append(f'{question}: {error}')
        return None

    return Settings(
        payload=answer('RobotConfig.getPayload', payload_of),
        gravity=answer('RobotConfig.getGravity', lambda found: validation.finite('gravity', found, (3,))),
        mounting=answer('RobotConfig.getMountingPose', mounting_of),
        refused=tuple(refused),
    )


def payload_of(answer) -> Payload:
    """Return the payload of ``[mass, centre (3), orientation (3), inertia (6)]``, as ``getPayload`` answers.

    kg, m, rad (roll, pitch, yaw of the axes of the inertia) and kg m^2 (xx, yy, zz, xy, xz, yz, about the centre of
    mass). ArgumentError names what is wrong.
    """
    if not isinstance(answer, list) or len(answer) != 4:
        raise ArgumentError(f'expected mass, centre, orientation and inertia, got {answer!r:.80}')
    mass = float(validation.finite('mass', answer[0], ()))
    centre = validation.finite('centre', answer[1], (3,))
    axes = from_rpy(*validation.finite('orientation', answer[2], (3,)))
    xx, yy, zz, xy, xz, yz = validation.finite('inertia', answer[3], (6,))
    inertia = axes @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ axes.T
    return Payload(mass, centre, inertia if mass else np.zeros((3, 3)))


def mounting_of(answer) -> np.ndarray:
    """Return the rotation (3, 3) of ``[x, y, z, roll, pitch, yaw]`` (m, rad), as ``getMountingPose`` answers."""
    return from_rpy(*validation.finite('mounting pose', answer, (6,))[3:])


def payload_difference(controller: Payload, ours: Payload) -> str:
    """Return how the payload of the controller differs from ``ours``, both in the same frame, '' for not."""
    if abs(controller.mass - ours.mass) > MASS:
        return f'the payload set on the controller has {controller.mass:g} kg, that of the nodes {ours.mass:g} kg'
    apart = float(np.linalg.norm(np.subtract(controller.com, ours.com))) if ours.mass else 0.0
    if apart > LENGTH:
        return f'the centre of mass set on the controller is {apart:.3f} m from that of the nodes'
    inertia = float(np.abs(controller.inertia - ours.inertia).max())
    if inertia > max(INERTIA, SHARE * float(np.abs(controller.inertia).max())):
        return f'the inertia of the payload set on the controller is {inertia:.3g} kg m^2 from that of the nodes'
    return ''


def gravity_difference(controller: np.ndarray, gravity) -> str:
    """Return how the gravity of the controller differs from ``gravity`` (3, m/s^2), '' for not."""
    if np.abs(controller - gravity).max() <= FALL:
        return ''
    shown, ours = (' '.join(f'{part:.4g}' for part in vector) for vector in (controller, gravity))
    return f'gravity set on the controller is {shown} m/s^2, that of the nodes {ours} m/s^2'


def mounting_difference(mounting: np.ndarray, gravity, whose: str = 'the one set there') -> str:
    """Return how the mounting pose (3, 3) of a controller contradicts ``gravity`` (3, m/s^2), '' for not."""
    expected = mounting.T @ np.array([0.0, 0.0, -UPRIGHT])
    size = float(np.linalg.norm(gravity))
    if size and np.abs(expected / UPRIGHT - gravity / size).max() <= FALL / UPRIGHT:
        return ''
    shown = ' '.join(f'{part:.4g}' for part in expected)
    return f'the mounting pose set on the controller means gravity of {shown} m/s^2, which is not {whose}'
