"""A palletizer in the nodes: torques, limits and services are those of its actuated joints, and errors name a loop."""

import re
from types import SimpleNamespace

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.nodes_here import nodes_here
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED, actuated

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import GetForwardDynamics, GetInverseDynamics, GetMassMatrix, SetPayload
from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.lifecycle.configuration import redescribe
from robot_dynamics_ros.nodes.tasks import controller_law

ROBOT = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED).with_friction(viscous=np.full(10, 2.0))
ARM = DrivenRobot(ROBOT.with_loops([]), ClosedMechanism(ROBOT, ROBOT.loops.actuated))
NAMES, HOME = list(ARM.joint_names), ARM.following.home
Y = np.add(HOME, (0.3, -0.2, 0.15, 1.0))
PASSIVE = dict(zip(ROBOT.joint_names, ARM.positions(Y), strict=True))
NODE, SERVER = 'gravity_compensation_node', 'dynamics_server'
TORQUE_NODES = ('feedforward_node', NODE, 'torque_controller')
GAINS = {'stiffness': [50.0] * 4, 'damping': [2.0, 20.0, 20.0, 0.2], 'state_rate': 500.0}


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    """A YAML file of the palletizer."""
    file = tmp_path_factory.mktemp('robot') / 'palletizer.yaml'
    file.write_text(ROBOT.to_yaml(), encoding='utf-8')
    return str(file)


@pytest.fixture(scope='module')
def graph(file_graph, path):
    arguments = ('-p', f'model:={path}', '-p', 'effort_limit:=[.inf]', '-p', f'age_limit:={ros.DAY}')
    file_graph.start(NODE, arguments=arguments)
    file_graph.start(SERVER, arguments=('-p', f'model:={path}', '-p', 'payload_limit:=100.0'))
    return file_graph


@pytest.fixture
def make(path):
    """Return a function that makes a node of this process with the palletizer; all are destroyed afterwards."""
    given = {'autostart': False, 'model': path, 'effort_limit': [np.inf], 'await_payload_gravity': False}
    with nodes_here() as make_of_kind:

        def made(name, **values):
            node = make_of_kind(NODES[name], **{**given, **values})
            node.start()
            return node

        yield made


def state(names, positions, stamp, velocities=()):
    return ros.joint_state(list(names), stamp, np.array(positions, float), velocities)


class Given:
    """Gives states to a node of this process, one after the other; returns why it publishes no torque."""

    def __init__(self, node, period: float):
        self._node, self._period, self.stamp = node, round(period * ros.SECOND), 0

    def __call__(self, names, positions) -> str:
        self.stamp = max(self.stamp + self._period, self._node.get_clock().now().nanoseconds)
        pipeline = self._node.task.pipeline
        pipeline.on_state(serialize_message(state(names, positions, self.stamp)))
        return pipeline.silence


OF_ALL = (*TORQUE_NODES, SERVER, 'trajectory_effort_node', 'external_torque_node')


# gains are judged all over the reach of a mechanism; below they are not
@pytest.mark.parametrize('name', matrix(OF_ALL, [it for it in OF_ALL if it != 'torque_controller']))
def test_each_node_speaks_of_actuated_joints(make, name):
    node = make(name, **(GAINS if name == 'torque_controller' else {}), **EXTRA.get(name, {}))
    assert node.active, node.silence
    assert list(node.robot.joint_names) == NAMES


EXTRA = {'external_torque_node': {'effort': 'torque'}}


def test_gains_are_judged_again_only_where_they_have_changed(make, monkeypatch):
    judged, limit = [], SimpleNamespace(period=1.0, fault=lambda period: '')
    monkeypatch.setattr(controller_law, 'SamplingLimit', lambda *stated, **more: judged.append(stated) or limit)
    node = make('torque_controller', **GAINS)
    assert node.active and list(node.robot.joint_names) == NAMES and len(judged) == 1
    for damping, count in ((GAINS['damping'], 1), ([3.0, 20.0, 20.0, 0.2], 2)):
        node.trigger_deactivate()
        (result,) = node.set_parameters([Parameter('damping', value=damping)])
        node.trigger_activate()
        assert result.successful and node.active and len(judged) == count
    assert list(judged[-1][2]) == damping


def test_a_torque_at_the_last_position_is_refused(make):
    """It would go on where the assembly mode is not known."""
    node = make(NODE, on_stale='gravity_only')
    assert not node.active and 'on_stale gravity_only: with closed loops it would go on' in node.silence


def test_the_torque_is_that_of_the_actuated_joints(graph):
    torques = graph.listen(JointState, 'gravity_torque')
    for names, positions in ((NAMES, Y), ((*NAMES, *PASSIVE), [*Y, *PASSIVE.values()])):
        if len(names) > 4:
            names, positions = list(PASSIVE), list(PASSIVE.values())

        def send(stamp, names=names, positions=positions):
            graph.publish('joint_states', state(names, positions, stamp))

        torque = graph.answer(send, torques, graph.now())
        assert torque.name == NAMES
        np.testing.assert_allclose(torque.effort, ARM.gravity_torque(Y), rtol=1e-8, atol=1e-7)


