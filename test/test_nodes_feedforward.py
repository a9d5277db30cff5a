"""feedforward_node as a process: the torque of the desired motion at each state's stamp, or silence with a reason."""

import signal

import graph as ros
import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import Robot
from robot_dynamics_ros.tools.processes import ProcessError, Processes

NODE = 'feedforward_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
A = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.0])
B = np.array([0.5, -0.4, -0.2, 0.3, 0.1, -0.4])
RATE_A = np.array([0.1, 0.2, -0.1, 0.2, -0.3, 0.1])
RATE_B = np.array([-0.2, 0.1, 0.3, 0.1, 0.2, 0.3])
REST = np.zeros(6)


@pytest.fixture(scope='module')
def graph(tmp_path_factory):
    with ros.Graph(tmp_path_factory.mktemp('feedforward')) as running:
        running.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}', '-p', 'start_tolerance:=0.0'))
        yield running


@pytest.fixture
def start(graph):
    """A time that no test has used, ahead of all of them, so that no state is out of order."""
    start.used = max(getattr(start, 'used', 0), graph.now() + 1000 * ros.SECOND) + 1000 * ros.SECOND
    return start.used


def at(start, seconds):
    return start + round(seconds * ros.SECOND)


def send(graph, stamp, position=A, velocity=REST, names=NAMES):
    graph.publish('joint_states', ros.joint_state(names, stamp, position, velocity))


def answer(graph, stamp, position=A, velocity=REST, names=NAMES):
    """Send a state and return its answer."""
    torques = graph.listen(JointState, 'feedforward_torque')
    return graph.answer(lambda stamp: send(graph, stamp, position, velocity, names), torques, stamp)


def assert_torque(message, q, qd, qdd, robot=ROBOT):
    expected = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
    np.testing.assert_allclose(message.effort, expected, rtol=0, atol=1e-9)


def between(t, duration, first, last):
    """Position, velocity and acceleration at t of the polynomial that meets (q, qd, ...) at both ends; slow twin."""
    powers = np.arange(2 * len(first))

    def row(time, derivative):
        factor = np.prod([powers - k for k in range(derivative)], axis=0) if derivative else np.ones(len(powers))
        return factor * time ** np.maximum(powers - derivative, 0.0)

    conditions = [row(time, k) for time in (0.0, duration) for k in range(len(first))]
    coefficients = np.linalg.solve(np.array(conditions), np.array([*first, *last]))
    return [row(t, k) @ coefficients for k in range(3)]


def quintic(start):
    """From A to B in 2 s, and what it is at t."""
    ends = (A, RATE_A, REST), (B, RATE_B, REST)
    return ros.trajectory(NAMES, start, (0.0, *ends[0]), (2.0, *ends[1])), lambda t: between(t, 2.0, *ends)


def rest_at(start, position=A):
    """Stay where you are."""
    return ros.trajectory(NAMES, start, (0.0, position, REST, REST), (1e6, position, REST, REST))


def test_silent_without_trajectory(graph, start):
    graph.follow(NODE, JointTrajectory())
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, 'no trajectory', lambda: send(graph, start))
    assert torques == []


@pytest.mark.parametrize('t', [0.0, 0.3, 1.0, 1.731, 2.0])
def test_torque_is_that_of_the_desired_motion_at_the_stamp(graph, start, t):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    torque = answer(graph, at(start, t), position=B)
    assert torque.name == NAMES
    assert torque.header.frame_id == 'gravity+coriolis+inertia+friction'
    assert_torque(torque, *motion(t))


def test_after_the_last_point_the_arm_rests_there(graph, start):
    message, _ = quintic(start)
    graph.follow(NODE, message)
    assert_torque(answer(graph, at(start, 7.5)), B, REST, REST)


def test_trajectory_joints_are_matched_by_name(graph, start):
    order = [3, 0, 5, 1, 4, 2]
    names = [NAMES[k] for k in order]
    graph.follow(NODE, ros.trajectory(names, start, (0.0, A[order], RATE_A[order], REST), (2.0, B[order], REST, REST)))
    assert_torque(answer(graph, at(start, 0.7)), *between(0.7, 2.0, (A, RATE_A, REST), (B, REST, REST)))


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
            assert_torque(answer(graph, at(start, t), position, velocity, layout), q, qd, motion(t)[2])


def test_measured_needs_velocities(graph, start):
    with graph.parameters(NODE, evaluate_at='measured'):
        graph.follow(NODE, rest_at(start))
        torques = graph.listen(JointState, 'feedforward_torque')
        graph.silence(NODE, 'velocities', lambda: send(graph, start, velocity=[]))
        assert torques == []
        answer(graph, at(start, 0.1))


