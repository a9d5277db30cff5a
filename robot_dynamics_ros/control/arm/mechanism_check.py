"""Whether a mechanism that nodes accept can move, which turns of joints count, and what of its friction does not."""

import math
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.cusps import two_ends
from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.errors import LoopError, SingularError
from robot_dynamics_ros.model.closed_loops.loop_types import LoopClosure
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

SHORT = 0.05
"""rad, or of the size of the mechanism: one that cannot move so far is stuck, and not near the end of its motion."""


def stuck_findings(robot: DrivenRobot) -> Iterator[Finding]:
    """Yield a finding where no actuated joint of a mechanism can move from where its loops are closed first.

    So it is where a constraint that depends on others in exact arithmetic is kept by rounded poses or axes.
    """
    mechanism = robot.following
    if not isinstance(mechanism, ClosedMechanism):
        return
    reason = ''
    for step in (-SHORT, SHORT):
        for k in range(robot.nv):
            y = mechanism.home.copy()
            y[k] += step * mechanism.arithmetic.unit[k]
            try:
                for _ in mechanism.way(mechanism.at_home, y):
                    pass
            except (LoopError, SingularError) as error:
                reason = str(error)
            else:
                return
    message = (
        'its loops close, but no actuated joint can move from there '
        f"({reason}): where poses or axes are rounded, take the kind 'planar_point', or state them with all digits"
    )
    yield Finding('warning', f'robot {robot.name!r}', message)


def turn_findings(robot: DrivenRobot) -> Iterator[Finding]:
    """Yield a finding on each driven joint whose whole turns count, though it has no position limits."""
    kinds = dict(zip(robot.model.joint_names, robot.model.joint_kinds, strict=True))
    unlimited = (robot.limits.lower == -np.inf) & (robot.limits.upper == np.inf)
    for name in np.array(robot.joint_names)[unlimited & ~robot.continuous_joints]:
        if kinds[name] == 'revolute':
            message = (
                'it has no position limits, and joints that follow it, or springs, tell its whole turns apart: '
                'joint_states has to count them, from where this description has its position 0'
            )
            yield Finding('warning', f'joint {str(name)!r}', message)


def cusp_findings(robot: DrivenRobot) -> Iterator[Finding]:
    """Yield a finding where the assembly mode of a mechanism does not tell where its other joints are."""
    mechanism = robot.following
    if isinstance(mechanism, ClosedMechanism) and (ends := two_ends(mechanism)):
        message = (
            f'with {mechanism.said(ends[0].y)} its other joints have two positions in one assembly mode, and motions '
            'lead from one to the other: activate it where it is near the stated positions (near), or where nodes '
            'stood with it last'
        )
        yield Finding('warning', f'robot {robot.name!r}', message)


def spring_findings(robot: DrivenRobot) -> Iterator[Finding]:
    """Yield a finding on each closing hinge with a spring that one actuated joint can turn beyond half a turn."""
    mechanism = robot.following
    if not isinstance(mechanism, ClosedMechanism):
        return
    hinges = [it for it in mechanism.mechanism.loops.closures if it.stiffness]
    ways = [_way_of(mechanism, k, sign) for k in range(robot.nv) for sign in (-1.0, 1.0)] if hinges else []
    for hinge in hinges:
        angles = (np.array([_angle(mechanism.mechanism, hinge, q) for q in way]) for way in ways)
        if any((np.abs(np.diff(it)) > 0.5 * TURN).any() for it in angles):
            message = (
                'it turns beyond half a turn, where the torque of its spring has a step: its angle is between -pi '
                'and pi: cut the loop elsewhere, so that the spring is one of a joint'
            )
            yield Finding('warning', f'loop {hinge.name!r}', message)


def _way_of(mechanism: ClosedMechanism, k: int, sign: float) -> list[np.ndarray]:
    """Return positions (nq) on the way of one actuated joint, which ends where its limits or the loops do."""
    limits, found = mechanism.mechanism.limits, [mechanism.at_home]
    lower, upper = limits.lower[mechanism.places[k]], limits.upper[mechanism.places[k]]
    with suppress(LoopError, SingularError):
        # a way of half a turn may lead back
        for turns in (0.49, 0.98):
            y = mechanism.home.copy()
            y[k] = np.clip(y[k] + sign * turns * TURN, min(lower, y[k]), max(upper, y[k]))
            for it in mechanism.way(found[-1], y):
                found.append(it)
    return [it.q for it in found]


def _angle(robot: Robot, hinge: LoopClosure, q: np.ndarray) -> float:
    """Return the angle of frame B against A about its z axis, rad."""
    A, B = (
        robot.link_pose(q, link or robot.link_names[0]) @ pose
        for link, pose in ((hinge.link_a, hinge.pose_a), (hinge.link_b, hinge.pose_b))
    )
    R = A[:3, :3].T @ B[:3, :3]
    return math.atan2(R[1, 0], R[0, 0])


def friction_findings(robot: DrivenRobot) -> Iterator[Finding]:
    """Yield a finding on joints without a motor whose friction is said to grow with their load: they transmit none."""
    mechanism = robot.following
    if not isinstance(mechanism, ClosedMechanism):
        return
    names = [robot.model.joint_of_velocity(int(k)) for k in np.flatnonzero(robot.robot.friction.load)]
    passive = [name for name in dict.fromkeys(names) if name not in robot.joint_names]
    if passive:
        message = (
            'joints without a motor have friction that grows with the load, which does not count: '
            f'{", ".join(passive)} transmit no torque; state it as coulomb, or as load of joints with a motor'
        )
        yield Finding('warning', f'robot {robot.name!r}', message)
