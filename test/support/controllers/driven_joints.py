"""Robots whose other joints follow the driven ones, and their libraries for controllers."""

import functools

from support.controllers.controllers_core import exported
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED
from support.robots.small_robots import joint, link

from robot_dynamics_ros import LoopClosure, Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints

ACTUATED = {
    'palletizer': PALLETIZER_ACTUATED,
    'four-bar, revolute': ('crank joint',),
    'four-bar with a spring': ('crank joint',),
    'parallelogram': ('crank joint',),
    'delta': tuple(f'arm {k} joint' for k in range(3)),
    'Stewart platform': tuple(f'piston {k} joint' for k in range(6)),
}
FINGERS = 'two mimic fingers'
FRICTION = {'viscous': 0.4, 'coulomb': 0.3, 'offset': 0.1, 'load': 0.1, 'stribeck': 0.2, 'quadratic': 0.05}
RUBBING = 'palletizer', 'four-bar with a spring', 'delta'
"""Robots all of whose joints have friction."""
LIMIT = '<limit lower="-3" upper="3" velocity="2" effort="100"/>'


def fingers() -> Robot:
    """Return an arm of two joints with a gripper, two fingers of which mimic the first."""
    mimic = '<mimic joint="left" multiplier="{}" offset="{}"/>'.format
    parts = [
        link('base'), link('upper', 2.0), link('fore', 1.0), *(link(f'finger {k}', 0.1) for k in range(3)),
        joint('shoulder', 'base', 'upper', 'revolute', '0 1 0', inside=LIMIT),
        joint('elbow', 'upper', 'fore', 'revolute', '0 1 0', origin='0 0 1', inside=LIMIT),
        joint('left', 'fore', 'finger 0', 'prismatic', origin='0 0 1', inside=LIMIT),
        joint('right', 'fore', 'finger 1', 'prismatic', origin='0 1 1', inside=LIMIT + mimic(-1.0, 0.01)),
        joint('middle', 'fore', 'finger 2', 'revolute', '0 1 0', origin='1 0 1', inside=LIMIT + mimic(0.7, -0.2)),
    ]  # fmt: skip
    return Robot.from_urdf(f'<robot name="gripper">{"".join(parts)}</robot>', mimic='couple')


def robot_of(name: str) -> Robot:
    if name == FINGERS:
        return fingers()
    mechanism = MECHANISMS['four-bar, revolute' if name == 'four-bar with a spring' else name]
    loops = mechanism.loops
    if name == 'four-bar with a spring':
        (pin,) = loops
        loops = (LoopClosure(pin.name, pin.link_a, pin.pose_a, pin.link_b, pin.pose_b, 'revolute', 3.0, 0.2, 0.1),)
    names = [mechanism.robot.model.joint_of_coordinate(k) for k in range(mechanism.robot.nq)]
    near = {it: float(x) for it, x in zip(names, mechanism.q, strict=True) if names.count(it) == 1}
    robot = mechanism.robot.with_friction(**FRICTION) if name in RUBBING else mechanism.robot
    return robot.with_loops(loops, actuated=ACTUATED[name], near=near)


def arm(name: str) -> DrivenRobot:
    """Return a robot as a node has it."""
    found = in_driven_joints(robot_of(name))
    assert isinstance(found, DrivenRobot)
    return found


@functools.cache
def library(name: str):
    return exported(arm(name), f'driven {name}')
