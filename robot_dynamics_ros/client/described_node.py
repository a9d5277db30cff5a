"""The robot of a node, loaded as the node does it, from its parameters."""

import time
from types import SimpleNamespace
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python
from std_msgs.msg import String

from robot_dynamics_ros.client.errors import UnavailableError
from robot_dynamics_ros.client.link import PATIENCE, Link
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.locked_joints import LockedJoints
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import definitions_of
from robot_dynamics_ros.nodes.lifecycle.robot_description import RobotDescription
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.nodes.lifecycle.robot_requirements import requirements_of
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL
from robot_dynamics_ros.robot import Robot

NODE = 'torque_controller'
REPEAT = 0.5
"""Time after which a request is repeated, s: a server that has just been discovered may not know the client yet."""
NEVER = {'autostart': False}
"""The client starts nothing."""


class DescribedNode:
    """As much of a torque_controller as loading its robot needs."""

    def __init__(self, link: Link):
        """Read the parameters of the node at the other end of ``link``, and listen to its description."""
        self._link = link
        self._client = link.node.create_client(GetParameters, f'{link.target}/get_parameters')
        self.needs, self.serves_loops, self.reads_joint_states = requirements_of(NODE)
        self.robot_log = SimpleNamespace(error=_drop, warning=_drop, info=_drop)  # the node has logged it
        self.robot, self.locked_joint_names = None, ()
        self.locked_joints: LockedJoints | None = None
        self._values: dict[str, Any] = {}
        self._update()
        self._description = RobotDescription(self, self._subscribe, lambda: '')

    def value(self, name: str):
        """Return a parameter's value."""
        return self._values[name]

    def parameter(self, name: str):
        """Return the value that a parameter of the node has now; UnavailableError where the node does not respond."""
        return self._get([name])[name]

    def load(self) -> Robot | DrivenRobot:
        """Return the robot whose digest is the node's; UnavailableError says why it cannot be loaded."""
        self._update()
        self._link.wait(lambda: not self._description.awaited, PATIENCE)
        try:
            robot = load_robot(self, self._description.source())
        except DynamicsError as error:
            raise UnavailableError(f'the robot of {self._link.target} cannot be loaded here: {error}') from error
        # the node may still be preparing the description that has come here
        if not self._link.wait(lambda: self._link.status.digest == robot.digest, PATIENCE):
            raise UnavailableError(
                f'{self._link.target} has another robot (digest {self._link.status.digest}) than its parameters and '
                f'description give here (digest {robot.digest}): a parameter was set after it was configured, a file '
                'differs, or it has refused the newest description'
            )
        return robot

    def _subscribe(self, topic: str, callback) -> None:
        self._link.subscribe(String, topic, callback, TRANSIENT_LOCAL)

    def _update(self) -> None:
        self._values = self._get([found.name for found in definitions_of(NODE)]) | NEVER

    def _get(self, names: list[str]) -> dict[str, Any]:
        deadline, futures = time.monotonic() + PATIENCE, []

        def response():
            return next((future.result() for future in futures if future.done()), None)

        while not (found := response()):
            if time.monotonic() > deadline:
                raise UnavailableError(f'{self._link.target} does not respond to requests for its parameters')
            if self._client.service_is_ready():
                futures.append(self._client.call_async(GetParameters.Request(names=names)))
                futures[-1].add_done_callback(lambda future: self._link.notify())
            self._link.wait(response, REPEAT if futures else 0.05)
        for future in futures:
            self._client.remove_pending_request(future)
        values = [parameter_value_to_python(value) for value in found.values]
        if len(values) != len(names) or None in values:
            raise UnavailableError(f'{self._link.target} is not a {NODE}: it lacks parameters of one')
        return dict(zip(names, values, strict=True))


def _drop(line: str) -> None:
    """Log nothing."""
