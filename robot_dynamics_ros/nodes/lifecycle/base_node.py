"""The base of every node of this package: a lifecycle node with a robot, described parameters and diagnostics."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial, wraps

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.time_source import CLOCK_TOPIC
from std_msgs.msg import String

from robot_dynamics_ros.control.arm.described_arm import locked_positions, stated_gravity
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.locked_joints import LockedJoints
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.inputs.clock_reader import ClockReader
from robot_dynamics_ros.nodes.inputs.clock_watch import ClockWatch
from robot_dynamics_ros.nodes.lifecycle.configuration import made_task, reason_of, redescribe
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import check_names
from robot_dynamics_ros.nodes.lifecycle.parameters import Parameters
from robot_dynamics_ros.nodes.lifecycle.robot_description import RobotDescription
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.nodes.lifecycle.robot_log import RobotLog
from robot_dynamics_ros.nodes.lifecycle.robot_requirements import requirements_of
from robot_dynamics_ros.nodes.outputs.diagnostics import Diagnostics
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL
from robot_dynamics_ros.robot import Robot


class BaseNode(LifecycleNode):
    """Loads a robot at configure, and lets its ``task`` publish while it is active; a node overrides ``make_task``.

    Every callback of a timer, subscription or service is guarded: an exception is passed to ``crashed``. A simulated
    clock is read in a thread of its own, whatever the executor does.

    ``silence`` is the reason why the node publishes nothing, '' where it publishes. What configuring makes registers
    in ``resources`` how it is destroyed.
    """

    clock_reader: ClockReader | None = None

    def __init__(self, name: str, checks: Mapping[str, Callable] | None = None, **options):
        """Declare the parameters of the node ``name``; ``checks`` are those that ``Parameters`` expects, by name."""
        super().__init__(name, **options)
        self.needs, self.serves_loops, self.reads_joint_states = requirements_of(name)
        self.robot_log = RobotLog(self.get_logger())
        self.steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.robot: Robot | DrivenRobot | None = None
        self.locked_joint_names: tuple[str, ...] = ()  # and those of joints that mimic others
        self.locked_joints: LockedJoints | None = None  # of a node that reads joint states
        self.task: LifecycleTask | None = None
        self.resources = ExitStack()
        self.clock_followers: list[Callable[[int, int], object]] = []
        self.active = False
        self._ending = False
        self._beginning = threading.Lock()  # a process that ends looks whether the node has begun or never will
        self.diagnostics: Diagnostics | None = None
        self.activated = self.activations = 0  # when last, by the steady clock, ns, and how often
        self.crash = self._refusal = self.model_digest = ''
        self._reason = 'not configured'  # why a node that is not active publishes nothing
        shared = {
            'gravity': lambda vector: stated_gravity(vector, self.value('gravity_limit')),
            'locked_joints': locked_positions,
            'use_sim_time': self._check_clock,
        }
        self.parameters = Parameters(self, name, {**shared, **(checks or {})})
        self._crash_signal = self.create_guard_condition(self.guarded(self._on_crash))
        self.clock_watch = ClockWatch(self, self.guarded(self._on_clock_set_back))
        self.description = RobotDescription(
            self,
            lambda *it: self.create_subscription(String, *it, TRANSIENT_LOCAL),
            partial(redescribe, self),
        )

    def make_task(self) -> LifecycleTask:
        """Return what the node does with its robot; DynamicsError says why it can't."""
        return LifecycleTask()

    def value(self, name: str):
        """Return a parameter's value."""
        return self.get_parameter(name).value

    def start(self) -> None:
        """Configure and activate; the log says why configuring fails, or that a robot description is awaited."""
        if self.description.awaited:
            self._reason = self.description.awaited
            self.get_logger().info(self._reason)
        elif self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    @property
    def silence(self) -> str:
        """Why the node publishes nothing, '' where it publishes."""
        return self.crash or (self.task.silence if self.active else self._reason)

    def follow_clock(self, follow: Callable[[int, int], object]) -> None:
        """Call ``follow(before, after)`` (ns) where ROS time goes back, in any thread, until the node is cleaned up."""
        self.clock_followers.append(follow)
        self.resources.callback(self.clock_followers.remove, follow)

    def fall_silent(self) -> None:
        """Stop publishing, also when the process ends without a lifecycle transition."""
        self.active = False
        task = self.task  # the executor may be about to clean the node up
        if task is not None:
            task.end()

    def end(self) -> None:
        """Stop publishing for good: the process ends, whatever its other threads are doing with the node."""
        with self._beginning:
            self._ending = True
        self.fall_silent()
        if (reader := self.clock_reader) is not None:  # the executor may be about to destroy it
            reader.stop()  # a thread that still waits for messages would abort the interpreter's end

    def refuse(self, reason: str) -> None:
        """Have ``reason`` logged with the next diagnostics: a message that is refused does not delay the next one."""
        self._refusal = reason

    def log_refusal(self) -> None:
        """Log what was refused last."""
        if self._refusal:
            self.get_logger().warning(self._refusal)
            self._refusal = ''

    def crashed(self, error: Exception) -> None:
        """Stop publishing until the node is activated again; the process and its services go on.

        For an unexpected exception in whatever thread: what the node would publish next can't be trusted.
        """
        self.crash = f'internal error: {error!r}'
        self.get_logger().error(f'{self.crash}; publishes nothing until activated again')
        task = self.task  # likewise
        if task is not None:
            task.halt(self.crash)
        self._crash_signal.trigger()

    def on_configure(self, state):
        """Load the robot and make the task; fail, and log why, where the model or a parameter is wrong."""
        try:
            check_names(name for name in self._parameter_overrides if not self.has_parameter(name))
            self.parameters.check_choices()
            self.robot = load_robot(self, self.description.source())
            self.task = made_task(self)
        except Exception as error:  # rclpy would swallow it
            reason = reason_of(error)
            self.get_logger().error(f'not configured: {reason}')
            self._release(f'not configured: {reason}')
            return TransitionCallbackReturn.FAILURE
        self.diagnostics = Diagnostics(self)
        self._reason = 'not active'
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        """Let the task begin; fail, and log why, where a parameter that acts now is wrong."""
        self.crash = ''
        try:
            self.task.prepare()
        except DynamicsError as error:
            self._reason = f'not activated: {error}'
            self.get_logger().error(self._reason)
            return TransitionCallbackReturn.FAILURE
        with self._beginning:
            if self._ending:
                self._reason = 'not activated: the process ends'
                return TransitionCallbackReturn.FAILURE
            result = super().on_activate(state)
            self.active = True
            self.clock_watch.look()
            self.activated, self.activations = time.monotonic_ns(), self.activations + 1
            self.task.begin()
            return result

    def on_deactivate(self, state):
        """Stop publishing."""
        self.fall_silent()
        self._reason = 'not active'
        return super().on_deactivate(state)

    def on_cleanup(self, state):
        """Destroy what configuring made."""
        self._release('not configured')
        self.description.on_cleanup()
        return super().on_cleanup(state)

    def on_shutdown(self, state):
        """Destroy what configuring made, from whatever state."""
        self._release('not configured')
        return super().on_shutdown(state)

    def on_error(self, state):
        """Destroy what configuring made after a transition that an exception has ended, which rclpy does not log."""
        self._release(f'not configured: internal error in a transition from {state.label}')
        self.description.on_cleanup()
        self.get_logger().error(self.silence)
        return super().on_error(state)

    def replace_task(self, task: LifecycleTask) -> None:
        """Let ``task``, of another description of the robot, take the place of the present one."""
        with self._beginning:  # a process that ends silences the task that it finds
            task.replace(self.task)
            self.task = task
            if self.active and not self._ending:
                super().on_activate(None)  # of new publishers
                task.begin()

    def _release(self, reason: str) -> None:
        self.fall_silent()
        self.resources.close()
        if self.diagnostics is not None:
            self.diagnostics.destroy()
        self.task = self.robot = self.diagnostics = None
        self.crash, self._reason = '', reason

    def _check_clock(self, simulated) -> None:
        """Refuse another clock for a configured node."""
        if simulated != self.get_clock().ros_time_is_active:
            raise ArgumentError('use_sim_time: the node is configured, its ramps are of its clock; clean it up first')

    def _on_clock_set_back(self, before: int, after: int) -> None:
        for follow in tuple(self.clock_followers):
            follow(before, after)

    def _on_crash(self) -> None:
        """Deactivate the node at once, unless it has been activated again meanwhile; the executor's thread."""
        if self.crash and self.active:
            self.trigger_deactivate()

    def set_parameters_atomically(self, parameters) -> SetParametersResult:
        """Set parameters; the reason in the result of success says when they act."""
        result = super().set_parameters_atomically(parameters)
        if result.successful:
            result.reason = self.parameters.when_they_act(parameter.name for parameter in parameters)
        return result

    def guarded(self, callback):
        """Return ``callback`` as one that no exception leaves."""

        # rclpy asks the signature whether a callback takes information about the message, too
        @wraps(callback)
        def guard(*arguments):
            try:
                return callback(*arguments)
            except Exception as error:
                self.crashed(error)

        return guard

    def create_timer(self, period, callback, *arguments, **options):
        """Create a timer with a callback guard."""
        return super().create_timer(period, self.guarded(callback), *arguments, **options)

    def create_subscription(self, kind, topic, callback, *arguments, **options):
        """Create a subscription with a callback guard."""
        if topic == CLOCK_TOPIC:  # rclpy's own
            self.clock_reader = ClockReader(self, super().create_subscription, callback, *arguments)
            self.clock_reader.start()
            return self.clock_reader.subscription
        return super().create_subscription(kind, topic, self.guarded(callback), *arguments, **options)

    def destroy_subscription(self, subscription) -> bool:
        """Destroy a subscription."""
        if subscription.topic_name == CLOCK_TOPIC:
            self.clock_reader.destroy()
            self.clock_reader = None
        return super().destroy_subscription(subscription)

    def create_service(self, kind, name, callback, *arguments, **options):
        """Create a service with a callback guard: rclpy's own, for parameters, raise at an unknown type."""

        def guard(request, response):
            try:
                return callback(request, response)
            except Exception as error:
                self.get_logger().error(f'{name}: request refused: {error!r}')
                return response

        return super().create_service(kind, name, guard, *arguments, **options)
