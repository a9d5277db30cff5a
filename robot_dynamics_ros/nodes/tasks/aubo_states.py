"""The task of aubo_node: from the controller's stream to ``joint_states``, ``joint_temperatures`` and ``~/info``."""

import time

import numpy as np
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import ControllerInfo, JointTemperatures
from robot_dynamics_ros.aubo.sample import GRAVITY, POSITION, TEMPERATURE, TORQUE, VELOCITY, Recipe, Sample
from robot_dynamics_ros.aubo.settings_poller import SettingsPoller
from robot_dynamics_ros.aubo.stream_listener import StreamListener
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import JointStateBuffer
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.process.hot_path import InterpreterSettings
from robot_dynamics_ros.nodes.process.publishers import STATES, publishers_of, state_warnings
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL
from robot_dynamics_ros.nodes.tasks.aubo_comparison import AuboComparison

TEMPERATURE_PERIOD_NS = 1_000_000_000
"""ns between two messages of ``joint_temperatures``."""


class SteadyToRos:
    """Converts steady times to ROS times, also where the system clock has just been set."""

    def __init__(self, clock):
        """Compare with the ROS ``clock`` of a node."""
        self._clock, self._difference = clock, None

    def ros(self, steady: int) -> int:
        """Return the ROS time (ns) of a ``steady`` one, not long ago."""
        before = time.monotonic_ns()
        now = self._clock.now().nanoseconds
        after = time.monotonic_ns()
        difference = now - (before + after) // 2
        # within after - before nothing is known of the change: this thread may have been interrupted
        if self._difference is None or abs(difference - self._difference) > after - before:
            self._difference = difference
        return steady + self._difference


