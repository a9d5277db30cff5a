"""Findings on mechanisms that nodes accept: those that cannot move, and friction that does not count."""

from dataclasses import replace

from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, TURN, cut_four_bar
from support.robots.driven_mechanisms import closed, driven_robot
from support.robots.mechanisms import IN_PLANE, MECHANISMS, Mechanism, actuated, geared_four_bar, pose
from support.robots.small_robots import joint, link

import numpy as np
import pytest

from robot_dynamics_ros import LoopClosure, Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints
from robot_dynamics_ros.control.arm.mechanism_check import (
    friction_findings,
    spring_findings,
    stuck_findings,
    turn_findings,
)


def four_bar(kind: str, tilt: float = 0.0, text: str = '') -> DrivenRobot:
    """Return the four-bar, whose pin is off the other axes by ``tilt`` (rad) in the coupler and the rocker alike."""

    def pose(place: str, turn: float) -> np.ndarray:
        found = np.eye(4)
        c, s = np.cos(turn), np.sin(turn)
        found[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
            [[1.0, 0.0, 0.0], [0.0, np.cos(tilt), -np.sin(tilt)], [0.0, np.sin(tilt), np.cos(tilt)]]
        )
        found[:3, 3] = [float(it) for it in place.split()]
        return found

    pin = LoopClosure('pin', 'coupler_link', pose(PIN_OF_COUPLER, 0.0), 'rocker_link', pose(PIN_OF_ROCKER, TURN), kind)
    found = in_driven_joints(Robot.from_urdf(text or cut_four_bar()).with_loops([pin], actuated=['crank']))
    assert isinstance(found, DrivenRobot)
    return found


def test_a_mechanism_that_closes_at_one_position_alone_is_a_finding():
    (found,) = stuck_findings(four_bar('revolute', 4e-6))
    assert "no actuated joint can move from there (loop 'pin' cannot be closed with 'crank' at" in found.message
    assert "take the kind 'planar_point'" in found.message


@pytest.mark.parametrize(('kind', 'tilt'), [('revolute', 0.0), ('planar_point', 4e-6), ('point', 0.0)])
def test_a_mechanism_that_moves_is_none(kind, tilt):
    assert not [*stuck_findings(four_bar(kind, tilt))]


def test_friction_by_load_of_joints_without_a_motor_is_a_finding():
    robot = four_bar('point')
    (found,) = friction_findings(robot.with_friction(load=0.1))
    assert 'which does not count: coupler, rocker transmit no torque; state' in found.message
    loaded = np.isin(robot.robot.joint_names, robot.joint_names) * 0.1
    assert not [*friction_findings(robot.with_friction(load=loaded, coulomb=1.0))]


def test_a_robot_without_closures_has_neither():
    gripper = Robot.from_urdf(
        cut_four_bar('<ros2_control><joint name="rocker"><param name="mimic">crank</param></joint></ros2_control>'),
        mimic='couple',
    )
    driven = in_driven_joints(gripper)
    assert not [*stuck_findings(driven), *friction_findings(driven)]


def test_a_joint_without_limits_whose_turns_count_is_a_finding():
    """A motor without limits that drives a finger, and one that drives the crank of a four-bar; not that crank."""
    limits = '<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="motor" multiplier="0.25"/>'
    parts = [
        link('base'), link('rotor'), link('finger'), joint('motor', 'base', 'rotor', 'continuous'),
        joint('knuckle', 'base', 'finger', 'revolute', inside=limits),
    ]  # fmt: skip
    gripper = Robot.from_urdf(f'<robot name="gripper">{"".join(parts)}</robot>', mimic='couple')
    (of_finger,) = turn_findings(in_driven_joints(gripper))
    (of_crank,) = turn_findings(driven_robot(actuated(geared_four_bar(0.5), ('gear 0 joint',))))
    assert [of_finger.where, of_crank.where] == ["joint 'motor'", "joint 'gear 0 joint'"]
    assert 'joint_states has to count them' in of_finger.message
    assert not [*turn_findings(closed('four-bar, revolute'))]


def test_a_spring_of_a_closing_hinge_that_turns_beyond_half_a_turn_is_a_finding():
    """The crank of a four-bar goes round its pin with the coupler, not with the rocker's."""
    bars = MECHANISMS['four-bar, revolute']
    (closure,) = bars.loops
    crank, coupler, rocker = bars.joints
    about = replace(coupler, parent='rocker', origin=closure.pose_b[:3, 3])
    at_crank = pose(coupler.origin, IN_PLANE), pose((-closure.pose_a[0, 3], 0.0, 0.0), IN_PLANE)
    pin = LoopClosure('pin', 'crank', at_crank[0], 'coupler', at_crank[1], 'revolute', 5.0)
    q = bars.q
    cut = Mechanism('cut', (crank, rocker, about), (pin,), np.array([q[0], q[2], q[0] + q[1] - q[2]]), 1)
    held = replace(bars, loops=(replace(closure, stiffness=5.0),))
    (found,) = spring_findings(driven_robot(actuated(cut, ('crank joint',))))
    assert found.where == "loop 'pin'" and 'has a step' in found.message
    assert not [*spring_findings(driven_robot(actuated(held, ('crank joint',))))]