def test_a_joint_that_contradicts_the_loop_is_silence_with_its_name_until_it_fits(graph):
    torques = graph.listen(JointState, 'gravity_torque')
    wrong = {**PASSIVE, 'wrist joint': PASSIVE['wrist joint'] + 0.2}

    def send(positions):
        return lambda: graph.publish('joint_states', state(positions, list(positions.values()), graph.now()))

    graph.silence(NODE, "loop 'fore ties': joint 'wrist joint' is at", send(wrong))
    assert not torques
    # each with a stamp of its own: a state that comes late on a busy machine is too old
    graph.repeat_until(send(PASSIVE), lambda: torques, 'a torque')
    assert torques[0].name == NAMES


def test_a_joint_that_contradicts_the_loop_in_a_message_of_its_own_is_silence_with_its_name_until_it_fits(make):
    node = make(NODE, age_limit=ros.DAY)
    pipeline, given = node.task.pipeline, Given(node, 0.001)
    forearm = PASSIVE['forearm joint']
    assert given(['forearm joint'], [forearm]) and given(NAMES, Y) == ''
    assert given(['forearm joint'], [forearm + 0.2]) == ''
    reason = given(NAMES, Y)
    assert "joint 'forearm joint' is at" in reason and 'by the last message that has it' in reason
    assert given(NAMES, Y) == reason == given(['forearm joint'], [forearm + 0.01])
    assert given(NAMES, Y) == ''
    for wrong, why in ((0, 'without a stamp'), (given.stamp + 10 * ros.SECOND, 'from the future'), (1, 'too old')):
        message = serialize_message(state(['forearm joint'], [forearm + 0.2], wrong))
        pipeline.on_state(message)
        with pytest.raises(ArgumentError, match=f'joints that closed loops move are {why}'):
            pipeline.sources._state.report(message, given.stamp)
        assert given(NAMES, Y) == ''


def test_a_singular_position_is_silence_with_the_name_of_a_loop(graph):
    flat = [0.0, 1.4, 1.4, 0.0]
    graph.reactivate(NODE)
    graph.silence(
        NODE,
        'at a singular position, or',
        lambda: graph.publish('joint_states', state(NAMES, flat, graph.now())),
    )


@pytest.mark.parametrize('active', [True, False])
@pytest.mark.parametrize('other', ['crank joint', 'rocker joint'])
def test_one_activation_is_enough_after_a_singular_position_and_another_description(
    make, tmp_path, monkeypatch, active, other
):
    """The description came before it; where the node is active it releases nothing."""
    paths = []
    for name, motor, friction in (('one', 'crank joint', 0.0), ('another', other, 1.0)):
        paths.append(tmp_path / f'{name}.yaml')
        robot = actuated(MECHANISMS['parallelogram'], [motor]).with_friction(viscous=friction)
        paths[-1].write_text(robot.to_yaml(), encoding='utf-8')
    node = make(NODE, model=str(paths[0]), age_limit=ros.DAY)
    states = Given(node, 0.005)

    def given(position: float) -> str:
        return states(node.robot.joint_names, [position])

    for crank in np.arange(0.3, -0.05, -0.005):
        given(crank)
    assert 'then activate again' in given(0.3)
    if not active:
        node.trigger_deactivate()
    monkeypatch.setattr(node.description, 'source', lambda: str(paths[1]))
    assert redescribe(node) == ''
    if active:
        assert 'then activate again' in given(0.3)
        node.trigger_deactivate()
    node.trigger_activate()
    assert given(0.3) == ''


@pytest.mark.parametrize('fault', ['jump', 'singular position', 'message of its own'])
@pytest.mark.parametrize('locked', [True, False])
def test_a_description_without_loops_in_between_releases_nothing(make, path, tmp_path, monkeypatch, fault, locked):
    """Whether its joints have the same names or not."""
    followers = [name for name in ROBOT.joint_names if name not in NAMES]
    tree = ROBOT.with_loops([])
    tree = tree.with_locked_joints(dict.fromkeys(followers, 0.0)) if locked else tree
    file = tmp_path / 'tree.yaml'
    file.write_text(tree.to_yaml(), encoding='utf-8')
    node = make(NODE, age_limit=ros.DAY)
    states = Given(node, 0.002)

    def given(y) -> str:
        names = list(node.robot.joint_names)
        return states(names, y if names == NAMES else ARM.positions(y))

    y, aside = Y.copy(), np.zeros(4)
    assert [given(y) for _ in range(5)][-1] == ''
    if fault == 'jump':
        aside[1] = 0.1
    elif fault == 'singular position':
        for lever in (*np.linspace(y[2], 1.25, 300), *np.linspace(1.25, y[2], 300)):
            given([*y[:2], lever, y[3]])
    else:
        states(['forearm joint'], [PASSIVE['forearm joint'] + 0.3])
    assert all(given(y + aside) for _ in range(5))
    for description in (str(file), path):
        monkeypatch.setattr(node.description, 'source', lambda it=description: it)
        assert redescribe(node) == ''
        assert all((given(y + aside) == '') == (description != path) for _ in range(10))
    node.trigger_deactivate()
    node.trigger_activate()
    assert [given(y + aside) for _ in range(5)][-1] == ''


