"""feedforward_node as a process: which states get a torque, parameters and lifecycle transitions."""

import signal

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.feedforward import (
    ARGUMENTS,
    NAMES,
    NODE,
    RATE_B,
    REST,
    ROBOT,
    A,
    B,
    answer,
    assert_torque,
    at,
    between,
    quintic,
    rest_at,
    send,
)

import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.control.terms.residual_torque import ResidualTorque
from robot_dynamics_ros.formats.yaml_files.residual_yaml import write_residual
from robot_dynamics_ros.model.residual import ResidualModel
from robot_dynamics_ros.nodes.executables.feedforward_node import FeedforwardNode
from robot_dynamics_ros.tools.processes import ProcessError


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE, arguments=ARGUMENTS)
    return file_graph


def test_commands_are_the_same_torques(graph, start):
    graph.follow(NODE, rest_at(start))
    commands = graph.listen(Float64MultiArray, 'feedforward_torque/commands')
    torque = answer(graph, start)
    graph.until(lambda: commands, 'commands')
    assert list(commands[0].data) == list(torque.effort)


def test_commands_are_in_the_order_of_command_joints(graph, start):
    order = [2, 0, 1, 5, 3, 4]
    with graph.parameters(NODE, command_joints=[NAMES[k] for k in order]):
        graph.follow(NODE, rest_at(start))
        commands = graph.listen(Float64MultiArray, 'feedforward_torque/commands')
        torque = answer(graph, start)
        graph.until(lambda: commands, 'commands')
    assert torque.name == NAMES
    assert list(commands[0].data) == [torque.effort[k] for k in order]


def test_measured_joints_are_matched_by_name_whenever_the_layout_changes(graph, start):
    layouts = [
        NAMES,
        NAMES[::-1],
        ['gripper', *NAMES[3:], 'rail', *NAMES[:3]],
        NAMES,
    ]
    with graph.parameters(NODE, evaluate_at='measured'):
        message, motion = quintic(start)
        graph.follow(NODE, message)
        for k, layout in enumerate(layouts):
            t = 0.2 * (k + 1)
            q, qd = A + 0.1 * k, RATE_B - 0.1 * k
            places = [NAMES.index(name) if name in NAMES else None for name in layout]
            position, velocity = ([99.0 if p is None else row[p] for p in places] for row in (q, qd))
            torque, (_, desired, qdd) = answer(graph, at(start, t), position, velocity, layout), motion(t)
            # friction of the measured velocity would be positive feedback
            expected = ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(desired)
            np.testing.assert_allclose(torque.effort, expected, rtol=0, atol=1e-9)


def test_measured_needs_velocities(graph, start):
    with graph.parameters(NODE, evaluate_at='measured'):
        graph.follow(NODE, rest_at(start))
        torques = graph.listen(JointState, 'feedforward_torque')
        graph.silence(NODE, 'velocities', lambda: send(graph, start, velocity=[]))
        assert torques == []
        answer(graph, at(start, 0.1))


BAD_STATES = {
    'NaN position': (NAMES, [0.0, 0.0, np.nan, 0.0, 0.0, 0.0], NAMES[2]),
    'infinite position': (NAMES, [0.0, 0.0, 0.0, 0.0, 0.0, np.inf], NAMES[5]),
    'missing joint': (NAMES[:-1], A[:-1], NAMES[-1]),
    'doubled joint': ([*NAMES, NAMES[1]], [*A, 0.0], NAMES[1]),
    'short positions': (NAMES, A[:5], '6 joints have 5 positions'),
    'no joints': ([], [], NAMES[0]),
}


@pytest.mark.parametrize('bad', matrix(BAD_STATES, [*BAD_STATES][::2]))
def test_a_bad_state_gets_no_torque_but_a_reason_and_the_next_good_one_a_torque(graph, start, bad):
    names, position, culprit = BAD_STATES[bad]
    graph.follow(NODE, rest_at(start))
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, culprit, lambda: send(graph, start, position, [], names))
    assert torques == []
    assert_torque(answer(graph, at(start, 0.1)), A, REST, REST)


@pytest.mark.parametrize(
    'velocity', [[], [np.nan] * 6, [0.0, 0.0, np.nan, 0.0, 0.0, 0.0]], ids=['none', 'all NaN', 'one NaN']
)
def test_velocities_may_be_missing(graph, start, velocity):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    assert_torque(answer(graph, at(start, 0.5), motion(0.5)[0], velocity), *motion(0.5))


def test_torque_is_clamped_to_the_effort_limit_and_counted(graph, start):
    ends = (A, REST, REST), (B, REST, REST)
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, *ends[0]), (0.2, *ends[1])))
    before = int(graph.diagnostics(NODE).fields['torques saturated'])
    q, qd, qdd = between(0.05, 0.2, *ends)
    asked, limit = ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(qd), ROBOT.limits.effort
    assert (np.abs(asked) > limit).any() and (np.abs(asked) < limit).any()
    np.testing.assert_allclose(answer(graph, at(start, 0.05)).effort, np.clip(asked, -limit, limit), rtol=0, atol=1e-9)
    assert int(graph.diagnostics(NODE).fields['torques saturated']) > before


