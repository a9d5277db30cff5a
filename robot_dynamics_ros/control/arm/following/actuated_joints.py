"""How far an actuated joint moves a mechanism, and whether anything is another after a turn of it."""

from robot_dynamics_ros.control.arm.following.loop_check import joints_between
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.loop_rank import units_of_velocities


def unit_before_gears(robot: Robot, joint: str) -> float:
    """Return the unit of distances of a joint, rad or m: its own one, or what moves a joint behind gears by that.

    The larger one counts: 100 rad of a motor with a gear of 100:1 move the mechanism as far as 1 rad of what it drives.
    """
    units = dict(zip(_joints_of_velocities(robot), units_of_velocities(robot.model), strict=True))
    closures = robot.loops.closures
    held = {name for it in closures for name in joints_between(robot, str(it.link_a), str(it.link_b))}

    def unit(name: str, couplings: list[Coupling]) -> float:
        driven = [it for it in couplings if it.other == name]
        if name in held or any(any(it.polynomial[2:]) for it in driven):
            return float(units[name])
        behind = [it for it in couplings if it.other != name]
        units_behind = [unit(it.joint, behind) / abs(c) for it in driven for c in it.polynomial[1:2] if c]
        return max(float(units[name]), min(units_behind, default=0.0))

    return unit(joint, list(robot.loops.couplings))


def sprung_joints(robot: Robot) -> set[str]:
    """Return the joints that have a spring."""
    return {name for name, k in zip(_joints_of_velocities(robot), robot.model.arrays.stiffness[1:], strict=True) if k}


def is_the_same_after_a_turn(robot: Robot, joint: str) -> bool:
    """Return whether nothing tells the position of a continuous joint from the one that is 2 pi ahead of it.

    A joint that a coupling turns by another amount does, a screw, and a spring of joints that move with it.
    """
    moved, model = _moved_with(robot, joint), robot.model
    coupled = {it.joint for it in robot.loops.couplings if it.other is not None}
    screws = {name for name, kind in zip(model.joint_names, model.joint_kinds, strict=True) if kind == 'helical'}
    is_continuous = robot.continuous_joints[_joints_of_velocities(robot).index(joint)]
    return bool(is_continuous) and not moved & (coupled | screws | sprung_joints(robot))


def _moved_with(robot: Robot, joint: str) -> set[str]:
    """Return the joints that can move with one since closures and couplings connect them, itself included."""
    loops = robot.loops
    groups = [set(joints_between(robot, str(it.link_a), str(it.link_b))) for it in loops.closures]
    groups += [{it.joint, it.other} for it in loops.couplings if it.other is not None]
    found = {joint}
    while more := set().union(*(it for it in groups if it & found)) - found:
        found |= more
    return found


def _joints_of_velocities(robot: Robot) -> list[str]:
    """Return the joint of each velocity."""
    return [robot.model.joint_of_velocity(k) for k in range(robot.nv)]
