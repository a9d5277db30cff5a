"""A robot of 32 joints: torques of nodes, and batches of the server with a payload in a hand."""

from support.nodes import graph as ros
from support.robots.example_robots import example_urdfs

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import GetForwardDynamics, GetMassMatrix, SetPayload
from robot_dynamics_ros import Payload, Robot

(URDF,) = (path for path in example_urdfs() if path.endswith('/talos_reduced.urdf'))
ROBOT = Robot.from_urdf(URDF)
NAMES, LIMIT = list(ROBOT.joint_names), ROBOT.limits.effort
Q, QD, TAU = np.random.default_rng(4).uniform(-0.5, 0.5, (3, 20, ROBOT.nv))
Q = np.clip(Q, ROBOT.limits.lower, ROBOT.limits.upper)
FEEDFORWARD, GRAVITY, SERVER = 'feedforward_node', 'gravity_compensation_node', 'dynamics_server'
ARGUMENTS = ('-p', f'robot_description:={URDF}')
HAND = 'arm_left_7_link'


@pytest.mark.slow
def test_torques_of_32_joints(graph):
    graph.bring_up(FEEDFORWARD, GRAVITY, arguments=[*ARGUMENTS, '-p', f'age_limit:={ros.DAY}'])
    torques = {name: graph.listen(JointState, f'{name}_torque') for name in ('gravity', 'feedforward')}
    start = graph.now()
    motion = ros.trajectory(NAMES, start, *((float(k), Q[k], QD[k], QD[k]) for k in range(2)))
    graph.follow('bringup', motion)
    state = ros.joint_state(NAMES, start, Q[0], QD[0])
    for messages, expected in (
        (torques['gravity'], ROBOT.gravity_torque(Q[0])),
        (torques['feedforward'], ROBOT.inverse_dynamics(Q[0], QD[0], QD[0]) + ROBOT.friction_torque(QD[0])),
    ):
        answer = graph.answer(lambda _: graph.publish('joint_states', state), messages, start)
        assert answer.name == NAMES
        np.testing.assert_allclose(answer.effort, np.clip(expected, -LIMIT, LIMIT), rtol=0, atol=1e-9)


def ask(graph, kind, service, **fields):
    return graph.client.call(kind, f'{SERVER}/{service}', kind.Request(**fields))


def flat(rows) -> list[float]:
    return rows.ravel().tolist()


def test_services_compute_batches_of_32_joints_with_a_payload_in_a_hand(graph):
    graph.start(SERVER, arguments=[*ARGUMENTS, '-p', 'payload_limit:=5.0', '-p', 'payload_gravity_ramp_time:=0.0'])
    response = ask(graph, SetPayload, 'set_payload', frame=HAND, mass=1.0)
    assert response.success, response.message
    loaded = ROBOT.with_payload(Payload(1.0, (0.0, 0.0, 0.0)), HAND)
    M = ask(graph, GetMassMatrix, 'get_mass_matrix', positions=flat(Q)).mass_matrix
    np.testing.assert_allclose(M, flat(loaded.mass_matrix(Q)), rtol=0, atol=1e-12)
    states = {'positions': flat(Q), 'velocities': flat(QD), 'efforts': flat(TAU)}
    qdd = ask(graph, GetForwardDynamics, 'get_forward_dynamics', **states).accelerations
    expected = loaded.forward_dynamics(Q, QD, TAU)
    np.testing.assert_allclose(qdd, flat(expected), rtol=0, atol=1e-9 * np.abs(expected).max())