class AuboStates(LifecycleTask):
    """Publishes each valid sample; the thread of a StreamListener calls ``_on_state``.

    Nothing is published but what the controller has just measured: without a connection, after a silence and for a
    wrong sample there is no message, and the diagnostics say why.
    """

    def __init__(self, node):
        """Create publishers and threads of ``node``, a BaseNode; DynamicsError names the parameter that is wrong."""
        self._node, robot = node, node.robot
        check_tree(robot.model, node.get_name())
        if node.get_clock().ros_time_is_active:
            raise ArgumentError('use_sim_time: expected false, a real arm has no simulated time')
        host = node.value('robot_ip').strip()
        if not host:
            raise ArgumentError("robot_ip: expected the address of the arm's controller, got ''")
        self._constants = _torque_constants(robot)
        self._listener = StreamListener(
            (host, node.value('rtde_port')),
            robot.joint_names,
            self._constants,
            node.value('stream_rate'),
            node.value('controller_timeout'),
            on_state=node.guarded(self._on_state),
            on_connection=node.guarded(self._on_connection),
            log=node.get_logger().warning,
            failed=node.crashed,
        )
        self._poller = SettingsPoller((host, node.value('rpc_port')))
        self._comparison = AuboComparison(node, self._poller)
        self._steady_to_ros = SteadyToRos(node.get_clock())
        self._interpreter = InterpreterSettings()
        self._published = self._last_temperature = 0
        self._modes = '', '', False
        self._states = node.create_lifecycle_publisher(
            JointState, 'joint_states', 10, qos_overriding_options=QoSOverridingOptions.with_default_policies()
        )
        self._send = self._states.handle.publish_raw
        self._temperatures = node.create_lifecycle_publisher(JointTemperatures, 'joint_temperatures', 10)
        self._info = node.create_lifecycle_publisher(ControllerInfo, '~/info', TRANSIENT_LOCAL)
        for publisher in (self._states, self._temperatures, self._info):
            node.resources.callback(node.destroy_lifecycle_publisher, publisher)
        self._temperature = JointTemperatures(joint_names=list(robot.joint_names))
        self._lay_out(Recipe((POSITION, VELOCITY, TORQUE), robot.joint_names, None))  # before the first connection

    @property
    def silence(self) -> str:
        """Why nothing is published, '' where states are."""
        return self._listener.silence

    def begin(self) -> None:
        """Connect."""
        self._comparison.begin()
        self._interpreter.apply()
        self._poller.start()
        self._listener.start()

    def end(self) -> None:
        """Stop publishing, and close the connections."""
        self._listener.stop()
        self._poller.stop()
        self._interpreter.restore()

    def halt(self, reason: str) -> None:
        """Publish nothing until ``begin``."""
        self._listener.stop()

    def warnings(self) -> list[str]:
        """Return what the controller says of itself, does not stream, or has set otherwise than dynamics_server."""
        found = list(self._listener.recipe.missing) if self._listener.recipe and not self.silence else []
        _, safety, simulated = self._modes
        if not self.silence:
            if safety not in ('', 'Normal', 'ReducedMode'):
                found.append(f'safety mode {safety}')
            if simulated:
                found.append('the controller simulates its arm')
            found += self._comparison.warnings()
            if not self._listener.clock.follows:
                drift = 1e6 * self._listener.clock.drift
                found.append(f'clock drift of the controller {drift:.0f} ppm: states are stamped when they arrive')
        return found + state_warnings(publishers_of(self._node, STATES))

    def report(self) -> dict[str, str]:
        """Return the fields of the diagnostics."""
        listener = self._listener
        robot_mode, safety_mode, _ = self._modes if not self.silence else ('', '', False)
        return {
            'controller': self._poller.controller,
            'connections': str(listener.connections),
            'samples received': str(listener.received),
            'samples rejected': str(listener.rejected),
            'samples rejected last': listener.last_rejection,
            'samples lost': str(listener.lost),
            'states published': str(self._published),
            'effort source': listener.recipe.effort_source if listener.recipe else '',
            'robot mode': robot_mode,
            'safety mode': safety_mode,
            'clock drift, ppm': f'{1e6 * listener.clock.drift:.1f}',
            **self._comparison.report(),
        }

    def _on_connection(self, recipe: Recipe) -> None:
        """Lay the message out for what the controller streams, and publish what that is."""
        self._lay_out(recipe)
        self._comparison.forget()
        info = ControllerInfo(
            joint_names=list(self._node.robot.joint_names), effort_source=recipe.effort_source, missing=recipe.missing
        )
        if recipe.effort_source == 'current':
            info.torque_constants = self._constants.tolist()
        info.header.stamp = self._node.get_clock().now().to_msg()
        self._info.publish(info)
        efforts = recipe.effort_source or 'no source'
        self._node.get_logger().info(
            f'connected; efforts: {efforts}; {"; ".join(recipe.missing) or "nothing is missing"}'
        )

    def _lay_out(self, recipe: Recipe) -> None:
        """Make the message of ``recipe``: without velocities or efforts where there are none."""
        robot, rest = self._node.robot, [0.0] * self._node.robot.nv
        message = JointState(name=list(robot.joint_names), position=rest)
        self._has_velocity, self._has_effort = VELOCITY in recipe.names, bool(recipe.effort_source)
        message.velocity = rest if self._has_velocity else []
        message.effort = rest if self._has_effort else []
        message.header.frame_id = robot.link_names[0]
        self._buffer = JointStateBuffer.of(message)
        self._write = self._buffer.writer()
        self._has_temperature, self._has_gravity = TEMPERATURE in recipe.names, GRAVITY in recipe.names

    def _on_state(self, sample: Sample, steady: int) -> None:
        """Publish one sample, taken at ``steady`` (ns)."""
        stamp = self._steady_to_ros.ros(steady)
        buffer = self._buffer
        buffer.position[:] = sample.position
        if self._has_velocity:
            buffer.velocity[:] = sample.velocity
        self._write(sample.effort if self._has_effort else buffer.effort, stamp)
        self._send(bytes(buffer))
        self._published += 1
        self._modes = sample.robot_mode, sample.safety_mode, sample.simulated
        if abs(stamp - self._last_temperature) >= TEMPERATURE_PERIOD_NS:
            self._last_temperature = stamp
            if self._has_gravity:
                self._comparison.compare(stamp, sample.position, sample.gravity)
            if self._has_temperature:
                set_nanoseconds(self._temperature.header.stamp, stamp)
                self._temperature.temperatures = sample.temperature.tolist()
                self._temperatures.publish(self._temperature)


def _torque_constants(robot) -> np.ndarray | None:
    """Return the torque constants of ``robot`` (n, N m/A), None where it lacks one."""
    constants = robot.model.actuators.torque_constant
    return None if np.isnan(constants).any() else constants
