"""The arm that a robot description describes, and what parameters state beside it: locked joints, a chain, gravity."""

import math
from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.formats.description import model_from_description, urdf_of_description
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.equality import same_model
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.limbs import tip_arguments
from robot_dynamics_ros.robot import Robot

MEASURED, FROM = 'measured', 'from'
"""In locked_joints: the joint is where joint_states say that it is, and before where it is stated, after FROM."""


def described(description: str, loops: str = '', keeps_loops: bool = False) -> tuple[Robot, Sequence[Coupling]]:
    """Return the robot of ``description`` as a tree of joints, and the couplings of its mimic joints.

    ``loops`` is the path of a loops file, '' for none; its loops are added to those of the description.
    A robot with closures, or with a coupling that is not linear, keeps its loops, as does one with couplings, other
    than <mimic>, for a node that ``keeps_loops``. Joints whose <mimic> is wrong, such as one that names no joint, are
    joints of their own; a finding says so.
    """
    robot = Robot(*model_from_description(description, couple_mimics=True, loops_file=loops or None))
    couplings = robot.loops.couplings
    if not robot.loops.are_mimic_joints or (keeps_loops and urdf_of_description(description) is None):
        return robot, ()
    return robot.with_loops([]) if couplings else robot, couplings


def part_of(robot: Robot, locked: dict[str, float], base_link: str, tip_link: str, gravity) -> Robot:
    """Return ``robot`` with locked joints, and of it the chain between two links ('': its own base, every tip).

    ``gravity`` (3, m/s^2, frame of ``base_link``) is None where it is that of the description.
    """
    if locked:
        try:
            robot = robot.with_locked_joints(locked)
        except DynamicsError as error:
            raise ArgumentError(f'locked_joints: {error}') from error
    if base_link or tip_link:
        try:
            robot = robot.chain(base_link or None, tip_link or None, gravity)
        except DynamicsError as error:
            raise ArgumentError(f'base_link {base_link!r}, tip_link {tip_link!r}: {error}') from error
    return robot


def same_robot(one: Robot | DrivenRobot, other: Robot | DrivenRobot) -> bool:
    """Return whether two robots, without payload, are the same in all that a node computes with."""
    couplings = [getattr(robot, 'couplings', ()) for robot in (one, other)]
    wholes = [getattr(robot, 'mechanism', None) or robot for robot in (one, other)]
    return (
        same_model(wholes[0].model, wholes[1].model)
        and np.array_equal(one.gravity, other.gravity)
        and couplings[0] == couplings[1]
        and _stated(one) == _stated(other)
    )


def check_joint_kinds(robot: Robot) -> None:
    """Refuse joints of several degrees of freedom, such as that of a mobile or floating base; ModelError names one.

    The text says which links leave such joints out.
    """
    joint = next((joint for joint in robot.model.joints if KINDS[joint.kind].coordinates > 1), None)
    if joint is not None:
        part = tip_arguments(robot.model, joint.link) or 'base_link:=FIRST_LINK tip_link:=LAST_LINK'
        raise ModelError(
            f'{robot.name}: JointState has no place for joints of several degrees of freedom, and joint {joint.name!r}'
            f' is {joint.kind}; choose the arm: {part}, with the parameter gravity in the frame of base_link'
        )


def locked_positions(entries) -> dict[str, float]:
    """Return position (rad, m) by joint of entries like 'finger_joint: 0.02', blank ones left out.

    It is NaN for 'measured', and that after the word for 'measured from 0.02'. ArgumentError names the entry or joint
    that is wrong.
    """
    return {joint: position for joint, (position, _) in _locked(entries).items()}


def measured_positions(entries) -> dict[str, float]:
    """Return those of ``locked_positions`` that are measured: NaN for 'measured', 0.02 for 'measured from 0.02'."""
    return {joint: position for joint, (position, is_measured) in _locked(entries).items() if is_measured}


def _locked(entries) -> dict[str, tuple[float, bool]]:
    """Return position (rad, m), and whether it is measured, by joint; ArgumentError as ``locked_positions``."""
    found: dict[str, tuple[float, bool]] = {}
    for entry in entries:
        if not entry.strip():
            continue
        joint, colon, text = (part.strip() for part in entry.rpartition(':'))
        if not (joint and colon):
            raise ArgumentError(f"locked_joints: expected 'joint: position', got {entry!r:.80}")
        words = text.split()
        is_measured, is_stated = words[:1] == [MEASURED], words[:2] == [MEASURED, FROM]
        try:
            position = math.nan if words == [MEASURED] else float(' '.join(words[2:]) if is_stated else text)
        except ValueError:
            position = math.inf
        if not math.isfinite(position) and words != [MEASURED]:
            raise ArgumentError(
                f"locked_joints: joint {joint!r}: expected a finite position, {MEASURED!r} or '{MEASURED} {FROM} "
                f"POSITION', got {text!r:.40}"
            )
        if joint in found:
            raise ArgumentError(f'locked_joints: joint {joint!r} is given twice')
        found[joint] = position, is_measured
    return found


def _stated(robot: Robot | DrivenRobot) -> str:
    """Return which joints of a robot are measured, and from where, for a comparison: NaN is not equal to itself."""
    return str(robot.following.stated if isinstance(robot, DrivenRobot) else {})


def stated_gravity(vector, limit: float) -> np.ndarray | None:
    """Return the parameter gravity (3, m/s^2, frame of base_link), None for [0.0]: it is not stated; or refuse it."""
    if list(vector) == [0.0]:
        return None
    check_gravity(vector, limit)
    return np.array(vector)


def check_gravity(vector, limit: float) -> None:
    """Refuse gravity (3, m/s^2) that is not finite, or larger than the parameter gravity_limit says (m/s^2)."""
    validation.finite('gravity', vector, (3,))
    size = float(np.linalg.norm(vector))
    if size > limit:
        raise ArgumentError(
            f'gravity: its magnitude of {size:g} m/s^2 is above the parameter gravity_limit, {limit:g} m/s^2'
        )
