"""No node compiles, imports a compiler or keeps code: not at its start, not for a message, not for a request."""

from contextlib import ExitStack
from pathlib import Path

from support.aubo.aubo_controller import Arm, AuboController
from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.feedforward import NAMES, REST, A, B

import numpy as np
import pytest
from geometry_msgs.msg import Vector3, Vector3Stamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.msg import PayloadState, TrajectoryTorques
from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetJacobian,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros.nodes.executables.bringup import NODES

SERVER = 'dynamics_server'
COMPILERS = ('llvmlite', '/numba/')
"""Parts of the paths of libraries that a process has in its memory once it has imported a compiler."""
STATES, MOTIONS = 'joint_states', 'joint_trajectory'
TOPICS = {
    'aubo_node': ([], JointState, 'joint_states'),
    'dynamics_server': ([], PayloadState, 'payload_state'),
    'external_torque_node': ([STATES], JointState, 'external_torque'),
    'feedforward_node': ([MOTIONS, STATES], JointState, 'feedforward_torque'),
    'gravity_compensation_node': ([STATES], JointState, 'gravity_torque'),
    'simulated_arm': (['effort_commands'], JointState, 'joint_states'),
    'torque_controller': ([MOTIONS, STATES], Float64MultiArray, 'effort_commands'),
    'trajectory_effort_node': (['planned_trajectory'], TrajectoryTorques, 'trajectory_torques'),
}
"""Topics of a node's inputs, and the topic of its output that is waited for."""
ARGUMENTS = {
    'feedforward_node': ['start_tolerance:=0.0'],
    'torque_controller': ['start_tolerance:=0.0', 'control_law:=computed_torque'],
}
Q, QD, QDD = np.random.default_rng(3).uniform(-1.0, 1.0, (3, 40, 6))


def send(graph, topic):
    """Publish a message of an arm at rest, or of a motion from there."""
    if topic == STATES:
        message = ros.joint_state(NAMES, graph.now(), A, REST, REST)
    elif topic == 'effort_commands':
        message = Float64MultiArray(data=REST)
    else:
        message = ros.trajectory(NAMES, graph.now(), (0.0, A, REST, REST), (60.0, B, REST, REST))
    graph.publish(topic, message)


def ask(graph):
    """Call all services of the server, for one state and for several, with payloads on two links."""
    q, qd, qdd = (rows.ravel().tolist() for rows in (Q, QD, QDD))
    motion = ros.trajectory(NAMES, 0, *((float(k), Q[k], QD[k], QDD[k]) for k in range(5)))
    down = Vector3Stamped(vector=Vector3(z=-9.0))
    for mass, frame in ((2.5, 'ee_link'), (1.0, 'foreArm_Link')):
        for kind, service, fields in (
            (SetPayload, 'set_payload', {'mass': mass, 'frame': frame}),
            (SetGravity, 'set_gravity', {'gravity': down}),
            (GetMassMatrix, 'get_mass_matrix', {'positions': q[:6]}),
            (GetMassMatrix, 'get_mass_matrix', {'positions': q}),
            (GetInverseDynamics, 'get_inverse_dynamics', {'positions': q, 'velocities': qd, 'accelerations': qdd}),
            (GetForwardDynamics, 'get_forward_dynamics', {'positions': q, 'velocities': qd, 'efforts': qdd}),
            (GetJacobian, 'get_jacobian', {'positions': q, 'link': 'ee_link', 'reference_frame': 'local'}),
            (CheckTrajectory, 'check_trajectory', {'trajectory': motion, 'resample': True}),
        ):
            answer = graph.client.call(kind, f'{SERVER}/{service}', kind.Request(**fields))
            assert answer.success, f'{service}: {answer.message}'


def arguments_of(node, controller):
    """Return the arguments of a node, which connects to the ports of ``controller`` where it is one for AUBO arms."""
    given = ARGUMENTS.get(node, [])
    if node == 'aubo_node':
        given = [f'rtde_port:={controller.rtde_port}', f'rpc_port:={controller.rpc_port}']
    return [word for value in given for word in ('-p', value)]


@pytest.mark.parametrize('node', matrix(NODES, [SERVER, 'feedforward_node', 'torque_controller']))
def test_a_node_neither_compiles_nor_imports_a_compiler(tmp_path, monkeypatch, node):
    kept = tmp_path / 'kept'
    monkeypatch.setenv('XDG_CACHE_HOME', str(kept))
    inputs, kind, topic = TOPICS[node]
    with ExitStack() as stack:
        controller = stack.enter_context(AuboController(Arm())) if node == 'aubo_node' else None
        graph = stack.enter_context(ros.Graph(tmp_path))
        graph.processes.forks = False  # a start without anything that an earlier one has made
        graph.start(node, arguments=arguments_of(node, controller))
        messages = graph.hear_latched(kind, topic) if node == SERVER else graph.listen(kind, topic)
        graph.repeat_until(
            lambda: [send(graph, name) for name in inputs], lambda: messages, f'a message on {topic}', 0.03
        )
        if node == SERVER:
            ask(graph)
        maps = Path(f'/proc/{graph.pid(node)}/maps').read_text(encoding='utf-8')
        assert 'native/call' in maps
        assert [line for line in maps.splitlines() if any(name in line for name in COMPILERS)] == []
        assert 'Numba compiles' not in graph.log(node)
    assert not kept.exists()
