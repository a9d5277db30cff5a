"""Loads the robot that a node's parameters describe."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from robot_dynamics_ros.control.arm.described_arm import (
    FROM,
    MEASURED,
    check_gravity,
    check_joint_kinds,
    described,
    locked_positions,
    measured_positions,
    part_of,
    stated_gravity,
)
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, following_mimics, in_driven_joints
from robot_dynamics_ros.control.arm.following.mimic_joints import with_followers
from robot_dynamics_ros.control.arm.locked_joints import LockedJoints
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.audit import refusals
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.robot import Robot


def load_robot(node, description: str) -> Robot | DrivenRobot:
    """Return the robot of ``description``, see ``RobotDescription.source``, as the parameters of ``node`` say.

    Loops of the parameter loops are added first, as if the description stated them. Joints are locked next, so what
    moves with them keeps its mass; then the chain is cut out. Joints that mimic others follow them; they and the locked
    ones are ``node.locked_joint_names``. Where joints of closed loops are actuated, the others follow them. A node that
    reads joint states also gets ``locked_joints``, to compare them. The findings of the model check are logged, and an
    error that affects what the node computes is refused, unless model_findings accepts it. DynamicsError names the
    parameter, joint or link that is wrong.
    """
    robot, couplings = described(description, node.value('loops'), keeps_loops=node.serves_loops)
    if node.value('actuators'):
        robot = robot.with_actuators(node.value('actuators'))
    gravity = stated_gravity(node.value('gravity'), node.value('gravity_limit'))
    if gravity is not None:
        robot = robot.with_gravity(gravity)
    stated = locked_positions(node.value('locked_joints'))
    measured = _measured_joints(node, robot)
    couplings = [it for it in couplings if it.joint not in measured]
    locked = with_followers(couplings, {joint: place for joint, place in stated.items() if joint not in measured})
    followers = [it.joint for it in couplings if it.joint not in locked]
    node.locked_joint_names = *locked, *followers, *(measured if node.reads_joint_states else ())
    whole, robot = robot, part_of(robot, locked, node.value('base_link'), node.value('tip_link'), gravity)
    _check_kept(robot, measured)
    check_gravity(robot.gravity, node.value('gravity_limit'))
    _check_findings(node, robot)
    if not robot.nv:
        raise ModelError(f'{robot.name}: no joint moves')
    if robot.loops.all and (robot.loops.actuated or not node.serves_loops):
        return _mechanism(node, robot, measured)
    check_joint_kinds(robot)
    couplings = [it for it in couplings if it.joint in robot.joint_names and it.other in robot.joint_names]
    if not node.reads_joint_states:
        return _following(node, robot, couplings)
    couplings += [Coupling(joint, None, (0.0 if math.isnan(it) else it,)) for joint, it in measured.items()]
    arm = _following(node, robot, couplings, measured)
    _check_stated(node, robot, measured)
    compared = {} if whole.loops.closures else locked  # nodes that read joint states refuse closed loops
    node.locked_joints = LockedJoints(whole, compared, arm.joint_names, node.value('locked_joint_tolerance'))
    return arm


def _following(
    node, robot: Robot, couplings: Sequence[Coupling], measured: Mapping[str, float] | None = None
) -> Robot | DrivenRobot:
    """Return ``robot`` with its joints that mimic others, and ``measured`` ones, as followers, and log them."""
    for it in couplings:
        offset, multiplier = (*it.polynomial, 0.0)[:2]
        how = (
            f'is locked {where_measured(measured[it.joint])}'
            if measured and it.joint in measured
            else f'follows {it.other!r} (multiplier {multiplier:g}, offset {offset:g}): its torque counts at that '
            'joint, and it gets no command'
        )
        node.robot_log.info(f'{robot.name}: joint {it.joint!r} {how}')
    sprung = [robot.model.joint_of_velocity(int(k)) for k in np.flatnonzero(robot.model.arrays.stiffness[1:])]
    if sprung:
        node.robot_log.info(f'{robot.name}: springs of joints count in the gravity term: {", ".join(sprung)}')
    return robot if robot.loops.all and not couplings else following_mimics(robot, couplings, measured)


def _mechanism(node, robot: Robot, measured: Sequence[str]) -> DrivenRobot:
    """Return ``robot``, which has closed loops, in the coordinates of its actuated joints, and log them."""
    for joint in measured:
        raise ArgumentError(f'locked_joints: joint {joint!r} is {MEASURED!r}, which closed loops do not allow')
    driven = in_driven_joints(robot, node.value('loop_tolerance') if node.reads_joint_states else math.inf)
    start = ', '.join(f'{name!r} {y:.4g}' for name, y in zip(driven.joint_names, driven.neutral(), strict=True))
    node.robot_log.info(
        f'{robot.name}: actuated joints, to which torques belong, and where the loops were closed first, rad or m: '
        f'{start}; they fix {len(driven.followers)} others'
    )
    if node.reads_joint_states:
        node.locked_joints = LockedJoints(robot, {}, driven.joint_names, 0.0)
    return driven


def where_measured(stated: float) -> str:
    """Return where a joint is locked that is measured, from the ``stated`` position (rad, m; NaN: none) on."""
    return 'where joint_states say' + ('' if math.isnan(stated) else f', and until then at {stated:g}')


def _measured_joints(node, robot: Robot) -> dict[str, float]:
    """Return the joints of locked_joints that ``node`` does not lock, for they are measured, or refuse them by name.

    They come with the stated position (rad, m), NaN for none. In a node without joint states those with one are locked.
    """
    measured = measured_positions(node.value('locked_joints'))
    for joint, place in measured.items():
        if joint not in robot.joint_names:
            raise ArgumentError(f'locked_joints: unknown joint {joint!r}; the robot has {", ".join(robot.joint_names)}')
        if math.isnan(place) and not (node.reads_joint_states or node.serves_loops):
            raise ArgumentError(
                f'locked_joints: joint {joint!r} is {MEASURED!r}, but this node reads no joint_states: state a '
                f"position, such as '{joint}: {MEASURED} {FROM} 0.0'"
            )
    return {joint: place for joint, place in measured.items() if math.isnan(place) or node.reads_joint_states}


def _check_kept(robot: Robot, measured: Iterable[str]) -> None:
    """Refuse ``measured`` joints that are not part of ``robot``, which would lose their mass and turn gravity."""
    for joint in measured:
        if joint not in robot.joint_names:
            raise ArgumentError(
                f'locked_joints: joint {joint!r} is {MEASURED!r}, but not between base_link and tip_link: begin at a '
                'link before it, end at one behind it, or lock it at a position'
            )


def _check_stated(node, robot: Robot, measured: Mapping[str, float]) -> None:
    """Refuse positions from which joints are ``measured`` (rad, m; NaN: none) that ``robot`` cannot have."""
    limits = PositionLimits(robot, node.value('position_limit_tolerance')) if measured else None
    for joint, place in measured.items():
        if limits and not math.isnan(place) and (fault := limits.fault(robot.joint_names.index(joint), place)):
            raise ArgumentError(f'locked_joints: {fault}')


def _check_findings(node, robot: Robot) -> None:
    """Log the findings of the model check; ModelError for an error that affects what ``node`` computes.

    With the parameter model_findings 'accept' all findings are warnings.
    """
    accepted = node.value('model_findings') == 'accept'
    wrong = [] if accepted else refusals(robot.findings, node.needs)
    for finding in robot.findings:
        if finding in wrong:
            node.robot_log.error(f'{robot.name}: {finding}')
        else:
            node.robot_log.warning(f'{robot.name}: {finding._replace(severity="warning")}')
    if wrong:
        correct = 'correct the description'
        if any(finding.affects == 'inertias' for finding in wrong):
            correct += ' (Robot.with_consistent_inertias() proposes inertias)'
        raise ModelError(
            f'{robot.name}: the model check found {len(wrong)} error(s), first {wrong[0]}; {correct}, or set the '
            'parameter model_findings to accept'
        )
