"""An arm with a closed loop whose motors are not stated: the server computes with all joints, other nodes refuse it."""

from dataclasses import replace

from support.nodes import graph as ros
from support.nodes.nodes_here import nodes_here
from support.robots.simulated_robots import closed, four_bar

import numpy as np
import pytest

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
from robot_dynamics_ros.nodes.executables.bringup import NODES

SERVER = 'dynamics_server'
GRAVITY = (0.0, -9.81, 0.0)
BAR = four_bar().with_gravity(GRAVITY)
START, SPEED = closed(BAR, [1.0, -0.5, 1.8], [2.0, 0.0, 0.0])
TORQUE = np.array([3.0, 0.5, -1.0])
TORQUE_NODES = ('feedforward_node', 'gravity_compensation_node', 'torque_controller')
MOTION = {'positions': START.tolist(), 'velocities': SPEED.tolist()}


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    """A YAML file of the four-bar."""
    file = tmp_path_factory.mktemp('robot') / 'four_bar.yaml'
    file.write_text(BAR.to_yaml(), encoding='utf-8')
    return str(file)


@pytest.fixture
def make():
    """Return a function that makes a node of this process, not configured; all are destroyed afterwards."""
    with nodes_here() as make_of_kind:
        yield lambda name, **values: make_of_kind(
            NODES[name], **{'autostart': False, 'gravity': list(GRAVITY), **values}
        )


@pytest.fixture
def server(make, path):
    """The active server of the four-bar."""
    node = make(SERVER, model=path)
    node.start()
    assert node.active, node.silence
    return node


def answered(server, answer, request, response):
    """Return the response of a service of the server."""
    return server.task._guarded(getattr(server.task, answer))(request, response)


def test_the_server_as_a_process(graph, path):
    """Its forward dynamics closes the loop, and a request that it refuses ends nothing."""
    arguments = ('-p', f'model:={path}', '-p', f'gravity:={list(GRAVITY)}')
    graph.start(SERVER, arguments=arguments)
    refused = graph.client.call(
        GetInverseDynamics,
        f'{SERVER}/get_inverse_dynamics',
        GetInverseDynamics.Request(**MOTION, accelerations=[0.0] * 3),
    )
    assert not refused.success and "closed loops: loop 'bar'" in refused.message
    response = graph.client.call(
        GetForwardDynamics,
        f'{SERVER}/get_forward_dynamics',
        GetForwardDynamics.Request(**MOTION, efforts=TORQUE.tolist()),
    )
    assert response.success, response.message
    found = np.array(response.accelerations)
    assert found.tolist() == BAR.forward_dynamics(START, SPEED, TORQUE).tolist()
    assert abs(BAR.loop_accelerations(START, SPEED, found)).max() < 1e-10
    assert abs(found - BAR.with_loops([]).forward_dynamics(START, SPEED, TORQUE)).max() > 1.0


def test_mass_matrix_and_jacobian_are_those_of_the_tree(server):
    tree = BAR.with_loops([])
    request = GetMassMatrix.Request(positions=START.tolist())
    response = answered(server, '_mass_matrix', request, GetMassMatrix.Response())
    assert response.success, response.message
    np.testing.assert_array_equal(np.reshape(response.mass_matrix, (3, 3)), tree.mass_matrix(START))
    request = GetJacobian.Request(positions=START.tolist(), link='coupler')
    response = answered(server, '_jacobian', request, GetJacobian.Response())
    assert response.success, response.message
    np.testing.assert_array_equal(np.reshape(response.jacobian, (6, 3)), tree.jacobian(START, 'coupler'))