def test_silent_before_the_start(graph, start):
    graph.follow(NODE, rest_at(start))
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, 'not begun', lambda: send(graph, at(start, -0.001)))
    assert torques == []
    answer(graph, start)


BAD_STATES = {
    'NaN position': (NAMES, [0.0, 0.0, np.nan, 0.0, 0.0, 0.0], NAMES[2]),
    'infinite position': (NAMES, [0.0, 0.0, 0.0, 0.0, 0.0, np.inf], NAMES[5]),
    'missing joint': (NAMES[:-1], A[:-1], NAMES[-1]),
    'doubled joint': ([*NAMES, NAMES[1]], [*A, 0.0], NAMES[1]),
    'short positions': (NAMES, A[:5], '6 joints have 5 positions'),
    'no joints': ([], [], NAMES[0]),
}


@pytest.mark.parametrize(('names', 'position', 'culprit'), BAD_STATES.values(), ids=BAD_STATES)
def test_bad_state_gets_silence_with_the_reason_and_the_next_good_one_an_answer(graph, start, names, position, culprit):
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
    assert_torque(answer(graph, at(start, 0.5), velocity=velocity), *motion(0.5))


BAD_TRAJECTORIES = {
    'unknown joint': (['elbow_of_nobody', *NAMES[1:]], [(0.0, B)], 'elbow_of_nobody'),
    'missing joint': (NAMES[1:], [(0.0, B[1:])], NAMES[0]),
    'doubled joint': ([*NAMES, NAMES[4]], [(0.0, [*B, 0.0])], NAMES[4]),
    'time does not go on': (NAMES, [(0.0, A), (1.0, B), (1.0, A)], 'point 2'),
    'time goes back': (NAMES, [(2.0, A), (1.0, B)], 'point 1'),
    'time negative': (NAMES, [(-1.0, A), (1.0, B)], 'point 0'),
    'NaN position': (NAMES, [(0.0, A), (1.0, [*B[:5], np.nan])], 'point 1'),
    'NaN velocity': (NAMES, [(0.0, A, REST), (1.0, B, [*REST[:5], np.nan])], 'point 1'),
    'infinite acceleration': (NAMES, [(0.0, A, REST, [*REST[:5], np.inf]), (1.0, B, REST, REST)], 'point 0'),
    'short positions': (NAMES, [(0.0, A), (1.0, B[:5])], 'point 1'),
    'short velocities': (NAMES, [(0.0, A, REST), (1.0, B, REST[:2])], 'point 1'),
    'no positions': (NAMES, [(0.0, [])], 'point 0'),
    'over long ago': (NAMES, [(0.0, A), (1.0, B)], 'it was over', -4e4),
    'accelerations without velocities': (NAMES, [(0.0, A, [], REST), (1.0, B, [], REST)], 'point 0'),
}


def test_bad_trajectory_is_refused_by_name_and_the_old_one_goes_on(graph, start):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    for k, (kind, (names, points, culprit, *ahead)) in enumerate(BAD_TRAJECTORIES.items()):
        known = len(graph.log(NODE))
        graph.follow(NODE, ros.trajectory(names, at(start, sum(ahead)), *points))
        said = graph.log(NODE)[known:]
        refused = [line for line in said.splitlines() if 'trajectory refused' in line and 'barrier' not in line]
        assert len(refused) == 1, (kind, said)
        assert culprit in refused[0], kind
        t = 0.1 * (k + 1)
        assert_torque(answer(graph, at(start, t)), *motion(t))


def test_a_trajectory_that_begins_far_from_the_arm_is_dropped_naming_the_joint(graph, start):
    near, far = A + np.array([0.0, 0.0, 0.09, 0.0, 0.0, 0.0]), A + np.array([0.0, 0.0, 0.11, 0.0, 0.0, 0.0])
    with graph.parameters(NODE, start_tolerance=0.1):
        graph.follow(NODE, rest_at(start, near))
        assert_torque(answer(graph, start), near, REST, REST)
        # the tolerance is of the beginning only
        assert_torque(answer(graph, at(start, 0.1), far), near, REST, REST)
        graph.follow(NODE, rest_at(start, far))
        torques = graph.listen(JointState, 'feedforward_torque')
        send(graph, at(start, 0.2))
        dropped = f'trajectory dropped: joint {NAMES[2]!r} is 0.110 away from where it begins'
        graph.until(lambda: dropped in graph.log(NODE), 'the reason in the log')
        graph.silence(NODE, 'no trajectory', lambda: send(graph, at(start, 0.3)))
        assert torques == []


def test_trajectory_without_points_ends_the_old_one(graph, start):
    graph.follow(NODE, rest_at(start))
    answer(graph, start)
    graph.follow(NODE, JointTrajectory(joint_names=NAMES))
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, 'no trajectory', lambda: send(graph, at(start, 0.1)))
    assert torques == []


