"""What every node of this package is: a lifecycle node with a robot, described parameters and diagnostics at 1 Hz."""

import time
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from robot_dynamics_ros.codegen.specialise import MOST_JOINTS
from robot_dynamics_ros.dynamics.errors import DynamicsError, ModelError
from robot_dynamics_ros.robot import Robot

DIAGNOSTICS_PERIOD = 1.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class DynamicsNode(LifecycleNode):
    """Configure loads the model, audits it and warms the kernels up; activate publishes; deactivate is silent.

    A subclass overrides ``setup``, ``warm_ups``, ``teardown`` and ``report``. ``silence`` says in one line why the node
    is silent, or is empty; ``/diagnostics`` repeats it. ``doc/diagnostics.md`` lists all fields.
    """

    LONG = 0.3
    """s; a warm-up that takes longer has compiled something."""

    def __init__(self, name: str, **options):
        """Declare the parameters that all nodes share."""
        super().__init__(name, **options)
        self._checks: dict = {}
        self.declare('model', 'aubo_i5', 'robot that comes with the package, or path of a URDF file')
        self.declare('robot_description', '', 'URDF as text; takes the place of model where given')
        self.declare('actuators', '', 'path of a YAML file like config/aubo_i5.yaml: rotors, gears, friction')
        self.declare('description_topic', '', "topic with the URDF as text, such as robot_description; '': none")
        self.declare('gravity', [0.0, 0.0, -9.81], 'gravity in the base frame, m/s^2', check=Robot.with_gravity)
        self.declare(
            'most_joints', MOST_JOINTS, 'robots of more joints are answered by generic kernels', low=0, high=100
        )
        self.declare('autostart', True, 'configure and activate at start, without a lifecycle manager')
        self.robot: Robot | None = None
        self.active = False
        self.silence = 'not configured'
        self.crash = ''
        self._diagnostics = None
        self._diagnostics_timer = None
        self._identity: dict[str, str] = {}
        self._published_description = ''
        self.add_on_set_parameters_callback(self._on_parameters)
        if self.value('description_topic'):
            self.create_subscription(
                String, self.value('description_topic'), self.guarded(self._on_description), LATCHED
            )

    def declare(self, name, default, description, low=None, high=None, check=None) -> None:
        """Declare a parameter with its description and, for a number, its range.

        ``check(robot, value)`` raises DynamicsError for a value that the configured node could not use. Values are
        taken when the node is configured next, unless the description says otherwise.
        """
        if check is not None:
            self._checks[name] = check
        descriptor = ParameterDescriptor(description=description)
        if low is not None and isinstance(default, int):
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
        elif low is not None:
            descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(high))]
        self.declare_parameter(name, default, descriptor)

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
        """Answer nothing more, also when the process ends without a lifecycle transition."""
        self.active = False

    def crashed(self, error: Exception) -> None:
        """Answer nothing more until the node is activated again; the process and its services go on.

        For an exception that nothing explains, from whatever thread: what the node would say next can't be trusted.
        """
        self.crash = self.silence = f'internal error: {error!r}'
        self.get_logger().error(f'{self.crash}; silent until activated again')

    def guarded(self, callback):
        """Return ``callback`` as one that no exception leaves."""

        def guard(*arguments):
            try:
                return callback(*arguments)
            except Exception as error:
                self.crashed(error)

        return guard

    def create_service(self, kind, name, callback, **options):
        """Create a service out of which no exception comes: rclpy's own, for parameters, raise at a type unknown."""

        def guard(request, response):
            try:
                return callback(request, response)
            except Exception as error:
                self.get_logger().error(f'{name}: request refused: {error!r}')
                return response

        return super().create_service(kind, name, guard, **options)

    def on_configure(self, state):
        """Load the model and set the node up; fail, and say why, where the model or a parameter is wrong."""
        try:
            self.robot = self._load_robot()
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
            'model digest': self.robot.digest,
            'kernels': self.robot.binding,
            'joints': ' '.join(self.robot.joint_names),
        }
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        # a simulation that pauses is no reason to say nothing
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._diagnostics_timer = self.create_timer(DIAGNOSTICS_PERIOD, self._publish_diagnostics, clock=steady)
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

    def _on_parameters(self, parameters) -> SetParametersResult:
        """Refuse values that the configured node could not use; before it is configured, configuring tells."""
        for parameter in parameters:
            check = self._checks.get(parameter.name)
            if check is None or self.robot is None:
                continue
            try:
                check(self.robot, parameter.value)
            except DynamicsError as error:
                return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def warm_up(self) -> None:
        """Do all warm-ups, and tell how it goes on where they are not kept from an earlier start."""
        for name, call in self.warm_ups().items():
            began = time.monotonic()
            call()
            taken = time.monotonic() - began
            if taken > self.LONG:
                self.get_logger().info(f'{name}: compiled in {taken:.1f} s, and kept for the next start')

    def _load_robot(self) -> Robot:
        """Return the robot that the parameters name, after reading its audit out."""
        description = self.description()
        is_urdf = '<' in description or Path(description).suffix == '.urdf'
        robot = Robot.from_urdf(description) if is_urdf else Robot.named(description)
        for finding in robot.findings:
            if finding.severity == 'error':
                self.get_logger().error(f'{robot.name}: {finding}')
            else:
                self.get_logger().warning(f'{robot.name}: {finding}')
        wrong = [finding for finding in robot.findings if finding.severity == 'error']
        if wrong:
            raise ModelError(f'{robot.name}: the audit found {len(wrong)} error(s), first {wrong[0]}')
        if not robot.nv:
            raise ModelError(f'{robot.name}: no joint moves')
        if robot.nv != len(robot.joint_names):
            raise ModelError(f'{robot.name}: JointState has no place for joints of several degrees of freedom')
        if self.value('actuators'):
            robot = robot.with_actuators(self.value('actuators'))
        return robot.with_binding('specialised', most_joints=self.value('most_joints')).with_gravity(
            self.value('gravity')
        )

    def _level(self) -> bytes:
        """Return how bad things are."""
        if self.crash:
            return DiagnosticStatus.ERROR
        return DiagnosticStatus.WARN if self.silence else DiagnosticStatus.OK

    def _publish_diagnostics(self) -> None:
        """Publish one DiagnosticStatus: why the node is silent, and the figures of ``report``."""
        if self.crash and self.active:
            self.trigger_deactivate()
        fields = {**self._identity, **self.report()}
        status = DiagnosticStatus(
            level=self._level(),
            name=self.get_fully_qualified_name(),
            message=self.silence or 'answering',
            hardware_id=self.robot.name,
            values=[KeyValue(key=key, value=value) for key, value in fields.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)
