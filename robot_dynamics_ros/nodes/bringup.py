"""Runs a chosen set of this package's nodes in one process."""

import argparse
import sys

from rclpy.utilities import remove_ros_args

from robot_dynamics_ros.nodes.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.simulated_arm import SimulatedArm
from robot_dynamics_ros.nodes.torque_controller import TorqueController

NODES = {
    'feedforward_node': FeedforwardNode,
    'gravity_compensation_node': GravityCompensationNode,
    'dynamics_server': DynamicsServer,
    'torque_controller': TorqueController,
    'simulated_arm': SimulatedArm,
}
DEFAULT = 'feedforward_node gravity_compensation_node dynamics_server'


def main():
    """Run the nodes that the command line names."""
    parser = argparse.ArgumentParser(prog='bringup', description=__doc__)
    parser.add_argument('--nodes', default=DEFAULT, help=f'names with blanks between, among {" ".join(NODES)}')
    names = parser.parse_args(remove_ros_args(sys.argv)[1:]).nodes.split()
    unknown = [name for name in names if name not in NODES]
    if unknown or not names:
        parser.error(f'nodes: expected some of {" ".join(NODES)}, got {" ".join(names) or "none"!r}')
    run(*(NODES[name] for name in dict.fromkeys(names)))


if __name__ == '__main__':
    main()
