"""The action FollowJointTrajectory, by which MoveIt and other clients have a trajectory executed.

A goal's trajectory takes the way of one on ``joint_trajectory``: checked in the order of reception, it begins at the
reference in force, and the newest one is followed. The executor looks at goals ``RATE`` times a second; tolerances of
the path are compared with each state, in the thread of the torques.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from rclpy.action import ActionServer, CancelResponse
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.serialization import serialize_message
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectoryPoint

from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.motion_tolerance import MotionTolerance
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.inputs.goal_arm import GoalArm

try:
    from control_msgs.action import FollowJointTrajectory
except ImportError:  # there is no action then
    FollowJointTrajectory = None

NAME = '~/follow_joint_trajectory'
RATE = 20.0
"""Hz of feedback, and of looking whether a goal is reached."""
GOAL_TIME = 1.0
"""s after the end of a trajectory in which the arm has to come within the tolerances, where a goal states none."""
LONGEST = 1000
"""Characters of a reason that a client is told; a name in it may be long."""
SILENT = 3.0
"""s without a state that has a torque, after which goals are aborted."""


class Goal:
    """A goal and what has become of it; the threads that read trajectories call ``follows`` and ``is_refused``."""

    def __init__(self, handle, arm: GoalArm):
        """Read the tolerances of a goal's ``handle``; ArgumentError where they are wrong."""
        request, robot, unlimited = handle.request, arm.robot, (math.inf, math.inf)
        self.handle, self.arm = handle, arm
        self.plan: Followed | None = None
        self.refusal = ''
        self.newest: int | None = None  # stamp of the last state, ns
        self.seen: int | None = None  # when it changed, ns of the node's clock
        self.rests_since: int | None = None  # stamp of the first state after the last point, ns
        if request.multi_dof_trajectory.points or request.component_path_tolerance or request.component_goal_tolerance:
            raise ArgumentError('multi_dof_trajectory: expected none, each joint of the arm has one degree of freedom')
        path = _tolerances('path_tolerance', robot.joint_names, request.path_tolerance, unlimited)
        self.tolerance = MotionTolerance('path_tolerance', robot, arm.desired, *path)
        default = arm.goal_tolerance or math.inf, math.inf
        goal = _tolerances('goal_tolerance', robot.joint_names, request.goal_tolerance, default)
        self.end = MotionTolerance('goal_tolerance', robot, arm.desired, *goal)
        allowed = request.goal_time_tolerance
        self.patience = (allowed.sec + allowed.nanosec * 1e-9) or GOAL_TIME
        if self.patience < 0.0:
            raise ArgumentError(f'goal_time_tolerance: expected at least 0, got {self.patience:g} s')

    def follows(self, plan: Followed) -> None:
        """Know that the trajectory is followed, or waits for its start."""
        self.plan = plan

    def is_refused(self, reason: str) -> None:
        """Know that it is not."""
        self.refusal = reason

    @property
    def state(self) -> MeasuredState | None:
        """The last state, where that followed its trajectory."""
        is_followed = self.plan is not None and self.arm.follower.plan is self.plan
        return self.arm.state() if is_followed else None

    def ended(self) -> str:
        """Return why its trajectory is not followed and will not be, '' where it is or may be."""
        return self.refusal or ('' if self.plan is None else self.arm.follower.ended(self.plan))

    def is_without_states(self, now: int) -> bool:
        """Return whether it is followed, and up to ``now`` (ns) no state has had a torque for ``SILENT``."""
        newest = self.arm.follower.newest
        if self.seen is None or newest != self.newest or self.plan is None or now < self.seen:
            self.newest, self.seen = newest, now
        return (now - self.seen) * 1e-9 > SILENT

    def missed(self) -> str | None:
        """Return which joint is not at the end in time, '' where all are; None: there is time left."""
        plan, state = self.plan, self.state
        if plan is None or state is None or not plan.rests(plan.time(state.stamp)):
            return None
        fault = self.end.fault(state.q, state.qd)
        if not fault:
            return ''
        self.rests_since = self.rests_since or state.stamp
        is_late = (state.stamp - self.rests_since) * 1e-9 > self.patience
        return f'{fault}, {self.patience:g} s after the end' if is_late else None


