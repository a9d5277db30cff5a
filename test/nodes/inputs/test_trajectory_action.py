"""torque_controller has a trajectory followed by the action FollowJointTrajectory, for a client of rclpy.

Where control_msgs is not installed, a package of that name with this action is generated for the tests.
"""

import re
import time
from pathlib import Path
from types import SimpleNamespace

from support.message_packages.control_msgs_package import installed
from support.message_packages.generated_messages import folder_of_a_run
from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER as NODE
from support.nodes.feedforward import NAMES, REST, ROBOT, A, at, command

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Duration
from lifecycle_msgs.msg import State, Transition
from rclpy.action import ActionClient
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.nodes.inputs.trajectory_action import TrajectoryAction

URDF = Path(named_urdf('aubo_i5')).read_text()
NEAR = A + np.array([0.02, -0.02, 0.01, 0.02, -0.01, 0.02])


@pytest.fixture(scope='module')
def kinds(tmp_path_factory):
    """control_msgs, in this process and in those that it starts."""
    with installed(folder_of_a_run(tmp_path_factory)):
        import control_msgs.action  # noqa: PLC0415
        import control_msgs.msg  # noqa: PLC0415

        yield control_msgs


@pytest.fixture(scope='module')
def graph(kinds, file_graph):
    parameters = (
        *('start_tolerance:=0.05', 'control_law:=pd_gravity', 'description_topic:=robot_description', 'model:=""'),
        # for the arm without the rotors that its description lacks
        *('stiffness:=[30.0, 40.0, 35.0, 0.6, 0.7, 0.8]', 'damping:=[3.0, 4.0, 3.5, 0.06, 0.07, 0.08]'),
    )
    file_graph.start(NODE, arguments=[word for each in parameters for word in ('-p', each)], active=False)
    file_graph.say_latched('robot_description', String(data=URDF))
    file_graph.until(lambda: file_graph.state_of(NODE) == State.PRIMARY_STATE_ACTIVE, 'an active node')
    return file_graph


class Client:
    """A client of the action, and an arm that ``moves`` to where the last feedback says it should be, by an offset."""

    def __init__(self, graph, kinds):
        self.graph, self.kinds = graph, kinds
        self._client = ActionClient(graph.node, kinds.action.FollowJointTrajectory, f'{NODE}/follow_joint_trajectory')
        graph.until(self._client.server_is_ready, 'the server')
        self.feedback, self.desired, self.offset, self.moves = [], A, np.zeros(6), True

    def destroy(self):
        self._client.destroy()

    @property
    def q(self):
        return self.desired + self.offset

    def state(self):
        """Send a state of the arm."""
        self.graph.publish('joint_states', ros.joint_state(NAMES, self.graph.now(), self.q, REST))

    def until(self, condition, what):
        """Let the arm send states until a condition holds."""
        self.graph.repeat_until(self.state, condition, what, period=0.01)

    def follow(self, feedback):
        self.feedback.append(feedback)
        if self.moves:
            self.desired = np.array(feedback.desired.positions)

    def send(self, message=None, duration=0.5, **fields):
        """Send a goal from here to NEAR, or ``message``; return the future of its handle."""
        points = (0.0, self.desired, REST, REST), (duration, NEAR, REST, REST)
        trajectory = ros.trajectory(NAMES, 0, *points) if message is None else message
        goal = self.kinds.action.FollowJointTrajectory.Goal(trajectory=trajectory, **fields)
        return self._client.send_goal_async(goal, feedback_callback=lambda it: self.follow(it.feedback))

    def goal(self, *message, **fields):
        """Send a goal while the arm sends its states; return its handle."""
        sent = self.send(*message, **fields)
        self.until(sent.done, 'a handle')
        assert sent.result().accepted
        return sent.result()

    def far_ahead(self):
        """Return a trajectory that begins in an hour."""
        return ros.trajectory(NAMES, at(self.graph.now(), 3600.0), (0.0, A, REST, REST), (1.0, NEAR, REST, REST))

    def cancel_all(self):
        """Ask for the end of all goals."""
        name = f'{NODE}/follow_joint_trajectory/_action/cancel_goal'
        client = self.graph.node.create_client(CancelGoal, name)
        self.until(client.service_is_ready, 'the service')
        return client.call_async(CancelGoal.Request())

    def result(self, handle):
        """Wait for the result of a goal; status and result."""
        future = handle.get_result_async()
        self.until(future.done, 'a result')
        return future.result().status, future.result().result

    def tolerance(self, **limits):
        return self.kinds.msg.JointTolerance(**limits)


@pytest.fixture
def client(graph, kinds):
    graph.reactivate(NODE)
    found = Client(graph, kinds)
    yield found
    found.destroy()


