"""Runs a chosen set of this package's nodes in one process, and dynamics_server beside them in a second one."""

import argparse
from collections.abc import Iterable
from functools import partial

from rclpy.logging import get_logger
from rclpy.parameter import Parameter

from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.executables.aubo_node import AuboNode
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.external_torque_node import ExternalTorqueNode
from robot_dynamics_ros.nodes.executables.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.executables.trajectory_effort_node import TrajectoryEffortNode
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import option_value, options
from robot_dynamics_ros.nodes.process import server_process
from robot_dynamics_ros.nodes.process.node_process import arguments, run

NODES = {
    'feedforward_node': FeedforwardNode,
    'gravity_compensation_node': GravityCompensationNode,
    'dynamics_server': DynamicsServer,
    'torque_controller': TorqueController,
    'simulated_arm': SimulatedArm,
    'trajectory_effort_node': TrajectoryEffortNode,
    'external_torque_node': ExternalTorqueNode,
    'aubo_node': AuboNode,
}


def gravity_where_it_is_needed(**options) -> GravityCompensationNode | None:
    """Return the node that compensates gravity, or None, and say so, where the robot does that itself."""
    node = GravityCompensationNode(**options)
    preset, owner = node.value('preset'), node.value('gravity_owner')
    try:
        compensated = 'gravity' in CompensationPolicy(preset, owner, ['']).robot_terms
    except ArgumentError:
        return node  # it refuses them when it is configured
    if not compensated:
        return node
    said = f'preset {preset}' if preset else f'gravity_owner {owner}'
    node.get_logger().info(f'left out: with {said} the robot compensates gravity itself')
    node.destroy_node()
    return None


def main():
    """Run the nodes that the command line names."""
    if server_process.is_beside():
        server_process.wait()
    parser = argparse.ArgumentParser(prog='robot_dynamics_bringup', description=__doc__)
    default = ' '.join(server_process.DEFAULT)
    parser.add_argument('--nodes', help=f'names with blanks between, among {" ".join(NODES)}; default: {default}')
    for name, meaning in options().items():
        parser.add_argument(f'--{name.replace("_", "-")}', default='', help=f'{meaning}; not given: as parameters say')
    parser.add_argument(server_process.BESIDE, action='store_true', help=argparse.SUPPRESS)
    given = parser.parse_args(arguments())
    names = server_process.DEFAULT if given.nodes is None else given.nodes.split()
    unknown = [name for name in names if name not in NODES]
    if unknown or not names:
        parser.error(f'nodes: expected some of {" ".join(NODES)}, got {" ".join(names) or "none"!r}')
    makers = {name: NODES[name] for name in names}
    if given.nodes is None:  # it was not named
        makers['gravity_compensation_node'] = gravity_where_it_is_needed
    # for all nodes, and before any parameter file
    texts = {name: getattr(given, name) for name in options() if getattr(given, name)}
    try:
        overrides = [Parameter(name, value=option_value(name, text)) for name, text in texts.items()]
    except ArgumentError as error:
        parser.error(str(error))

    def run_all(makers: Iterable):
        run(*(partial(make, parameter_overrides=overrides) for make in makers))

    if given.beside:
        run_all([makers[server_process.SERVER]])
    elif server_process.is_wanted(names):
        del makers[server_process.SERVER]
        if 'await_payload_gravity' not in texts:
            overrides.append(Parameter('await_payload_gravity', value=True))  # the server may be discovered late
        with server_process.running(get_logger('bringup').error):
            run_all(makers.values())
    else:
        run_all(makers.values())


if __name__ == '__main__':
    main()
