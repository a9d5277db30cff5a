"""Prints as JSON what an active dynamics_server compiles or looks for on disk while all of its services are called.

A process of its own, ``warm_server.py FOLDER``: nothing that ran before it has compiled or loaded anything here.
"""

import sys
from pathlib import Path

from support import graph as ros
from support import watched_code

import numpy as np
from geometry_msgs.msg import Vector3, Vector3Stamped

from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetJacobian,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServer

ROBOT = Robot.named('aubo_i5')
Q, QD, QDD = np.random.default_rng(3).uniform(-2.0, 2.0, (3, 5, 6))
PAYLOAD = {'mass': 2.5, 'com': (0.02, -0.03, 0.1), 'inertia': [0.04, 0.05, 0.03, 0.01, 0.002, -0.01]}
PAYLOADS = (
    {'mass': 0.0},
    PAYLOAD,
    {**PAYLOAD, 'frame': 'ee_link'},
    {'mass': 1.0, 'com': (0.0, 0.0, 0.05), 'ramp_time': 100.0},
)


def main():
    watched_code.watch()
    with ros.Graph(Path(sys.argv[1])) as graph:
        server = DynamicsServer(namespace='/here')
        graph.client._executor.add_node(server)
        server.trigger_configure()
        server.trigger_activate()
        assert server.active
        with watched_code.told():
            for payload in PAYLOADS:
                use_everything(graph, payload)
        graph.client._executor.remove_node(server)
        server.destroy_node()


def use_everything(graph, payload):
    """Set a payload and gravity at the server of this process, and ask all of its questions."""
    down = Vector3Stamped(vector=Vector3(z=-9.0))
    rows = [array.ravel().tolist() for array in (Q, QD, QDD)]
    rest = {'positions': rows[0], 'velocities': rows[1]}
    points = ros.trajectory(ROBOT.joint_names, 0, *((float(k), Q[k], QD[k], QDD[k]) for k in range(5)))
    calls = [
        (SetPayload, 'set_payload', payload),
        (SetGravity, 'set_gravity', {'gravity': down}),
        (GetMassMatrix, 'get_mass_matrix', {'positions': rows[0]}),
        (GetMassMatrix, 'get_mass_matrix', {'positions': [0.0] * 6 * 40}),
        (GetInverseDynamics, 'get_inverse_dynamics', {**rest, 'accelerations': rows[2]}),
        (GetForwardDynamics, 'get_forward_dynamics', {**rest, 'efforts': rows[2]}),
        (CheckTrajectory, 'check_trajectory', {'trajectory': points, 'resample': True}),
        *((GetJacobian, 'get_jacobian', {'positions': rows[0], 'link': link}) for link in ROBOT.frame_names),
        (GetJacobian, 'get_jacobian', {'positions': rows[0], 'link': 'ee_link', 'reference_frame': 'local'}),
    ]
    for kind, service, given in calls:
        response = graph.client.call(kind, f'/here/dynamics_server/{service}', kind.Request(**given))
        assert response.success, response.message


if __name__ == '__main__':
    main()
