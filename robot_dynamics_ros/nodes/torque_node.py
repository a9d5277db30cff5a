"""A node that answers each joint state with a torque: the way from one message to the other, and its safety rules."""

import time

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros import arguments
from robot_dynamics_ros.control.handover import GravityTorque, Handover
from robot_dynamics_ros.control.joint_order import gather, permutation
from robot_dynamics_ros.control.ownership import PRESETS, Ownership
from robot_dynamics_ros.control.safety import (
    CLAMPED,
    NOT_FINITE,
    SLOWED,
    Envelope,
    Freshness,
    effort_limits,
    rate_limits,
)
from robot_dynamics_ros.control.stale import ON_STALE, Idle, stale_answer
from robot_dynamics_ros.dynamics.errors import DynamicsError
from robot_dynamics_ros.dynamics.jit import bound
from robot_dynamics_ros.nodes.dynamics_node import DynamicsNode
from robot_dynamics_ros.nodes.hot_path import HotPath, NoExecutor
from robot_dynamics_ros.nodes.load_input import LoadInput
from robot_dynamics_ros.nodes.realtime import Schedule
from robot_dynamics_ros.nodes.state_input import StateInput
from robot_dynamics_ros.nodes.wire import ArrayBuffer, JointStateBuffer

MOST_REASONS = 20
"""That are counted one by one: names in messages make any number of them."""


