"""gravity_compensation_node as one that fails at a first position beyond ``LIMIT``, and dynamics_server beside it."""

from robot_dynamics_ros.control.laws.gravity_law import GravityLaw
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.process.node_process import run

LIMIT = 2.0
"""rad"""


class FailingLaw(GravityLaw):
    """The law with a fault."""

    def torque(self, state, out):
        """Write the torque, or fail."""
        if state.q[0] > LIMIT:
            raise RuntimeError('a wheel came off')
        return super().torque(state, out)


class FailingNode(GravityCompensationNode):
    """The node with its fault."""

    def make_law(self, arm):
        """Return the law that fails."""
        return FailingLaw(arm.gravity)


if __name__ == '__main__':
    run(FailingNode, DynamicsServer)
