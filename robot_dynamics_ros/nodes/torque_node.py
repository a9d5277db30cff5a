"""A node that answers each joint state with a torque: the way from one message to the other, and its safety rules."""

import time

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.control.joint_order import gather, permutation
from robot_dynamics_ros.control.safety import AgeLimit, TorqueGate
from robot_dynamics_ros.dynamics.errors import DynamicsError
from robot_dynamics_ros.dynamics.jit import bound
from robot_dynamics_ros.nodes.dynamics_node import DynamicsNode
from robot_dynamics_ros.nodes.hot_path import HotPath, NoExecutor
from robot_dynamics_ros.nodes.realtime import Schedule
from robot_dynamics_ros.nodes.state_input import StateInput
from robot_dynamics_ros.nodes.wire import ArrayBuffer, JointStateBuffer


class TorqueNode(DynamicsNode):
    """Reads ``joint_states``; per message: names, age, ``compute``, gate, publish. No exception leaves the callback."""

    def __init__(self, name: str, **options):
        """Declare the parameters of every node that publishes torques."""
        super().__init__(name, **options)
        self.declare(
            'age_limit', 0.0, 'oldest state that is answered, s; 0 means three periods of the input', low=0.0, high=10.0
        )
        self.declare('command_joints', [''], "joint order of the command array; '' means the robot's order")
        self.declare(
            'realtime_priority', 0, 'of the thread that answers, 1 to 99 (SCHED_FIFO); 0: as any other', low=0, high=99
        )
        self.declare('cores', [-1], 'cores that the thread may run on; -1: all')
        self.declare('lock_memory', False, 'keep the whole process in memory')
        self._hot_path: HotPath | None = None
        self._outputs: list = []
        self._clear()

    def inputs(self) -> dict:
        """Return handlers (of bytes) for further JointState topics that are taken on the same thread."""
        return {}

    def compute(self, stamp: int) -> str:
        """Write ``torque`` for the state in ``state``, ``stamp`` in ns; return '' or why there is none."""
        raise NotImplementedError

    def create_outputs(self) -> None:
        """Create what ``publish`` publishes with."""
        raise NotImplementedError

    def publish(self, stamp: int) -> None:
        """Publish ``torque`` with the state's stamp (ns)."""
        raise NotImplementedError

    def setup(self) -> None:
        """Create input and outputs."""
        self._clear()
        self.state = StateInput(self.robot.joint_names)
        self._age = AgeLimit(self.value('age_limit'))
        self.torque = np.zeros(self.robot.nv)
        self.create_outputs()
        self._gate = TorqueGate(self.robot.limits.effort, self.torque)
        self._simulated_time = self.get_clock().ros_time_is_active
        group = NoExecutor()
        self._inputs = [
            self.create_subscription(
                JointState,
                topic,
                handler,
                qos_profile_sensor_data,
                callback_group=group,
                qos_overriding_options=QoSOverridingOptions.with_default_policies(),
                raw=True,
            )
            for topic, handler in {'joint_states': self._on_state, **self.inputs()}.items()
        ]
        self._hot_path = HotPath(self, group, self._inputs)

    def teardown(self) -> None:
        """Destroy input and outputs."""
        if self._hot_path is not None:
            self._hot_path.destroy()
            self._hot_path = None
            for subscription in self._inputs:
                self.destroy_subscription(subscription)
        for output in self._outputs:
            self.destroy_lifecycle_publisher(output)
        self._outputs.clear()

    def refuse(self, reason: str) -> None:
        """Have ``reason`` logged with the next diagnostics: a message that is refused does not delay the next one."""
        self._refusal = reason

    def fall_silent(self) -> None:
        """Answer nothing more; an answer that is under way goes out before."""
        super().fall_silent()
        if self._hot_path is not None:
            self._hot_path.stop()

    def on_activate(self, state):
        """Begin to answer."""
        result = super().on_activate(state)
        cores = tuple(core for core in self.value('cores') if core >= 0)
        self._hot_path.start(Schedule(self.value('realtime_priority'), cores, self.value('lock_memory')))
        return result

    def output(self, message_type, topic: str):
        """Return a function that publishes the bytes of a message; only the hot path calls it, and only while active.

        It leads past rclpy's look at the message's type and at the node's state: 10 us after a pause of 2 ms.
        """
        publisher = self.create_lifecycle_publisher(
            message_type, topic, 1, qos_overriding_options=QoSOverridingOptions.with_default_policies()
        )
        self._outputs.append(publisher)
        return publisher.handle.publish_raw

    def report(self) -> dict[str, str]:
        """Return counts of states, answers and rejections, rate, age of the last state."""
        age = time.monotonic() - self._seen
        self._simulated_time = self.get_clock().ros_time_is_active
        if self._refusal:
            self.get_logger().warning(self._refusal)
            self._refusal = ''
        if self.active and self._states and age > max(1.0, AgeLimit.PERIODS * self._age.period):
            self.silence = f'no joint state for {age:.1f} s'
        return {
            'states received': str(self._states),
            'torques published': str(self._answers),
            'states rejected': str(self._rejected),
            'torques saturated': str(self._gate.saturations),
            'torques not finite': str(self._gate.rejections),
            'input rate, Hz': f'{1.0 / self._age.period:.1f}' if self._age.period else '0',
            'last state, s ago': f'{age:.3f}' if self._states else 'never',
        }

    def _clear(self) -> None:
        """Start all counts afresh."""
        self._states = self._answers = self._rejected = 0
        self._seen = 0.0
        self._refusal = ''

    def _on_state(self, data: bytes) -> None:
        """Take one state through the safety rules in their order; answer it, or remember the reason for silence."""
        # the system's clock, where that is the ROS time, costs a tenth of asking rclpy
        now = self.get_clock().now().nanoseconds if self._simulated_time else time.time_ns()
        self._states += 1
        self._seen = time.monotonic()
        try:
            stamp = self.state.read(data)
            if not self._age.admits(stamp, now):
                self._rejected += 1
                self.silence = 'the joint state is too old'
                return
            reason = self.compute(stamp)
            if not reason and not self._gate.admit():
                reason = 'the torque is not finite'
            if not reason:
                self.publish(stamp)
                self._answers += 1
            self.silence = reason
        except DynamicsError as error:
            self._rejected += 1
            self.silence = f'state rejected: {error}'
            self.refuse(self.silence)
        except Exception as error:  # no exception leaves a callback: the node says so and stays silent
            self.silence = f'internal error: {error!r}'
            self.refuse(self.silence)


