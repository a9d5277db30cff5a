"""From the latched ``payload_state`` and ``gravity_state`` of a dynamics_server to the robot of a node beside it."""

from collections.abc import Callable

from geometry_msgs.msg import Vector3Stamped

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros.control.payload_ramp import PayloadRamp
from robot_dynamics_ros.dynamics.errors import DynamicsError
from robot_dynamics_ros.nodes.dynamics_node import LATCHED, DynamicsNode
from robot_dynamics_ros.nodes.load_messages import gravity_of, load_report, payload_of
from robot_dynamics_ros.nodes.state_input import nanoseconds
from robot_dynamics_ros.robot import Robot


class LoadInput:
    """A robot and the ramp of its payload, as the newest messages say. A wrong one is refused: the old one stays."""

    def __init__(self, node: DynamicsNode, taken: Callable[[], object]):
        """Begin with the node's robot; ``taken()`` is called after each change of ``robot`` or ``ramp``."""
        self.robot: Robot = node.robot
        self.ramp = PayloadRamp()
        self.refused = ''
        self._node, self._taken = node, taken
        self._subscriptions = [
            node.create_subscription(kind, topic, node.guarded(self._refusing(topic, take)), LATCHED)
            for kind, topic, take in (
                (PayloadState, 'payload_state', self._take_payload),
                (Vector3Stamped, 'gravity_state', self._take_gravity),
            )
        ]

    def destroy(self) -> None:
        """Destroy the subscriptions."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def report(self) -> dict[str, str]:
        """Return payload and gravity for the diagnostics, and why a message was refused last."""
        return {**load_report(self.robot, self.ramp.mass), 'load refused last': self.refused}

    def _refusing(self, topic: str, take):
        """Return the callback that has ``take`` take a message, or tells why it does not."""

        def callback(message) -> None:
            try:
                take(message)
            except DynamicsError as error:
                self.refused = f'{topic}: {error}'
                self._node.get_logger().warning(f'refused: {self.refused}')
                return
            self._taken()

        return callback

    def _take_payload(self, message: PayloadState) -> None:
        payload, frame, ramp_time = payload_of(self.robot, message)
        self.ramp = self.ramp.to(frame, payload, nanoseconds(message.stamp), ramp_time)

    def _take_gravity(self, message: Vector3Stamped) -> None:
        self.robot = self.robot.with_gravity(gravity_of(self.robot, message))