class TrajectoryAction:
    """The action server of a node, as long as the process runs."""

    def __init__(self, node):
        """Serve the action for a BaseNode whose task has a GoalArm ``goals``, where control_msgs is installed."""
        self._node = node
        self._goals: list[Goal] = []
        if FollowJointTrajectory is None:
            node.get_logger().info(f'no action {NAME}: the package control_msgs is not installed')
            return
        self._server = _Server(
            node,
            FollowJointTrajectory,
            NAME,
            lambda handle: None,  # ``finish`` has the results
            handle_accepted_callback=node.guarded(self._accept),
            cancel_callback=node.guarded(self._cancel),
        )
        self._timer = node.create_timer(1.0 / RATE, self._look, clock=node.steady_clock)
        self._timer.cancel()

    @property
    def _arm(self) -> GoalArm | None:
        """What goals are executed by; None while the node is not configured."""
        return None if self._node.task is None else self._node.task.goals

    def _accept(self, handle) -> None:
        """Have a goal's trajectory followed, or abort the goal with the reason."""
        self._tell(handle.execute)
        try:
            goal = self._goal(handle)
        except DynamicsError as error:
            self._finish(handle, handle.abort, self._invalid(handle), str(error))
            return
        self._goals.append(goal)
        self._timer.reset()
        goal.arm.trajectories.send(serialize_message(handle.request.trajectory), goal)

    def _goal(self, handle) -> Goal:
        """Return a goal; ArgumentError says why it can't be executed."""
        arm, node = self._arm, self._node
        if arm is None or not node.active:
            raise ArgumentError(f'{node.get_name()} is not active')
        if arm.refuses():
            raise ArgumentError(arm.refuses())
        if not handle.request.trajectory.points:
            raise ArgumentError('trajectory: expected points; a goal is cancelled to stop the arm')
        return Goal(handle, arm)

    def _cancel(self, handle) -> CancelResponse:
        """Stop the arm where the goal's trajectory is followed, or may be."""
        goal = next((each for each in self._goals if each.handle == handle), None)
        if goal is None:
            return CancelResponse.REJECT  # it has ended
        if not goal.ended():
            self._stop(goal)
        return CancelResponse.ACCEPT

    def _stop(self, goal: Goal) -> None:
        with suppress(DynamicsError):  # the node is not active: nothing is followed
            goal.arm.trajectories.stop()

    def _look(self) -> None:
        """Finish the goals that are reached, cancelled, or followed no more; send feedback of the others."""
        for goal in tuple(self._goals):
            if self._finish_ended(goal):
                self._goals.remove(goal)
            elif (state := goal.state) is not None:
                self._tell(partial(goal.handle.publish_feedback, _feedback(goal, state)))
        if not self._goals:
            self._timer.cancel()

    def _finish_ended(self, goal: Goal) -> bool:
        """Finish a goal that has ended; return whether it has."""
        handle, codes = goal.handle, FollowJointTrajectory.Result
        if handle.is_cancel_requested:
            self._finish(handle, handle.canceled, codes.SUCCESSFUL, 'cancelled')
            return True
        reason = self._reason(goal)
        if reason:
            is_left = goal.plan is not None and goal.plan.is_left
            code = codes.PATH_TOLERANCE_VIOLATED if is_left else self._invalid(handle)
            self._finish(handle, handle.abort, code, reason)
            return True
        missed = goal.missed()
        if missed is None:
            return False
        end, code = (handle.abort, codes.GOAL_TOLERANCE_VIOLATED) if missed else (handle.succeed, codes.SUCCESSFUL)
        self._finish(handle, end, code, missed)
        return True

    def _reason(self, goal: Goal) -> str:
        """Return why a goal is aborted, '' where it is not; its motion has ended then."""
        if not self._node.active:
            return f'{self._node.get_name()} is not active any more'
        if goal.arm is not self._arm:
            return 'the description of another robot has come'
        reason = goal.ended()
        if not reason and goal.is_without_states(self._node.get_clock().now().nanoseconds):
            self._stop(goal)
            reason = f'no torque for {SILENT:g} s: {self._node.silence or "no joint states"}'
        return reason

    def _invalid(self, handle) -> int:
        """Return the code of a goal that is aborted for no tolerance."""
        codes, arm, given = FollowJointTrajectory.Result, self._arm, handle.request.trajectory.joint_names
        if arm is None or set(given) - set(self._node.locked_joint_names) == set(arm.robot.joint_names):
            return codes.INVALID_GOAL
        return codes.INVALID_JOINTS

    def _finish(self, handle, end: Callable[[], object], code: int, reason: str) -> None:
        reason = reason[:LONGEST]
        if reason:
            self._node.get_logger().warning(f'{NAME}: {reason}')
        result = FollowJointTrajectory.Result(error_code=code, error_string=reason)
        self._tell(partial(self._server.finish, handle, partial(self._tell, end), result))

    def _tell(self, say: Callable[[], object]) -> None:
        """Tell the clients something; that the middleware could not send it ends no torques."""
        try:
            say()
        except _rclpy.RCLError as error:
            self._node.get_logger().warning(f'{NAME}: clients are not told: {error}', throttle_duration_sec=10.0)