class CommandArray:
    """A node's torque as Float64MultiArray in the order of the controller that takes it."""

    def __init__(self, node: TorqueNode, topic: str):
        """Publish on ``topic`` in the order of the node's parameter ``command_joints``."""
        names = [name for name in node.value('command_joints') if name] or list(node.robot.joint_names)
        self._order = np.argsort(permutation(node.robot.joint_names, names))
        self._buffer = ArrayBuffer(node.robot.nv)
        self._send = node.output(Float64MultiArray, topic)
        self._gather = bound(gather, node.torque, self._order, self._buffer.data)

    def publish(self) -> None:
        """Publish the node's torque."""
        self._gather()
        self._send(bytes(self._buffer))


class NamedTorque:
    """A node's torque as JointState: names and efforts, the state's stamp, frame_id saying which terms it holds."""

    def __init__(self, node: TorqueNode, topic: str, terms: str):
        """Publish on ``topic``, labelled with ``terms``."""
        message = JointState(name=list(node.robot.joint_names), effort=[0.0] * node.robot.nv)
        message.header.frame_id = terms
        self._buffer = JointStateBuffer.of(message)
        self._send = node.output(JointState, topic)
        # what is computed there needs no copy on the way out
        node.torque = self._buffer.effort

    def publish(self, stamp: int) -> None:
        """Publish the node's torque with ``stamp`` (ns)."""
        self._send(self._buffer.stamped(stamp))
