"""What every node of this package is: a lifecycle node with a robot, described parameters and diagnostics at 1 Hz."""

import time
from collections.abc import Callable, Mapping

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.nodes.clock_watch import ClockWatch
from robot_dynamics_ros.nodes.guarded_node import GuardedNode
from robot_dynamics_ros.nodes.parameters import Parameters, check_names
from robot_dynamics_ros.nodes.robot_loader import load_robot, locked_positions
from robot_dynamics_ros.robot import Robot

DIAGNOSTICS_PERIOD = 1.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class DynamicsNode(GuardedNode):
    """Configure loads the model, audits it and warms the kernels up; activate publishes; deactivate is silent.

    A subclass overrides ``setup``, ``warm_ups``, ``teardown`` and ``report``. ``silence`` says in one line why the node
    is silent, or is empty; ``/diagnostics`` repeats it. ``doc/diagnostics.md`` lists all fields.
    """

    LONG = 0.3
    """s; a warm-up that takes longer has compiled something."""

    def __init__(self, name: str, checks: Mapping[str, Callable] | None = None, **options):
        """Declare the parameters of the node ``name``; ``checks`` are those that ``Parameters`` expects."""
        super().__init__(name, **options)
        self.robot: Robot | None = None
        self.locked_joint_names: tuple[str, ...] = ()
        self.active = False
        self.silence = 'not configured'
        self.crash = ''
        self._diagnostics = None
        self._diagnostics_timer = None
        self.model_digest = ''
        self._identity: dict[str, str] = {}
        self._published_description = ''
        shared = {
            'gravity': self.check_gravity,
            'locked_joints': locked_positions,
            'use_sim_time': self._check_clock,
        }
        self.parameters = Parameters(self, name, {**shared, **(checks or {})})
        self._crash_signal = self.create_guard_condition(self.guarded(self._on_crash))
        self.clock_watch = ClockWatch(self, self.guarded(self.clock_set_back))
        if self.value('description_topic'):
            self.create_subscription(String, self.value('description_topic'), self._on_description, LATCHED)

    def value(self, name: str):
        """Return a parameter's value."""
        return self.get_parameter(name).value

    def start(self) -> None:
        """Configure and activate; where configuring fails the node stays unconfigured and has said why."""
        self.trigger_configure()
        if self.silence == 'not active':
            self.trigger_activate()

    def setup(self) -> None:
        """Create what the node needs beyond its robot; DynamicsError says why it can't."""

    def warm_ups(self) -> dict:
        """Return, by name, what calls once whatever the callbacks will call: nothing is compiled while active."""
        return {}

    def teardown(self) -> None:
        """Destroy what ``setup`` created."""

    def report(self) -> dict[str, str]:
        """Return the node's own fields of its diagnostics."""
        return {}

    def fall_silent(self) -> None:
        """Stop publishing, also when the process ends without a lifecycle transition."""
        self.active = False

    def crashed(self, error: Exception) -> None:
        """Stop publishing until the node is activated again; the process and its services go on.

        For an exception that nothing explains, from whatever thread: what the node would say next can't be trusted.
        """
        self.crash = self.silence = f'internal error: {error!r}'
        self.get_logger().error(f'{self.crash}; silent until activated again')
        self._crash_signal.trigger()

    def clock_set_back(self, before: int, after: int) -> None:
        """Go on where ROS time went back from ``before`` to ``after`` (ns); any thread."""

    def check_gravity(self, vector) -> None:
        """Refuse gravity (3, m/s^2) that is not finite or above the parameter gravity_limit."""
        validation.finite('gravity', vector, (3,))
        size, limit = float(np.linalg.norm(vector)), self.value('gravity_limit')
        if size > limit:
            raise ArgumentError(
                f'gravity: its magnitude of {size:g} m/s^2 is above the parameter gravity_limit, {limit:g} m/s^2'
            )

    def set_parameters_atomically(self, parameters) -> SetParametersResult:
        """Set parameters; the reason in the result of success says when they act."""
        result = super().set_parameters_atomically(parameters)
        if result.successful:
            result.reason = self.parameters.when_they_act(parameter.name for parameter in parameters)
        return result

    def on_configure(self, state):
        """Load the model and set the node up; fail, and say why, where the model or a parameter is wrong."""
        try:
            check_names(name for name in self._parameter_overrides if not self.has_parameter(name))
            self.parameters.check_choices()
            self.check_gravity(self.value('gravity'))
            self.locked_joint_names = tuple(locked_positions(self.value('locked_joints')))
            self.robot = load_robot(self, self.description())
            self.model_digest = self.robot.digest
            self.setup()
            self.get_logger().info(f'{self.robot.name}: {self.robot.nv} joints, {self.robot.binding} kernels')
            self.warm_up()
        except Exception as error:  # rclpy would swallow it
            reason = str(error) if isinstance(error, DynamicsError) else f'internal error: {error!r}'
            self.get_logger().error(f'not configured: {reason}')
            self.silence = f'not configured: {reason}'
            self.teardown()
            self.robot = None
            return TransitionCallbackReturn.FAILURE
        self._identity = {
            'model': self.robot.name,
            'model digest': self.model_digest,
            'kernels': self.robot.binding,
            'joints': ' '.join(self.robot.joint_names),
        }
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._diagnostics_timer = self.create_timer(DIAGNOSTICS_PERIOD, self._on_second, clock=self.steady_clock)
        self.silence = 'not active'
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        """Begin to answer."""
        self.silence = 'no input yet'
        self.crash = ''
        self.active = True
        return super().on_activate(state)

    def on_deactivate(self, state):
        """Fall silent."""
        self.fall_silent()
        self.silence = self.crash or 'not active'
        return super().on_deactivate(state)

    def on_cleanup(self, state):
        """Give back everything that configuring made."""
        self._release()
        self.robot = None
        self.silence = 'not configured'
        return super().on_cleanup(state)

    def on_shutdown(self, state):
        """Give back everything, from whatever state."""
        self._release()
        return super().on_shutdown(state)

    def on_error(self, state):
        """Give back everything after a transition that an exception has ended, which rclpy keeps to itself."""
        self._release()
        self.robot = None
        self.silence = f'not configured: internal error in a transition from {state.label}'
        self.get_logger().error(self.silence)
        return super().on_error(state)

    def _release(self) -> None:
        """Destroy what configuring made."""
        self.fall_silent()
        if self._diagnostics is None:
            return
        self.teardown()
        self.destroy_timer(self._diagnostics_timer)
        self.destroy_publisher(self._diagnostics)
        self._diagnostics = self._diagnostics_timer = None

    def description(self) -> str:
        """Return the URDF's text or path, or the name of the robot; ModelError where its topic has not told it yet."""
        topic = self.value('description_topic')
        if topic and not self._published_description:
            raise ModelError(f'no robot description on topic {topic!r} yet')
        if topic and '<' not in self._published_description:
            # nobody on the graph names files that this process reads
            raise ModelError(f'topic {topic!r}: expected the text of a URDF, got {self._published_description!r:.80}')
        return self._published_description or self.value('robot_description') or self.value('model')

    def _check_clock(self, simulated) -> None:
        """Refuse another clock for a configured node."""
        if simulated != self.get_clock().ros_time_is_active:
            raise ArgumentError(
                'use_sim_time: the node is configured and its ramps are of its clock; clean it up first'
            )

    def _on_description(self, message: String) -> None:
        """Take the robot's description; where another was in use, go down and up again with the new one."""
        if message.data == self._published_description:
            return
        self._published_description = message.data
        configured, active = self.robot is not None, self.active
        if configured:
            self.get_logger().info('another robot description: the node is configured anew')
            if active:
                self.trigger_deactivate()
            self.trigger_cleanup()
        if active or (not configured and self.value('autostart')):
            self.start()
        elif configured:
            self.trigger_configure()

    def warm_up(self) -> None:
        """Do all warm-ups, and tell how it goes on where they are not kept from an earlier start."""
        for name, call in self.warm_ups().items():
            began = time.monotonic()
            call()
            taken = time.monotonic() - began
            if taken > self.LONG:
                self.get_logger().info(f'{name}: compiled in {taken:.1f} s, and kept for the next start')

    def _level(self) -> bytes:
        """Return the diagnostic level."""
        if self.crash:
            return DiagnosticStatus.ERROR
        return DiagnosticStatus.WARN if self.silence else DiagnosticStatus.OK

    def _on_crash(self) -> None:
        """Deactivate the node at once, unless it has been activated anew meanwhile; the executor's thread."""
        if self.crash and self.active:
            self.trigger_deactivate()

    def _on_second(self) -> None:
        """Look after the clock and publish diagnostics."""
        self.clock_watch.look()
        self._publish_diagnostics()

    def _publish_diagnostics(self) -> None:
        """Publish one DiagnosticStatus: why the node is silent, and the figures of ``report``."""
        try:
            fields = self.report()
            level, message = self._level(), self.silence or 'answering'
        except Exception as error:  # the node goes on, whatever cannot be told
            fields, level, message = {}, DiagnosticStatus.ERROR, f'diagnostics failed: {error!r}'
            self.get_logger().error(message, throttle_duration_sec=60.0)
        status = DiagnosticStatus(
            level=level,
            name=self.get_fully_qualified_name(),
            message=message,
            hardware_id=self.robot.name,
            values=[KeyValue(key=key, value=value) for key, value in {**self._identity, **fields}.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)