def test_a_new_trajectory_takes_the_place_of_the_old_one(graph, start):
    graph.follow(NODE, rest_at(start))
    assert_torque(answer(graph, at(start, 1.0)), A, REST, REST)
    graph.follow(NODE, rest_at(at(start, 2.0), B))
    assert_torque(answer(graph, at(start, 3.0)), B, REST, REST)


def test_without_a_stamp_a_trajectory_starts_at_its_arrival(graph, start):
    with graph.parameters(NODE, age_limit=10.0):
        before = graph.now()
        graph.follow(NODE, ros.trajectory(NAMES, 0, (0.0, A, REST, REST), (1000.0, B, REST, REST)))
        after = graph.now()
        torque = answer(graph, after)
    earliest, latest = (
        ROBOT.inverse_dynamics(q, qd, qdd)[0] + ROBOT.friction_torque(qd)[0]
        for q, qd, qdd in (
            between((after - since) * 1e-9, 1000.0, (A, REST, REST), (B, REST, REST)) for since in (before, after)
        )
    )
    assert min(earliest, latest) <= torque.effort[0] <= max(earliest, latest)


def test_without_accelerations_cubic_without_velocities_linear_and_said_once(graph, start):
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, A, RATE_A), (2.0, B, RATE_B)))
    for t in (0.4, 1.5):
        assert_torque(answer(graph, at(start, t)), *between(t, 2.0, (A, RATE_A), (B, RATE_B)))
    start = at(start, 10.0)
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, A), (2.0, B)))
    for t in (0.4, 1.5):
        assert_torque(answer(graph, at(start, t)), *between(t, 2.0, (A,), (B,))[:2], REST)
    start = at(start, 10.0)
    # a mixed one: as smooth as both ends of a segment allow
    graph.follow(
        NODE, ros.trajectory(NAMES, start, (0.0, A, RATE_A, REST), (2.0, B, RATE_B), (3.0, A), (4.0, B, REST, REST))
    )
    assert_torque(answer(graph, at(start, 0.4)), *between(0.4, 2.0, (A, RATE_A), (B, RATE_B)))
    assert_torque(answer(graph, at(start, 2.4)), *between(0.4, 1.0, (B,), (A,))[:2], REST)
    said = [line for line in graph.log(NODE).splitlines() if 'interpolation' in line]
    assert len(said) == 1
    assert 'cubic' in said[0] or 'linear' in said[0]


def test_first_point_later_than_the_start_begins_at_the_state_that_is_met(graph, start):
    met, rate = A + 0.2, np.full(6, 0.3)
    graph.follow(NODE, ros.trajectory(NAMES, start, (1.0, A, RATE_A), (2.0, B, RATE_B)))
    assert_torque(answer(graph, start, met, rate), *between(0.0, 1.0, (met, rate), (A, RATE_A)))
    # the way stays as it was begun, wherever the arm is later
    assert_torque(answer(graph, at(start, 0.5), B, REST), *between(0.5, 1.0, (met, rate), (A, RATE_A)))
    assert_torque(answer(graph, at(start, 1.5), B, REST), *between(0.5, 1.0, (A, RATE_A), (B, RATE_B)))


@pytest.mark.parametrize('velocity', [[], [0.0, np.nan, 0.0, 0.0, 0.0, 0.0]], ids=['none', 'one NaN'])
def test_the_met_state_may_lack_velocities(graph, start, velocity):
    graph.follow(NODE, rest_at(start))
    answer(graph, start, A, np.full(6, 0.5))  # a velocity of long ago, which must not count
    graph.follow(NODE, ros.trajectory(NAMES, start, (1.0, A, RATE_A), (2.0, B, RATE_B)))
    effort = np.array(answer(graph, at(start, 0.1), A, velocity).effort)
    # at the met position: from rest, or on a straight line to the first point (no motion); never with the old velocity
    q, qd, qdd = between(0.1, 1.0, (A, REST), (A, RATE_A))
    cubic = ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(qd)
    linear = ROBOT.inverse_dynamics(A, REST, REST) + ROBOT.friction_torque(REST)
    assert min(np.abs(effort - cubic).max(), np.abs(effort - linear).max()) < 1e-9


def test_torque_is_clamped_to_the_effort_limit_and_counted(graph, start):
    ends = (A, REST, REST), (B, REST, REST)
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, *ends[0]), (0.2, *ends[1])))
    before = int(graph.diagnostics(NODE).fields['torques saturated'])
    q, qd, qdd = between(0.05, 0.2, *ends)
    asked, limit = ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(qd), ROBOT.limits.effort
    assert (np.abs(asked) > limit).any() and (np.abs(asked) < limit).any()
    np.testing.assert_allclose(answer(graph, at(start, 0.05)).effort, np.clip(asked, -limit, limit), rtol=0, atol=1e-9)
    assert int(graph.diagnostics(NODE).fields['torques saturated']) > before


