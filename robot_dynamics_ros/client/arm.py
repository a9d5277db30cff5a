"""An arm that a torque_controller controls, led from Python."""

import atexit
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from numpy.typing import ArrayLike
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import validation
from robot_dynamics_ros.client import commands
from robot_dynamics_ros.client.errors import RefusedError
from robot_dynamics_ros.client.link import PATIENCE
from robot_dynamics_ros.client.motion import LATER, Motion
from robot_dynamics_ros.client.node_status import Kind
from robot_dynamics_ros.client.session import Session
from robot_dynamics_ros.client.values import ArmState, FrameStiffness, Reached
from robot_dynamics_ros.client.verdict import HANDLED, Verdict, newest_status
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.inputs import stiffness_input, target_poses, trajectory_input, wrench_input
from robot_dynamics_ros.robot import Robot

SETTLING = 2_000_000_000
"""Longest time between the end of a motion and joints that rest, ns."""
LONGEST = 86400.0
"""Duration of a motion or wrench, s."""
JOINED = 10_000_000_000
"""Time by which the joints may reach a lone point later than asked, ns."""


class Arm:
    """The arm of a torque_controller: its state, motions, stiffness and wrenches.

    A ``with`` block, or ``close``, ends what the arm has in this process: a ROS context, a node and a thread. Whatever
    leaves a method early, such as KeyboardInterrupt, sends a stop first, and so does leaving the block while a motion
    that this object began may still run. It never starts, configures or activates a node. ``hold`` may be called by any
    thread, other methods by one at a time.

    Parameters
    ----------
    namespace : str
        Of the node.
    name : str
        Of the node.
    arguments : sequence of str
        ROS arguments, such as ``('-r', 'joint_states:=arm/joint_states')``: the same remappings as those of the node.

    Raises
    ------
    ArgumentError
        For a name, namespace or arguments that ROS does not allow.
    UnavailableError
        Where the node is missing, is not configured, or its robot cannot be loaded here.
    """

    def __init__(self, namespace: str = '', name: str = 'torque_controller', arguments: Sequence[str] = ()):
        self._session = Session(name, namespace, arguments)
        self._until = -math.inf  # stamp of the joint state at which a motion of this object is over, ns
        atexit.register(self.close)  # the interpreter would abort at its end while rclpy waits in a thread

    def __enter__(self) -> 'Arm':
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the graph; a stop is sent before where a motion that this object began may still run.

        The end of the process does so, too.
        """
        atexit.unregister(self.close)
        if self._until > (self._session.states.stamp or 0):
            self.hold()
        self._session.link.close()

    @property
    def robot(self) -> Robot | DrivenRobot:
        """The robot of the node; loaded again where the node has got another description.

        UnavailableError where it cannot be loaded here.
        """
        return self._session.robot

    @property
    def frame(self) -> str:
        """Name of the link whose pose ``state`` has and ``move_to`` leads: ``impedance_frame``, else the last link."""
        return self._session.frame

    @property
    def state(self) -> ArmState:
        """The newest joint state, with the pose of ``frame``; UnavailableError where none has come for 1 s."""
        return self._session.state()

    @property
    def stiffness(self) -> FrameStiffness:
        """The stiffness in force, up to 1 s old; UnavailableError where the control law has none.

        One that is assigned is in force after ``stiffness_ramp_time``. Assigning raises ArgumentError for another type,
        RefusedError with the reason of the node, and UnavailableError where the node publishes no torques.
        """
        return newest_status(self._session.link).stiffness

    @stiffness.setter
    def stiffness(self, stiffness: FrameStiffness) -> None:
        if not isinstance(stiffness, FrameStiffness):
            raise ArgumentError(f'stiffness: expected a FrameStiffness, got {stiffness!r:.80}')
        session, kind = self._session, Kind.STIFFNESS
        before = session.ready(kind, stiffness_input.TOPIC, WrenchStamped)
        session.link.publish(stiffness_input.TOPIC, commands.stiffness_message(stiffness), kind, math.inf)
        session.said(Verdict(session.link, kind, before))

    @contextmanager
    def guide(self, translation: str = '', rotation: str = '') -> Iterator[None]:
        """Let a hand guide ``frame`` along and about axes that have no stiffness within a ``with`` block.

        After the block the frame has the stiffness of before, and is held where it was guided to. The node damps these
        axes alone; it has to have a damping for them (``translational_damping``, ``rotational_damping``).

        Parameters
        ----------
        translation : str
            Axes of ``reference_frame`` along which it is free: 'z' for a line, 'xy' for a plane.
        rotation : str
            Axes about which it is free: 'xyz' for about a point.

        Raises
        ------
        ArgumentError
            For other letters, or no axis.
        RefusedError, UnavailableError
            As ``stiffness``. Whatever ends the block, the stiffness of these axes is sent again before.
        """
        free = np.array([_axes('translation', translation), _axes('rotation', rotation)])
        if not free.any():
            raise ArgumentError("translation, rotation: expected at least one axis, such as translation='xy'")
        link = self._session.link
        before = newest_status(link).wanted_stiffness
        nothing = FrameStiffness(*np.zeros((2, 3)))

        def again() -> FrameStiffness:
            return before.of_axes(free, link.status.wanted_stiffness)

        try:
            self.stiffness = nothing.of_axes(free, before)
            yield
            self.stiffness = again()
        except BaseException:
            link.insist(stiffness_input.TOPIC, commands.stiffness_message(again()), Kind.STIFFNESS)
            raise

    def move_to(self, pose: ArrayLike, wait: bool = True) -> Reached | None:
        """Lead ``frame`` to a pose, with the speed limits of the node.

        Parameters
        ----------
        pose : array_like, (4, 4)
            Homogeneous transform from the frame to the base link, m, as ``Robot.link_pose`` returns it.
        wait : bool
            Whether to wait until the joints rest; else only until the node has taken the pose.

        Returns
        -------
        Reached or None
            Distance (m) and angle (rad) between the measured frame and the pose; None without ``wait``.

        Raises
        ------
        ArgumentError
            For a matrix that is no pose.
        RefusedError
            With the reason of the node.
        UnavailableError
            Where the node publishes no torques, or does not say what becomes of the pose.
        EndedError
            Where the motion cannot go on.
        """
        called, pose = time.monotonic(), validation.pose('pose', pose)
        session, link, kind = self._session, self._session.link, Kind.MOTION
        before = session.ready(kind, target_poses.POSE, PoseStamped)
        with self._stopped_early(target_poses.POSE):
            motion = Motion(link, session.states, before, called)
            link.publish(target_poses.POSE, commands.pose_message(pose), kind, called)
            way = round(session.said(Verdict(link, kind, before)).way * 1e9)
            self._until = motion.begun + way + LATER + SETTLING
            if not wait:
                return None
            self._finish(motion, way, SETTLING)
            self._until = -math.inf
            return Reached.between(self.state.pose, pose)

    def move_joints(self, positions: ArrayLike, duration: float, wait: bool = True) -> np.ndarray | None:
        """Lead joints to positions, where they rest.

        Parameters
        ----------
        positions : array_like, (n,), or mapping of str to float
            Rad or m in the joint order of ``robot``, or by name; others stay where they are measured.
        duration : float
            s; where the limits of the joints need more, the node takes more.
        wait : bool
            Whether to wait until the joints rest; else only until the node has taken the trajectory.

        Returns
        -------
        ndarray, (n,), or None
            What is left from the measured positions, rad or m; None without ``wait``.

        Raises
        ------
        ArgumentError, UnknownNameError
            For another shape, numbers that are not finite, a joint that the robot does not have.
        RefusedError, UnavailableError, EndedError
            As ``move_to``.
        """
        session, link, kind = self._session, self._session.link, Kind.MOTION
        called, robot, duration = time.monotonic(), session.robot, _duration(duration)
        goal = session.goal(positions)
        before = session.ready(kind, trajectory_input.TOPIC, JointTrajectory)
        with self._stopped_early(trajectory_input.TOPIC):
            motion = Motion(link, session.states, before, called)
            message = commands.point_message(robot.joint_names, goal, duration)
            link.publish(trajectory_input.TOPIC, message, kind, called)
            session.said(Verdict(link, kind, before))
            way = round(duration * 1e9)
            self._until = motion.begun + way + LATER + JOINED
            if not wait:
                return None
            self._finish(motion, way, JOINED)
            self._until = -math.inf
            return nearest(goal - self.state.positions, turns(robot))

    def drive(
        self,
        linear: ArrayLike = (0.0, 0.0, 0.0),
        angular: ArrayLike = (0.0, 0.0, 0.0),
        duration: float = 1.0,
        frame: str = '',
    ) -> None:
        """Lead ``frame`` by a velocity, until it rests again.

        Parameters
        ----------
        linear : array_like, (3,)
            Velocity of the origin of the frame, m/s.
        angular : array_like, (3,)
            Angular velocity, rad/s.
        duration : float
            s.
        frame : str
            In whose axes both are: the base link, or ``Arm.frame``; '': the base link.

        Raises
        ------
        ArgumentError
            For another shape, numbers that are not finite, or another frame.
        RefusedError, UnavailableError, EndedError
            As ``move_to``.
        """
        vectors = validation.finite('linear', linear, (3,)), validation.finite('angular', angular, (3,))
        duration, axes = _duration(duration), self._session.axes(frame)
        messages = [commands.twist_message(*it, axes) for it in (vectors, np.zeros((2, 3)))]
        with self._streamed(target_poses.TWIST, messages, Kind.MOTION, duration):
            pass  # the joints rest

    def press(
        self,
        force: ArrayLike = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
        duration: float = 1.0,
        frame: str = '',
    ) -> None:
        """Add a wrench at ``frame``, until it has fallen to zero again.

        Parameters
        ----------
        force : array_like, (3,)
            N.
        moment : array_like, (3,)
            About the origin of the frame, N m.
        duration : float
            s; the wrench grows and falls within ``wrench_ramp_time``.
        frame : str
            As of ``drive``.

        Raises
        ------
        ArgumentError, RefusedError, UnavailableError, EndedError
            As ``drive``.
        """
        vectors = validation.finite('force', force, (3,)), validation.finite('moment', moment, (3,))
        duration, axes = _duration(duration), self._session.axes(frame)
        messages = [commands.wrench_message(*it, axes) for it in (vectors, np.zeros((2, 3)))]
        falls = self._session.node.parameter('wrench_ramp_time') + PATIENCE
        with self._streamed(wrench_input.TOPIC, messages, Kind.WRENCH, duration) as counted:
            link = self._session.link
            link.wait(lambda: link.status.arrived > counted and not link.status.pushes, falls)

    def hold(self) -> None:
        """Send a stop: the motion ends at once, a wrench falls to zero, and the arm is held where it is."""
        self._session.link.stop()
        self._until = -math.inf

    @contextmanager
    def _streamed(self, topic: str, messages: Sequence, kind: Kind, duration: float) -> Iterator[float]:
        """Publish the first of two ``messages`` for ``duration`` s, then the second, and wait until the joints rest.

        Yields when the node has counted all of them, steady, s; a block that is left early is followed by a stop, too.
        """
        called, until = time.monotonic(), self._until
        session, link, (message, last) = self._session, self._session.link, messages
        before = session.ready(kind, topic, type(message))
        with self._stopped_early(topic, refused_too=True):
            motion, verdict = Motion(link, session.states, before, called), Verdict(link, kind, before)

            def send() -> None:
                link.publish(topic, message, kind, called)
                verdict.is_taken()

            motion.repeat_until(motion.begun + round(duration * 1e9), send)
            link.publish(topic, last, kind, called)
            counted = link.sent[kind] + HANDLED
            session.said(verdict, counted)
            self._finish(motion, 0, SETTLING)
            yield counted
            # a wrench ends no motion that has begun before
            self._until = until if kind is Kind.WRENCH else -math.inf

    def _finish(self, motion: Motion, way: int, longest: int) -> None:
        """Wait until the way has ended, in ns after its begin, and the joints rest, ``longest`` ns later at most."""
        motion.wait_until(motion.begun + way + LATER)
        motion.wait_for_rest(longest)

    @contextmanager
    def _stopped_early(self, topic: str, refused_too: bool = False) -> Iterator[None]:
        """Send a stop where the block is left early.

        One message on ``topic`` that was refused has begun nothing, unless it was that of another node.
        """
        until, self._until = self._until, math.inf
        try:
            yield
        except RefusedError:
            self._until = until
            if refused_too or not self._session.link.is_alone(topic):
                self.hold()
            raise
        except BaseException:
            self.hold()
            raise


def _axes(name: str, letters) -> list[bool]:
    """Return which of x, y and z are among ``letters``; ArgumentError for another one."""
    if not isinstance(letters, str) or set(letters) - set('xyz') or len(set(letters)) < len(letters):
        raise ArgumentError(f'{name}: expected some of the letters x, y and z, each once, got {letters!r:.80}')
    return [axis in letters for axis in 'xyz']


def _duration(value) -> float:
    """Return a duration, s; ArgumentError unless it is above 0 and a day at most."""
    duration = validation.positive('duration', value)
    if duration > LONGEST:
        raise ArgumentError(f'duration: expected at most {LONGEST:g} s, got {duration:g}')
    return duration