class TorqueNode(DynamicsNode):
    """Reads ``joint_states``; per message: names, age, ``compute``, envelope, publish. No exception leaves it.

    ``load`` is what the robot carries, as ``payload_state`` and ``gravity_state`` tell; ``holding`` the torque against
    gravity.
    """

    def __init__(self, name: str, **options):
        """Declare the parameters of every node that publishes torques."""
        super().__init__(name, **options)
        self.declare(
            'age_limit',
            0.0,
            'how far a state may lie from now, s; 0 means three periods of the input, at most 1 s',
            low=0.0,
            high=86400.0,
        )
        self.declare(
            'on_stale', 'silent', f'what follows when states stop: {", ".join(ON_STALE)}', check=_check_on_stale
        )
        self.declare('ramp_time', 0.5, 'from the last torque to zero in ramp_to_zero, s', low=0.01, high=60.0)
        self.declare(
            'effort_limit', [0.0], 'of each joint or of all, N m; 0: as in the URDF, .inf: none', check=_check_effort
        )
        self.declare('rate_limit', [0.0], 'of the torque of each joint or of all, N m/s; 0: none', check=_check_rate)
        self.declare('preset', '', f"kind of robot, among {', '.join(PRESETS)}; '': unknown", check=_check_preset)
        self.declare(
            'gravity_owner',
            '',
            "who compensates gravity, node or robot; '': as the preset says, else node",
            check=_check_owner,
        )
        self.declare(
            'command_joints', [''], "joint order of the command array; '' means the robot's order", check=_command_order
        )
        self.declare(
            'realtime_priority', 0, 'of the thread that answers, 1 to 99 (SCHED_FIFO); 0: as any other', low=0, high=99
        )
        self.declare('cores', [-1], 'cores that the thread may run on; -1: all')
        self.declare('lock_memory', False, 'keep the whole process in memory')
        self._hot_path: HotPath | None = None
        self.load: LoadInput | None = None
        self._outputs: list = []
        self._clear()

    def inputs(self) -> dict:
        """Return handlers (of bytes) for further JointState topics that are taken on the same thread."""
        return {}

    def wanted(self) -> list[str]:
        """Return the terms of the torque that parameters ask for, [''] for all."""
        return ['']

    def handovers(self) -> list[Handover]:
        """Return every law that depends on what the robot carries."""
        return [self.holding]

    def hand_over(self) -> None:
        """Go on with ``load`` as it is now."""
        for handover in self.handovers():
            handover.take(self.load.robot, self.load.ramp)

    def compute(self, stamp: int) -> str:
        """Write ``torque`` for the state in ``state``, ``stamp`` in ns; return '' or why there is none.

        It is ``Idle`` where nothing is missing. With any other reason the node goes on as ``on_stale`` says.
        """
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
        names = self.robot.joint_names
        self.ownership = Ownership(self.value('preset'), self.value('gravity_owner'), self.wanted())
        limits = (
            effort_limits(self.value('effort_limit'), self.robot.limits.effort, names),
            rate_limits(self.value('rate_limit'), names),
        )
        self.state = StateInput(names)
        self._freshness = Freshness(self.value('age_limit'))
        self.torque = np.zeros(self.robot.nv)
        self.load = LoadInput(self, self.hand_over)
        self.holding = Handover(GravityTorque, self.load.robot, self.load.ramp)
        self.create_outputs()
        self._envelope = Envelope(*limits, self.torque)
        holding = self.holding if 'gravity' in self.ownership.terms else None
        self._stale = stale_answer(self.value('on_stale'), holding, self.torque, self.value('ramp_time'))
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
        self._hot_path = HotPath(self, group, self._inputs, self._on_pause if self._stale else None)
        self._reset = self.create_service(Trigger, '~/reset', self._on_reset)

    def warm_ups(self) -> dict:
        """Add what answers stale input."""
        return {**super().warm_ups(), **({'torque without input': self._stale.warm_up} if self._stale else {})}

    def teardown(self) -> None:
        """Destroy input and outputs."""
        if self._hot_path is not None:
            self._hot_path.destroy()
            self._hot_path = None
            for subscription in self._inputs:
                self.destroy_subscription(subscription)
            self.destroy_service(self._reset)
        if self.load is not None:
            self.load.destroy()
            self.load = None
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
        self._freshness.forget()
        self._absence = ''
        if self._stale:
            self._stale.forget()  # what was sent before it fell silent is over
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
        """Return counts of states, answers and rejections by reason, rate, jitter, age of the last state."""
        age, period = time.monotonic() - self._seen, self._freshness.period
        self._simulated_time = self.get_clock().ros_time_is_active
        if self._refusal:
            self.get_logger().warning(self._refusal)
            self._refusal = ''
        if self.active and self._states and age > max(1.0, Freshness.PERIODS * period):
            self.silence = self._absence or f'no joint state for {age:.1f} s'
        publishers = self.count_publishers(self.resolve_topic_name('joint_states'))
        if publishers > 1:
            self.get_logger().warning(f'joint_states has {publishers} publishers (said once)', once=True)
        counts = self._envelope.counts
        return {
            'states received': str(self._states),
            'torques published': str(self._answers),
            'states rejected': str(sum(self._rejected.values())),
            'states rejected, reasons': '; '.join(f'{why}: {count}' for why, count in self._rejected.items()),
            'torques saturated': str(counts[CLAMPED]),
            'torques slowed': str(counts[SLOWED]),
            'torques not finite': str(counts[NOT_FINITE]),
            'torques, reasons since reset': self._envelope.reasons(self.robot.joint_names),
            'publishers of joint_states': str(publishers),
            'input rate, Hz': f'{1.0 / period:.1f}' if period else '0',
            'input jitter, ms': f'{1e3 * self._freshness.jitter:.3f}',
            'last state, s ago': f'{age:.3f}' if self._states else 'never',
            'gravity owner': self.ownership.gravity_owner,
            **self.load.report(),
        }

    def _clear(self) -> None:
        """Start all counts afresh."""
        self._states = self._answers = 0
        self._rejected: dict[str, int] = {}
        self._seen = self._fresh = self._answered = 0.0
        self._refusal = self._absence = ''

    def _reject(self, why: str) -> None:
        """Count a state that is not answered."""
        counted = why if why in self._rejected or len(self._rejected) < MOST_REASONS else 'others'
        self._rejected[counted] = self._rejected.get(counted, 0) + 1
        self.silence = f'joint state rejected: {why}'
        self._on_pause()

    def _leave(self, reason: str) -> None:
        """Send nothing for a state that was read, or what ``on_stale`` says."""
        self.silence = reason
        if not self._stale:
            return
        if isinstance(reason, Idle):
            self._absence = ''
            self._stale.rest()
        else:
            self._stale.see(self.state.q)
            self._on_pause()

    def _on_state(self, data: bytes) -> None:
        """Take one state through the safety rules in their order; answer it, or remember the reason for silence."""
        # the system's clock, where that is the ROS time, costs a tenth of asking rclpy
        now = self.get_clock().now().nanoseconds if self._simulated_time else time.time_ns()
        self._states += 1
        self._seen = time.monotonic()
        if self.crash:
            return
        try:
            stamp = self.state.read(data)
            why = self._freshness.refusal(stamp, now)
            if why:
                self._reject(why)
                return
            reason = self.compute(stamp)
            if reason:
                self._leave(reason)
                return
            if not self._envelope.admit(self._elapsed(stamp)):
                self.silence = 'the torque is not finite'
                self._on_pause()
                return
            self.publish(stamp)
            self._answers += 1
            self._freshness.answered = stamp
            self._fresh = self._answered = self._seen
            self.silence = self._absence = ''
            if self._stale:
                self._stale.remember(stamp, self.state.q)
        except DynamicsError as error:
            self._reject(str(error))
            self.refuse(self.silence)
        except Exception as error:  # no exception leaves a callback: the node says so and stays silent
            self.crashed(error)

    def _elapsed(self, stamp: int) -> float:
        """Return the time in s since the last torque; after a silence longer than the age limit begin from zero."""
        if self._stale and self._stale.acts:  # that one answered no state: its time is known, not its stamp
            elapsed = self._seen - self._answered
            if self._goes_on():
                return elapsed
        else:
            elapsed = (stamp - self._freshness.answered) * 1e-9
        if elapsed <= self._freshness.limit:
            return elapsed
        self._envelope.begin()
        return 0.0

    def _goes_on(self) -> bool:
        """Return whether there is something to go on with when states are overdue; a clock that was set ends it."""
        return bool(self._stale and self._stale.due and self._freshness.answered)

    def _on_pause(self) -> None:
        """Nothing that can be answered has come: where states are overdue, do what ``on_stale`` says."""
        now = time.monotonic()
        overdue = now - self._fresh - self._freshness.limit
        if overdue < 0.0 or not self._goes_on() or self.crash:
            return
        try:
            if self._stale.compute(overdue) and self._envelope.admit(now - self._answered):
                self.publish(self._freshness.answered)
                self._answered = now
            else:
                self._stale.rest()
            self.silence = self._absence = self._stale.reason
        except DynamicsError as error:
            self._stale.rest()
            self.silence = self._absence = f'{self._stale.reason}: {error}'
        except Exception as error:  # no exception leaves a callback
            self.crashed(error)

    def _on_reset(self, request, response):
        """Forget what the envelope has stopped, and what states were rejected."""
        self._envelope.reset()
        self._rejected = {}
        response.success, response.message = True, 'reasons and counts are forgotten'
        return response