def test_old_states_are_not_answered(graph):
    with graph.parameters(NODE, age_limit=0.5):
        now = graph.now()
        graph.follow(NODE, rest_at(now - 100 * ros.SECOND))
        torques = graph.listen(JointState, 'feedforward_torque')
        graph.silence(NODE, 'too old', lambda: send(graph, now - 50 * ros.SECOND))
        assert torques == []
        answer(graph, graph.now())
        rejected = int(graph.diagnostics(NODE).fields['states rejected'])
    assert rejected > 0


def test_a_pause_of_the_input_does_not_loosen_the_default_age_limit(graph):
    with graph.parameters(NODE, age_limit=0.0):
        graph.follow(NODE, rest_at(graph.now() - 100 * ros.SECOND))
        for _ in range(20):
            answer(graph, graph.now())
        last = graph.now()
        answer(graph, last)
        graph.until(lambda: graph.now() > at(last, 2.0), 'a pause')
        torques = graph.listen(JointState, 'feedforward_torque')
        graph.silence(NODE, 'too old', lambda: send(graph, at(last, 0.5)))
        assert torques == []


def test_deactivated_is_silent_and_says_so_and_activated_resumes(graph, start):
    graph.restart(NODE)
    graph.follow(NODE, rest_at(start))
    answer(graph, start)
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    torques = graph.listen(JointState, 'feedforward_torque')
    messages = []
    for k in range(3):
        send(graph, at(start, 1.0 + k))
        messages.append(graph.diagnostics(NODE).message)
    graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
    assert torques == []
    assert_torque(answer(graph, at(start, 10.0)), A, REST, REST)
    assert messages == ['not active'] * 3


def test_configured_anew_with_other_parameters(graph, start):
    with graph.parameters(NODE, compensation=['gravity'], gravity=[0.0, 9.81, 0.0]):
        message, motion = quintic(start)
        graph.follow(NODE, message)
        torque = answer(graph, at(start, 0.5))
        expected = ROBOT.with_gravity((0.0, 9.81, 0.0)).gravity_torque(motion(0.5)[0])
        np.testing.assert_allclose(torque.effort, expected, rtol=0, atol=1e-9)
        assert torque.header.frame_id == 'gravity'
    graph.follow(NODE, message)
    assert_torque(answer(graph, at(start, 0.5)), *motion(0.5))


@pytest.mark.parametrize(
    ('terms', 'label'),
    [(['friction', 'inertia'], 'inertia+friction'), (['coriolis', 'gravity'], 'gravity+coriolis')],
)
def test_compensation_chooses_terms_whatever_their_order(graph, start, terms, label):
    with graph.parameters(NODE, compensation=terms):
        message, motion = quintic(start)
        graph.follow(NODE, message)
        torque = answer(graph, at(start, 0.5))
    q, qd, qdd = motion(0.5)
    parts = {
        'gravity': ROBOT.gravity_torque(q),
        'coriolis': ROBOT.coriolis_torque(q, qd),
        'inertia': ROBOT.inertia_torque(q, qdd),
        'friction': ROBOT.friction_torque(qd),
    }
    np.testing.assert_allclose(torque.effort, sum(parts[term] for term in terms), rtol=0, atol=1e-9)
    assert torque.header.frame_id == label


WRONG_PARAMETERS = {
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
def test_wrong_parameter_fails_configure_with_the_reason_in_the_log(graph, parameters, culprit):
    known = len(graph.log(NODE))
    with pytest.raises(ProcessError, match='transition 1 failed'), graph.parameters(NODE, **parameters):
        pass
    assert graph.state_of(NODE) == State.PRIMARY_STATE_ACTIVE  # with the parameters of before
    (said,) = [line for line in graph.log(NODE)[known:].splitlines() if 'not configured' in line]
    assert culprit in said


def test_wrong_parameter_at_start_leaves_the_process_alive_and_sigint_ends_it(graph, tmp_path):
    with Processes(tmp_path) as processes:
        processes.start(NODE, '-r', '__node:=second', '-p', 'model:=robot_of_nobody')
        assert graph.state_of('second') == State.PRIMARY_STATE_UNCONFIGURED
        assert 'robot_of_nobody' in (tmp_path / f'{NODE}.log').read_text()
        graph.client.set_parameter('second', 'model', 'aubo_i5_lecture')
        graph.client.change_state('second', Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
        process = processes._running[NODE]
        process.send_signal(signal.SIGINT)
        assert process.wait(ros.STOP_TIMEOUT) == 0
    assert 'Traceback' not in (tmp_path / f'{NODE}.log').read_text()
