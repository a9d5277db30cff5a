"""Serves dynamics quantities, each for many states, and sets payload and gravity of the arm."""

import numpy as np

from robot_dynamics_ros.control.guards.torque_limiter import stated_effort_limits
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS, PayloadGravityPublisher
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.dynamics_services import DynamicsServices


class DynamicsServer(BaseNode):
    """``~/get_...``, ``~/check_trajectory``, ``~/set_...`` in, ``payload_state`` and ``gravity_state`` out."""

    def __init__(self, **options):
        """Declare the parameters and create the publishers of payload and gravity."""
        limits = {'effort_limit': lambda limits: stated_effort_limits(limits, np.nan, self.robot.joint_names)}
        super().__init__('dynamics_server', limits, **options)
        self._payload_gravity_publishers = {topic: PayloadGravityPublisher(self, topic) for topic in KINDS}

    def make_task(self) -> DynamicsServices:
        """Return the services."""
        return DynamicsServices(self, self._payload_gravity_publishers)


def main():
    """Run the node."""
    run(DynamicsServer)


if __name__ == '__main__':
    main()