class CommandArray:
    """A node's torque as Float64MultiArray in the order of the controller that takes it."""

    def __init__(self, node: TorqueNode, topic: str):
        """Publish on ``topic`` in the order of the node's parameter ``command_joints``."""
        self._order = _command_order(node.robot, node.value('command_joints'))
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


class TorqueTopics:
    """A node's torque as ``NamedTorque`` and, where the robot takes torques, as ``CommandArray`` below it."""

    def __init__(self, node: TorqueNode, topic: str, terms: str):
        """Publish on ``topic`` and ``topic``/commands, labelled with ``terms``."""
        self._named = NamedTorque(node, topic, terms)
        self._commands = CommandArray(node, f'{topic}/commands') if node.ownership.takes_commands else None

    def publish(self, stamp: int) -> None:
        """Publish the node's torque with ``stamp`` (ns)."""
        self._named.publish(stamp)
        if self._commands:
            self._commands.publish()


def _command_order(robot, names) -> np.ndarray:
    """Return where each of ``names`` ([''] for the robot's order) stands in the robot's torque, (n,)."""
    return np.argsort(permutation(robot.joint_names, [name for name in names if name] or list(robot.joint_names)))


def _check_on_stale(robot, name) -> None:
    arguments.choice('on_stale', name, ON_STALE)


def _check_effort(robot, limits) -> None:
    effort_limits(limits, robot.limits.effort, robot.joint_names)


def _check_rate(robot, limits) -> None:
    rate_limits(limits, robot.joint_names)


def _check_preset(robot, name) -> None:
    Ownership(name, '', [''])


def _check_owner(robot, name) -> None:
    Ownership('', name, [''])