def test_efforts_of_a_motion_are_refused(server):
    request = GetInverseDynamics.Request(**MOTION, accelerations=[0.0] * 3)
    response = answered(server, '_inverse_dynamics', request, GetInverseDynamics.Response())
    assert not response.success and not response.efforts
    assert response.message == "inverse dynamics: not available for four_bar, which has closed loops: loop 'bar'"
    trajectory = ros.trajectory(BAR.joint_names, 0, (0.0, START), (1.0, START))
    response = answered(
        server, '_check_trajectory', CheckTrajectory.Request(trajectory=trajectory), CheckTrajectory.Response()
    )
    assert not response.success and response.message.startswith('trajectory check: not available for four_bar')


def test_a_loop_without_a_derivative_at_the_position_zero_is_served_elsewhere(make, tmp_path):
    """Its frames are half a turn apart there."""
    turned = four_bar('weld').with_gravity(GRAVITY)
    (loop,) = turned.model.loops.closures
    pose = loop.pose_a.copy()
    pose[:2, :2] *= -1.0
    turned = turned.with_loops([replace(loop, pose_a=pose)])
    file = tmp_path / 'turned.yaml'
    file.write_text(turned.to_yaml(), encoding='utf-8')
    node = make(SERVER, model=str(file))
    node.start()
    assert node.active, node.silence
    request = GetForwardDynamics.Request(**MOTION, efforts=TORQUE.tolist())
    response = answered(node, '_forward_dynamics', request, GetForwardDynamics.Response())
    assert response.success, response.message
    expected = turned.forward_dynamics(START, SPEED, TORQUE)
    np.testing.assert_allclose(response.accelerations, expected, rtol=1e-9)
    rest = {name: [0.0] * 3 for name in ('positions', 'velocities', 'efforts')}
    response = answered(node, '_forward_dynamics', GetForwardDynamics.Request(**rest), GetForwardDynamics.Response())
    assert not response.success and 'not finite' in response.message


def test_a_payload_needs_a_limit(make, path):
    """What the joints of a closed loop can hold is not computed."""
    request = SetPayload.Request(mass=1.0, frame='rocker')
    for limit in (0.0, 2.0):
        node = make(SERVER, model=path, payload_limit=limit)
        node.start()
        service = node.task.payload_gravity
        response = node.task._guarded(service.set_payload)(request, SetPayload.Response())
        assert response.success == (limit > 0.0), response.message
        assert response.success or response.message.startswith('payload without the parameter payload_limit: not')
    gravity = SetGravity.Request(ramp_time=1e-9)
    gravity.gravity.vector.y = -5.0
    assert node.task._guarded(service.set_gravity)(gravity, SetGravity.Response()).success
    request = GetForwardDynamics.Request(**MOTION, efforts=TORQUE.tolist())
    response = answered(node, '_forward_dynamics', request, GetForwardDynamics.Response())
    expected = node.task.payload_gravity.robot.forward_dynamics(START, SPEED, TORQUE)
    assert response.success and response.accelerations.tolist() == expected.tolist()
    assert abs(expected - BAR.forward_dynamics(START, SPEED, TORQUE)).max() > 0.1


@pytest.mark.parametrize('name', [*TORQUE_NODES, 'simulated_arm', 'trajectory_effort_node', 'external_torque_node'])
def test_other_nodes_ask_which_joints_are_actuated(make, path, name):
    node = make(name, model=path)
    node.start()
    assert node.task is None and not node.active
    assert node.silence == (
        "not configured: four_bar: it has closed loops (loop 'bar'), and nothing says which of its joints have a motor"
        ': state actuated with its loops; its joints are crank, coupler, rocker'
    )


@pytest.mark.parametrize('name', ['gravity_compensation_node', 'simulated_arm'])
def test_a_yaml_file_without_loops_is_a_robot_as_any(make, tmp_path, name):
    file = tmp_path / 'tree.yml'
    file.write_text(Robot.named('aubo_i5').to_yaml(), encoding='utf-8')
    node = make(name, model=str(file), gravity=[0.0, 0.0, -9.81])
    node.start()
    assert node.active, node.silence
    q = np.full(6, 0.4)
    assert node.robot.gravity_torque(q).tolist() == Robot.named('aubo_i5').gravity_torque(q).tolist()