class _Server(ActionServer):
    """An action server whose goals are executed by others: the executor only ends them.

    A callback that waited for the end would have executors before Kilted turn without a pause.
    """

    def notify_execute(self, goal_handle, execute_callback) -> None:
        """Do nothing: the goal is being executed."""

    def finish(self, goal_handle, end: Callable[[], object], result) -> None:
        """Call ``end()``, which says how a goal ends, and send the ``result``."""

        def execute(handle):
            end()
            return result

        super().notify_execute(goal_handle, execute)


def _tolerances(name: str, joint_names: Sequence[str], stated, default: tuple[float, float]) -> np.ndarray:
    """Return the tolerances of position and velocity (2, n) of JointTolerance messages: 0 is the default, -1 none."""
    tolerances = np.repeat(np.array(default)[:, None], len(joint_names), axis=1)
    for each in stated:
        if each.name not in joint_names:
            raise ArgumentError(f'{name}: unknown joint {each.name!r}; the arm has {", ".join(joint_names)}')
        if each.acceleration > 0.0:
            raise ArgumentError(f'{name}: joint {each.name!r}: expected no acceleration, none is measured')
        k = list(joint_names).index(each.name)
        for row, value in enumerate((each.position, each.velocity)):
            if not (value >= 0.0 or value == -1.0):
                raise ArgumentError(f'{name}: joint {each.name!r}: expected at least 0, or -1 for none, got {value:g}')
            if value:
                tolerances[row, k] = math.inf if value < 0.0 else value
    return tolerances


def _feedback(goal: Goal, state: MeasuredState):
    """Return the feedback of a goal whose trajectory ``state`` followed."""
    arm = goal.arm
    goal.end.fault(state.q, state.qd)  # writes the error
    feedback = FollowJointTrajectory.Feedback(joint_names=list(arm.robot.joint_names))
    feedback.header.stamp = Time(nanoseconds=state.stamp).to_msg()
    (q, qd, qdd), passed = arm.desired.tolist(), Duration(nanoseconds=max(0, state.stamp - goal.plan.start)).to_msg()
    feedback.desired = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd, time_from_start=passed)
    feedback.actual = JointTrajectoryPoint(
        positions=state.q.tolist(), velocities=state.qd.tolist(), time_from_start=passed
    )
    error, of_velocity = goal.end.error.tolist()
    feedback.error = JointTrajectoryPoint(positions=error, velocities=of_velocity, time_from_start=passed)
    return feedback