@pytest.fixture
def codes(kinds):
    return kinds.action.FollowJointTrajectory.Result


def aborted(client, code, *goal, **fields):
    """Let a goal be aborted with a code; why."""
    status, result = client.result(client.goal(*goal, **fields))
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, code), result.error_string
    return result.error_string


def assert_held(client):
    """Look whether the arm is held where it is: there its torque is that of gravity."""
    torque = command(client.graph, client.graph.now(), client.q)
    np.testing.assert_allclose(torque, ROBOT.gravity_torque(client.q), atol=1e-6)


def test_a_goal_is_followed_with_feedback_and_succeeds(client):
    status, result = client.result(client.goal())
    assert (status, result.error_code, result.error_string) == (GoalStatus.STATUS_SUCCEEDED, 0, '')
    np.testing.assert_allclose(client.feedback[-1].desired.positions, NEAR, atol=1e-3)
    motion, expected, right = Trajectory([0.0, 0.5], [A, NEAR], [REST, REST], [REST, REST]), np.zeros((3, 6)), 0
    for feedback in client.feedback:
        assert feedback.joint_names == NAMES
        passed = feedback.desired.time_from_start
        motion.sample(min(passed.sec + passed.nanosec * 1e-9, 0.5), *expected)
        rates = feedback.desired.positions, feedback.desired.velocities, feedback.desired.accelerations
        error = np.subtract(feedback.desired.positions, feedback.actual.positions)
        # but where the next state came meanwhile
        right += np.allclose(rates, expected, atol=1e-6) and np.allclose(feedback.error.positions, error, atol=1e-9)
    assert right > 0.5 * len(client.feedback) > 1


def test_an_arm_that_leaves_the_path_is_held_and_the_goal_aborted(client, codes):
    client.moves = False
    tolerance = [client.tolerance(name=NAMES[1], position=0.01, velocity=-1.0)]
    why = aborted(client, codes.PATH_TOLERANCE_VIOLATED, duration=3.0, path_tolerance=tolerance)
    assert why.startswith(f'trajectory dropped: path_tolerance: joint {NAMES[1]!r} is 0.01')
    assert why.endswith(' rad or m from its desired position, and 0.01 are allowed')
    assert_held(client)


def test_an_arm_that_does_not_reach_the_end_in_time_aborts_the_goal(client, codes):
    client.offset = 0.03 * np.eye(6)[2]
    tolerance = [client.tolerance(name=NAMES[2], position=0.02)]
    fields = {'goal_tolerance': tolerance, 'goal_time_tolerance': Duration(nanosec=200_000_000)}
    why = aborted(client, codes.GOAL_TOLERANCE_VIOLATED, **fields)
    said = f'goal_tolerance: joint {NAMES[2]!r} is 0.03 rad or m from its desired position, and 0.02 are allowed'
    assert why == f'{said}, 0.2 s after the end'
    # without a tolerance of its own that of the node counts, and -1 is none
    status, _ = client.result(client.goal())
    assert status == GoalStatus.STATUS_SUCCEEDED
    client.offset = 0.06 * np.eye(6)[2]
    fields['goal_tolerance'] = [client.tolerance(name=NAMES[2], position=-1.0)]
    status, _ = client.result(client.goal(**fields))
    assert status == GoalStatus.STATUS_SUCCEEDED
    fields['goal_tolerance'] = []
    assert 'and 0.05 are allowed' in aborted(client, codes.GOAL_TOLERANCE_VIOLATED, **fields)


def test_a_cancelled_goal_stops_the_arm(client):
    handle = client.goal(duration=9.0)
    client.until(lambda: client.feedback, 'feedback')
    client.moves = False
    cancelled = handle.cancel_goal_async()
    client.until(cancelled.done, 'a response')
    status, result = client.result(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_CANCELED, 'cancelled')
    assert_held(client)


def test_a_stop_and_a_newer_goal_end_a_goal(client, codes):
    for newer, why in (
        (lambda: client.graph.publish('joint_trajectory', JointTrajectory()), 'a stop has ended it'),
        (client.goal, 'a newer trajectory has replaced it'),
    ):
        client.feedback.clear()
        handle = client.goal(duration=9.0)
        client.until(lambda: client.feedback, 'feedback')
        newer()
        status, result = client.result(handle)
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, codes.INVALID_GOAL)
        assert result.error_string == why