def send_now(graph):
    """Send a state of now."""
    graph.send('joint_states', ros.joint_state(NAMES, graph.now(), A, REST))


def test_old_states_get_no_torque(graph):
    with graph.parameters(NODE, age_limit=0.5):
        now = graph.now()
        graph.follow(NODE, rest_at(now - 100 * ros.SECOND))
        torques = graph.listen(JointState, 'feedforward_torque')
        graph.silence(NODE, 'too old', lambda: send(graph, now - 50 * ros.SECOND))
        assert torques == []
        with graph.repeating(lambda: send_now(graph), 0.05):
            graph.diagnostics(NODE, lambda status: 'it was to lead the arm' in status.message)
            graph.follow(NODE, rest_at(graph.now()))
            graph.until(lambda: torques, 'an answer')
        rejected = int(graph.diagnostics(NODE).fields['states rejected'])
    assert rejected > 0


def test_a_pause_of_the_input_does_not_loosen_the_default_age_limit(graph):
    with graph.parameters(NODE, age_limit=0.0):
        torques = graph.listen(JointState, 'feedforward_torque')
        with graph.repeating(lambda: send_now(graph), 0.05):
            graph.diagnostics(NODE, lambda status: status.message.endswith('no trajectory'))
            graph.follow(NODE, rest_at(graph.now() - 100 * ros.SECOND))
            graph.until(lambda: len(torques) > 20, 'a period that is learnt')
        last = graph.now()
        graph.until(lambda: graph.now() > at(last, 2.0), 'a pause')
        torques.clear()
        graph.silence(NODE, 'too old', lambda: send(graph, at(last, 0.5)))
        assert torques == []


def test_deactivated_it_is_silent_with_a_reason_and_activated_it_follows_a_new_trajectory(graph, start):
    graph.restart(NODE)
    graph.follow(NODE, rest_at(start))
    answer(graph, start)
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    torques = graph.listen(JointState, 'feedforward_torque')
    messages = []
    for k in range(3):
        send(graph, at(start, 1.0 + k))
        messages.append(graph.diagnostics(NODE).message)
    refused = f'trajectory refused: trajectory: {NODE} is not active'
    known = graph.log(NODE).count(refused)
    graph.publish('joint_trajectory', rest_at(start))
    graph.until(lambda: graph.log(NODE).count(refused) > known, 'the refusal in the log')
    graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
    graph.silence(NODE, 'no trajectory', lambda: send(graph, at(start, 5.0)))
    assert torques == []
    graph.follow(NODE, rest_at(at(start, 10.0)))
    assert_torque(answer(graph, at(start, 10.0)), A, REST, REST)
    assert messages == ['not active'] * 3


@pytest.mark.parametrize('way', [0.1, 0.5])
def test_after_its_last_point_it_leads_no_arm_that_is_held_elsewhere(graph, start, way):
    """torque_controller was activated again there: nothing leads from the last point to where the arm is."""
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, A, REST, REST), (0.5, A, REST, REST)))
    assert_torque(answer(graph, start), A, REST, REST)
    assert_torque(answer(graph, at(start, 0.8)), A, REST, REST)
    here = A + 0.3
    graph.follow(NODE, ros.trajectory(NAMES, at(start, 1.0), (way, here, REST, REST), (20.0, here, REST, REST)))
    for elapsed in (1.0, 1.05):
        assert_torque(answer(graph, at(start, elapsed), here), here, REST, REST)


def test_activated_in_a_stream_it_begins_with_the_velocity_of_the_moving_arm(graph, start):
    graph.restart(NODE)
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.1, A, RATE_B)))
    before = A - 0.1 * RATE_B
    assert_torque(answer(graph, start, before + 0.01, RATE_B), before, RATE_B, REST)
    assert_torque(answer(graph, at(start, 0.05)), 0.5 * (before + A), RATE_B, REST)


def test_configured_again_with_other_parameters(graph, start):
    with graph.parameters(NODE, compensation=['gravity'], gravity=[0.0, 9.81, 0.0]):
        message, motion = quintic(start)
        graph.follow(NODE, message)
        torque = answer(graph, at(start, 0.5), motion(0.5)[0])
        expected = ROBOT.with_gravity((0.0, 9.81, 0.0)).gravity_torque(motion(0.5)[0])
        np.testing.assert_allclose(torque.effort, expected, rtol=0, atol=1e-9)
        assert graph.terms('feedforward_torque') == ['gravity']
    graph.follow(NODE, message)
    assert_torque(answer(graph, at(start, 0.5), motion(0.5)[0]), *motion(0.5))


