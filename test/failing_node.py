"""gravity_compensation_node as one that fails at a first position beyond ``LIMIT``, and dynamics_server beside it."""

from robot_dynamics_ros.nodes.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.process import run

LIMIT = 2.0
"""rad"""


class FailingNode(GravityCompensationNode):
    """The node with its fault."""

    def compute(self, stamp: int) -> str:
        """Write the torque, or fail."""
        if self.state.q[0] > LIMIT:
            raise RuntimeError('a wheel came off')
        return super().compute(stamp)


if __name__ == '__main__':
    run(FailingNode, DynamicsServer)