def test_a_controller_leads_the_lever_to_no_singular_position(make):
    """That is 1.4 rad from HOME: beyond a last velocity, and on the way to another trajectory."""
    stated = {**GAINS, 'control_law': 'pd_gravity', 'acceleration_limit': [20.0] * 4}
    node = make('torque_controller', **stated, age_limit=ros.DAY)
    inputs, begun = node.task.trajectory, node.get_clock().now().nanoseconds
    follower, elapsed = inputs._follower, 0.0

    def run(until: float) -> list[float]:
        """Give states of an arm that is where it is led, up to a time (s); return the positions of its lever."""
        nonlocal elapsed
        passed = []
        while elapsed < until:
            elapsed += 0.004
            led = follower._desired[:2] if follower.plan else (HOME, np.zeros(4))
            message = state(NAMES, led[0], begun + round(elapsed * ros.SECOND), led[1])
            node.task.pipeline.on_state(serialize_message(message))
            assert node.task.pipeline.silence == ''
            passed.append(led[0][2] - HOME[2])
        return passed

    def sent(start: float, *points) -> str:
        """Return why points (time in s, position in rad from HOME, velocity in rad/s) of the lever are refused."""
        known, still, lever = inputs.verdicts.report(), np.zeros(4), np.array([0.0, 0.0, 1.0, 0.0])
        rows = [(time, HOME + lever * position, lever * velocity, still) for time, position, velocity in points]
        message = ros.trajectory(NAMES, begun + round(start * ros.SECOND), *rows)
        inputs.send(serialize_message(message), None)
        found, refused = inputs.verdicts.report(), 'trajectories refused'
        return found['trajectory refused last'] if found[refused] != known[refused] else ''

    inputs.end()  # from now on messages are handled where they are sent
    run(0.1)
    near = r"loop 'fore ties': the mechanism is about 0\.0[78]\d* rad from a singular position, less than 0\.08"
    assert re.match(f'trajectory: it comes to rest after its last .* later: {near}', sent(1.0, (0, 0, 0), (2, 1.2, 4)))
    assert sent(1.0, (0, 0, 0), (2, 0.9, 2.5), (2.4, 0.9, -1), (5, 0, 0)) == ''
    run(3.0)
    assert sent(3.0, (1.4, 0, 0)) == ''
    assert 1.0 < max(run(6.5)) < 1.3 and abs(run(6.6)[-1]) < 1e-6
    assert re.match(f'trajectory refused: .* s on the way to it: {near}.*; the one before goes on', follower.unreached)


def test_services_speak_of_actuated_joints(graph):
    request = {'positions': Y.tolist(), 'velocities': [0.1, -0.2, 0.3, 0.4]}
    matrix = graph.client.call(GetMassMatrix, f'{SERVER}/get_mass_matrix', GetMassMatrix.Request(positions=Y.tolist()))
    assert matrix.success, matrix.message
    np.testing.assert_allclose(np.reshape(matrix.mass_matrix, (4, 4)), ARM.mass_matrix(Y), rtol=1e-8, atol=1e-8)
    efforts = graph.client.call(
        GetInverseDynamics,
        f'{SERVER}/get_inverse_dynamics',
        GetInverseDynamics.Request(**request, accelerations=[1.0, 0.5, -0.5, 0.2]),
    )
    assert efforts.success, efforts.message
    expected = ARM.inverse_dynamics(Y, request['velocities'], [1.0, 0.5, -0.5, 0.2])
    friction = np.array(efforts.efforts) - expected
    np.testing.assert_allclose(
        friction, ARM.friction_along(request['positions'])(request['velocities']), rtol=1e-6, atol=1e-6
    )
    motion = graph.client.call(
        GetForwardDynamics,
        f'{SERVER}/get_forward_dynamics',
        GetForwardDynamics.Request(**request, efforts=expected.tolist()),
    )
    assert motion.success, motion.message
    np.testing.assert_allclose(motion.accelerations, [1.0, 0.5, -0.5, 0.2], rtol=1e-6, atol=1e-6)


def test_a_payload_on_the_tool_counts(graph):
    request = SetPayload.Request(mass=20.0, frame='tool', ramp_time=1e-9)
    answer = graph.client.call(SetPayload, f'{SERVER}/set_payload', request)
    assert answer.success, answer.message
    matrix = graph.client.call(GetMassMatrix, f'{SERVER}/get_mass_matrix', GetMassMatrix.Request(positions=Y.tolist()))
    expected = ARM.with_payload(Payload(20.0, (0.0, 0.0, 0.0)), 'tool').mass_matrix(Y)
    np.testing.assert_allclose(np.reshape(matrix.mass_matrix, (4, 4)), expected, rtol=1e-8, atol=1e-8)