def test_a_node_that_is_deactivated_or_silent_aborts_goals(client, codes):
    handle = client.goal(duration=9.0)
    client.until(lambda: client.feedback, 'feedback')
    client.graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    status, result = client.result(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_ABORTED, f'{NODE} is not active any more')
    assert aborted(client, codes.INVALID_GOAL) == f'{NODE} is not active'
    client.graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
    client.moves = False
    sent = client.send(duration=9.0)
    client.graph.until(sent.done, 'a handle')
    begun = time.monotonic()
    future = sent.result().get_result_async()
    client.graph.until(future.done, 'a result')  # no states come
    assert time.monotonic() - begun > 2.0
    result = future.result()
    assert result.status == GoalStatus.STATUS_ABORTED
    assert result.result.error_string.startswith('no torque for 3 s: ')


def test_a_description_that_is_refused_changes_nothing_and_one_of_another_robot_aborts_goals(client, codes):
    graph, light = client.graph, re.sub(r'(mass value|i[xyz]{2})="([^"]*)"', r'\1="\2e-4"', URDF)
    handle = client.goal(duration=99.0)
    client.until(lambda: client.feedback, 'feedback')
    graph.say_latched('robot_description', String(data=light))
    client.until(lambda: 'damping: joint' in graph.log(NODE), 'the refusal')
    seen = len(client.feedback)
    client.until(lambda: len(client.feedback) > seen + 3, 'feedback')
    graph.say_latched('robot_description', String(data=URDF.replace('effort="133', 'effort="139')))
    status, result = client.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, codes.INVALID_GOAL)
    assert result.error_string == 'the description of another robot has come'
    assert client.result(client.goal())[0] == GoalStatus.STATUS_SUCCEEDED


def test_goals_that_are_cancelled_together_are_all_cancelled(client):
    first, second = client.goal(duration=9.0), client.goal(client.far_ahead())
    client.until(lambda: client.feedback, 'feedback')
    client.moves = False
    cancelled = client.cancel_all()
    client.until(cancelled.done, 'a response')
    assert len(cancelled.result().goals_canceling) == 2
    for handle in (first, second):
        status, result = client.result(handle)
        assert (status, result.error_string) == (GoalStatus.STATUS_CANCELED, 'cancelled')
    assert_held(client)


def test_a_goal_that_is_wrong_is_aborted_by_name(client, codes):
    def points(names=NAMES, last=NEAR, stamp=0):
        return ros.trajectory(names, stamp, (0.0, A, REST, REST), (0.5, last, REST, REST))

    tolerance, invalid = client.tolerance, codes.INVALID_GOAL
    for code, message, fields, why in (
        (invalid, JointTrajectory(joint_names=NAMES), {}, 'trajectory: expected points; a goal is cancelled to stop'),
        (codes.INVALID_JOINTS, points([*NAMES[:5], 'tail']), {}, "'tail'"),
        (codes.INVALID_JOINTS, points([*NAMES[:5], 'tail' * 10**5]), {}, "'tailtail"),
        (invalid, points(last=A + 99.0), {}, 'is beyond its limits'),
        (invalid, points(stamp=at(client.graph.now(), -9.0)), {}, 'before it was received'),
        (invalid, points(), {'path_tolerance': [tolerance(name='tail')]}, "path_tolerance: unknown joint 'tail'"),
        (invalid, points(), {'goal_tolerance': [tolerance(name=NAMES[0], position=-2.0)]}, 'or -1 for none, got -2'),
        (invalid, points(), {'goal_tolerance': [tolerance(name=NAMES[0], velocity=np.nan)]}, 'for none, got nan'),
        (invalid, points(), {'path_tolerance': [tolerance(name=NAMES[0], acceleration=1.0)]}, 'no acceleration'),
        (invalid, points(), {'goal_time_tolerance': Duration(sec=-1)}, 'goal_time_tolerance: expected at least 0'),
    ):
        told = aborted(client, code, message, **fields)
        assert why in told and len(told) <= 1000


def test_a_law_that_needs_another_node_refuses_goals(client, codes):
    with client.graph.parameters(NODE, control_law='pd_feedforward'):
        assert aborted(client, codes.INVALID_GOAL).startswith('control_law pd_feedforward: feedforward_node would not')


def test_what_the_middleware_cannot_send_ends_no_torques():
    """Seen once: 'Failed publish goal status array: cannot publish data' was an internal error of the node."""
    logged = []
    logger = SimpleNamespace(warning=lambda text, **_: logged.append(text))
    action = TrajectoryAction.__new__(TrajectoryAction)
    action._node = SimpleNamespace(get_logger=lambda: logger)

    def say():
        raise _rclpy.RCLError('Failed publish goal status array: cannot publish data')

    action._tell(say)
    assert logged == [
        '~/follow_joint_trajectory: clients are not told: Failed publish goal status array: cannot publish data'
    ]