@pytest.mark.parametrize(
    ('terms', 'in_order'),
    [(['friction', 'inertia'], ['inertia', 'friction']), (['coriolis', 'gravity'], ['gravity', 'coriolis'])],
)
def test_compensation_chooses_terms_whatever_their_order(graph, start, terms, in_order):
    with graph.parameters(NODE, compensation=terms):
        message, motion = quintic(start)
        graph.follow(NODE, message)
        torque = answer(graph, at(start, 0.5), motion(0.5)[0])
        assert graph.terms('feedforward_torque') == in_order
    q, qd, qdd = motion(0.5)
    parts = {
        'gravity': ROBOT.gravity_torque(q),
        'coriolis': ROBOT.coriolis_torque(q, qd),
        'inertia': ROBOT.inertia_torque(q, qdd),
        'friction': ROBOT.friction_torque(qd),
    }
    np.testing.assert_allclose(torque.effort, sum(parts[term] for term in terms), rtol=0, atol=1e-9)


def test_a_residual_is_one_more_term_where_it_is_asked_for(graph, start, tmp_path):
    weights = np.random.default_rng(8).normal(size=(6, 13))
    model = ResidualModel(ROBOT.digest, tuple(NAMES), np.full(6, 101.0), np.ones(6), np.full(6, 1.5), weights)
    write_residual(tmp_path / 'residual.yaml', model)
    terms = ['residual', 'gravity', 'friction']
    with graph.parameters(NODE, compensation=terms, residual_file=str(tmp_path / 'residual.yaml')):
        message, motion = quintic(start)
        graph.follow(NODE, message)
        torque = answer(graph, at(start, 0.5), motion(0.5)[0])
        assert graph.terms('feedforward_torque') == ['gravity', 'friction', 'residual']
    q, qd, _ = motion(0.5)
    expected = ROBOT.gravity_torque(q) + ROBOT.friction_torque(qd)
    ResidualTorque(ROBOT, model).add(q, qd, expected)
    np.testing.assert_allclose(torque.effort, expected, rtol=0, atol=1e-9)


WRONG_PARAMETERS = {
    'residual without a file': ({'compensation': ['friction', 'residual']}, 'the term residual needs a file'),
    'missing residual file': ({'residual_file': 'nowhere/residual.yaml'}, 'nowhere/residual.yaml'),
    'unknown term': ({'compensation': ['gravity', 'magic']}, 'magic'),
    'repeated term': ({'compensation': ['gravity', 'gravity']}, 'compensation'),
    'gravity twice': ({'compensation': ['gravity'], 'gravity_owner': 'robot'}, 'gravity would be added twice'),
    'unknown model': ({'model': 'robot_of_nobody'}, 'robot_of_nobody'),
    'missing file': ({'model': 'nowhere/robot.urdf'}, 'nowhere/robot.urdf'),
    'bad URDF': ({'robot_description': '<robot name="half">'}, 'not well-formed'),
    'gravity of two': ({'gravity': [0.0, -9.81]}, 'gravity'),
    'gravity not finite': ({'gravity': [0.0, 0.0, float('nan')]}, 'gravity'),
    'evaluate_at': ({'evaluate_at': 'sometimes'}, 'evaluate_at'),
    'missing actuator file': ({'actuators': 'nowhere/actuators.yaml'}, 'nowhere/actuators.yaml'),
    'unknown command joint': ({'command_joints': ['elbow_of_nobody', *NAMES[1:]]}, "unknown joint 'elbow_of_nobody'"),
    'missing command joint': ({'command_joints': NAMES[1:]}, f"joint '{NAMES[0]}' is missing"),
    'doubled command joint': ({'command_joints': [*NAMES, NAMES[3]]}, f"joint '{NAMES[3]}' is given twice"),
}


@pytest.mark.parametrize(('parameters', 'culprit'), WRONG_PARAMETERS.values(), ids=WRONG_PARAMETERS)
def test_a_node_with_a_wrong_parameter_is_not_configured_and_says_why(configured, parameters, culprit):
    silence = configured(FeedforwardNode, **parameters).silence
    assert silence.startswith('not configured: ') and culprit in silence


def test_wrong_parameter_fails_configure_with_the_reason_in_the_log(graph):
    known = len(graph.log(NODE))
    parameters, culprit = WRONG_PARAMETERS['gravity twice']
    with pytest.raises(ProcessError, match='transition 1 failed'), graph.parameters(NODE, **parameters):
        pass
    assert graph.state_of(NODE) == State.PRIMARY_STATE_ACTIVE  # with the parameters of before
    (said,) = [line for line in graph.log(NODE)[known:].splitlines() if 'not configured' in line]
    assert culprit in said


def test_wrong_parameter_at_start_leaves_the_process_alive_and_sigint_ends_it(graph, tmp_path):
    with ros.ArmProcesses(tmp_path) as processes:
        processes.start(NODE, '-r', '__node:=second', '-p', 'model:=robot_of_nobody')
        assert graph.state_of('second') == State.PRIMARY_STATE_UNCONFIGURED
        assert 'robot_of_nobody' in (tmp_path / f'{NODE}.log').read_text()
        graph.client.set_parameter('second', 'model', 'aubo_i5_lecture')
        graph.client.change_state('second', Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
        process = processes._running[NODE]
        process.send_signal(signal.SIGINT)
        assert process.wait(ros.TIMEOUT) == 0
    assert 'Traceback' not in (tmp_path / f'{NODE}.log').read_text()
