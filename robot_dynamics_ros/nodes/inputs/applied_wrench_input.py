"""Input of a wrench that acts on a simulated arm, as that of a hand."""

import numpy as np
from geometry_msgs.msg import WrenchStamped

from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.spatial_vector import SpatialVector
from robot_dynamics_ros.messages.stamps import check_age
from robot_dynamics_ros.nodes.inputs.verdicts import Verdicts
from robot_dynamics_ros.nodes.process.publishers import command_warnings

TOPIC = 'applied_wrench'
AGE_NS = round(AGE * 1e9)


class AppliedWrenchInput:
    """Applies each wrench on ``applied_wrench`` to an arm; a wrong one is refused by name, once in the log."""

    def __init__(self, node, arm, frame: str):
        """Subscribe for a BaseNode whose MujocoArm ``arm`` is touched at ``frame``; its executor handles messages."""
        self._node, self._arm, self._base, self._frame = node, arm, node.robot.link_names[0], frame
        self.verdicts = Verdicts('wrench', 'wrenches')
        subscription = node.create_subscription(WrenchStamped, TOPIC, self._on_wrench, 1, raw=True)
        node.resources.callback(node.destroy_subscription, subscription)

    def report(self) -> dict[str, str]:
        """Return the wrench that acts, and what became of messages, as fields of the diagnostics."""
        moment, force = (' '.join(f'{x:.4g}' for x in part) for part in np.split(self._arm.wrench.in_force, 2))
        return {'applied force, N': force, 'applied moment, N m': moment, **self.verdicts.report()}

    def warnings(self) -> list[str]:
        """Return that several nodes apply wrenches."""
        return command_warnings(self._node, TOPIC, 'wrench')

    def _on_wrench(self, data: bytes) -> None:
        try:
            self._apply(data)
            self.verdicts.take()
        except DynamicsError as error:
            reason = f'{TOPIC}: {error}'
            if reason != self.verdicts.refused:
                self._node.refuse(reason)
            self.verdicts.refuse(reason)

    def _apply(self, data: bytes) -> None:
        """Let the wrench of a serialised message act; ArgumentError says why it does not."""
        if not self._node.active:
            raise ArgumentError(f'{self._node.get_name()} is not active')
        if self._arm.brakes:
            raise ArgumentError('the brakes are closed, which hold the arm')
        found = SpatialVector.read('wrench', self._base, self._frame, data)
        check_age(found.stamp, self._node.get_clock().now().nanoseconds, AGE_NS)
        self._arm.wrench.apply(found.vector, found.is_local)
