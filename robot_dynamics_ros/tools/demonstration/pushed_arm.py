"""Demo of a compliant tool: a hand pushes the tool of a simulated arm once, then the arm waits for others, over DDS."""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import yaml
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState

from robot_dynamics_ros.formats.library import share_folder
from robot_dynamics_ros.messages.stamps import nanoseconds
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.demonstration.compliant_arm import CompliantArm
from robot_dynamics_ros.tools.demonstration.demo_arm import AUBO_I5
from robot_dynamics_ros.tools.processes import Client, Processes

NODES = ('simulated_arm', 'torque_controller')
TOPIC = 'applied_wrench'
DISTANCE = 0.05
"""By which the tool yields without friction, m."""
DURATION = 3.0
"""Of the push, and of the time after it, s of the arm."""
PERIOD = 0.05
"""Of messages, s."""
PATIENCE = 60.0
"""How long ``DURATION`` may take on a busy machine, s."""


def push_arm(output: Path, say: Callable[[str], None], arm: CompliantArm | None = None) -> None:
    """Push the tool of an arm (default: the AUBO-i5), let go, and run until SIGINT; ``say`` is told what is done."""
    parameters = share_folder() / 'config' / 'compliant.yaml' if arm is None else arm.write(output)
    robot = Robot.named(AUBO_I5) if arm is None else arm.robot
    values = yaml.safe_load(parameters.read_text(encoding='utf-8'))['/**/torque_controller']['ros__parameters']
    frame, stiffness = values['impedance_frame'], values['translational_stiffness'][1]
    force = DISTANCE * stiffness
    domain = os.environ.get('ROS_DOMAIN_ID', '0')
    say(f'{" and ".join(NODES)}: {robot.name} with a compliant tool, {frame} (ROS domain {domain})')
    interrupted = suppress(KeyboardInterrupt, ExternalShutdownException)
    with interrupted, Processes(output) as processes, Client('demo', processes) as client:
        for node in NODES:
            processes.start(node, '--params-file', str(parameters))
        for node in NODES:
            client.wait_until_active(node)
        hand = Hand(client, robot, frame)
        pushed = hand.moved(DURATION, force)
        say(
            f'a push of {force:g} N along y moves the tool by {1e3 * pushed:.0f} mm; by force over stiffness it '
            f'would be {1e3 * DISTANCE:g} mm, friction of the joints carries the rest'
        )
        say(f'let go, it comes back to {1e3 * abs(hand.moved(DURATION)):.0f} mm from where it was')
        say(f'it runs until Ctrl+C; push it on {TOPIC} in this domain, parameters: {parameters}')
        client.spin_while_waiting(lambda: False, math.inf)


class Hand:
    """Pushes the tool of a simulated arm, and says how far it is from where it was at first."""

    def __init__(self, client: Client, robot, frame: str):
        """Wait for the states of the arm."""
        self._client, self._robot, self._frame = client, robot, frame
        self._position, self._stamp = np.zeros(robot.nv), 0
        self._wrenches = client.node.create_publisher(WrenchStamped, TOPIC, 1)
        self._states = client.node.create_subscription(JointState, 'joint_states', self._on_state, 1)
        client.spin_until(lambda: self._stamp, PATIENCE, 'joint_states')
        client.spin_until(self._wrenches.get_subscription_count, PATIENCE, f'a subscription to {TOPIC}')
        self._start = self._place()

    def moved(self, duration: float, force: float = 0.0) -> float:
        """Return the distance (m) along y after a ``duration`` (s of the arm) with a force (N) along y, 0: none."""
        message = WrenchStamped()
        message.wrench.force.y = force
        end = self._stamp + round(duration * 1e9)

        def sent() -> bool:
            if force:
                self._wrenches.publish(message)
            return self._client.spin_while_waiting(lambda: self._stamp >= end, PERIOD)

        self._client.spin_until(sent, PATIENCE, f'{duration:g} s of the arm')
        return float((self._place() - self._start)[1])

    def _place(self) -> np.ndarray:
        return self._robot.link_pose(self._position, self._frame)[:3, 3]

    def _on_state(self, message: JointState) -> None:
        self._position, self._stamp = np.array(message.position), nanoseconds(message.header.stamp)
