"""What every node that publishes torques is: parameters, the pipeline made of them, and its diagnostics."""

import time
from collections.abc import Callable, Mapping

from rclpy.duration import Duration
from rclpy.qos import qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_dynamics_ros.control.law import Law
from robot_dynamics_ros.control.ownership import Ownership
from robot_dynamics_ros.control.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.state_gate import StateGate
from robot_dynamics_ros.control.timeout_fallback import timeout_fallback
from robot_dynamics_ros.control.torque_limiter import Limited, TorqueLimiter, effort_limits, rate_limits
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.dynamics_node import LATCHED, DynamicsNode
from robot_dynamics_ros.nodes.hot_path import HotPath
from robot_dynamics_ros.nodes.load_input import LoadInput
from robot_dynamics_ros.nodes.load_topics import LoadTopics
from robot_dynamics_ros.nodes.raw_executor import NoExecutor
from robot_dynamics_ros.nodes.realtime import Schedule
from robot_dynamics_ros.nodes.torque_pipeline import PipelineClock, TorquePipeline
from robot_dynamics_ros.nodes.torque_publishers import command_order
from robot_dynamics_ros.nodes.trajectory_input import TrajectoryInput

ACKNOWLEDGED = Duration(nanoseconds=200_000_000)
"""In which a reliable subscriber confirms the last torque."""


class TorqueNode(DynamicsNode):
    """A node with a ``TorquePipeline``. A subclass makes the law and the output, and adds inputs.

    ``load`` is payload and gravity in force, ``gravity`` the blended torque against gravity.
    """

    def __init__(self, name: str, checks: Mapping[str, Callable] | None = None, **options):
        """Declare the parameters of the node ``name``; ``checks`` are those of its own."""
        shared = {
            'effort_limit': lambda limits: effort_limits(limits, self.robot.limits.effort, self.robot.joint_names),
            'rate_limit': lambda limits: rate_limits(limits, self.robot.joint_names),
            'command_joints': lambda names: command_order(self.robot, names),
        }
        super().__init__(name, {**shared, **(checks or {})}, **options)
        self.load_topics = LoadTopics(self)  # early: discovery takes its time while the node is configured
        self.activated = 0  # by the steady clock, ns
        self.pipeline: TorquePipeline | None = None
        self.load: LoadInput | None = None
        self.trajectory: TrajectoryInput | None = None
        self._hot_path: HotPath | None = None
        self._outputs: list = []
        self._parts: list = []
        self._blenders: list[PayloadBlender] = []
        self._ending: float | None = None  # over how many s the command goes to zero, None where it is left alone
        self._refusal = ''

    def inputs(self) -> dict:
        """Return handlers (of bytes) of further JointState topics that are taken on the hot path's thread."""
        return {}

    def wanted(self) -> list[str]:
        """Return the terms of the torque that parameters ask for, [''] for all."""
        return ['']

    def make_law(self) -> Law:
        """Return the control law; DynamicsError where the parameters are wrong."""
        raise NotImplementedError

    def make_output(self):
        """Return what publishes: ``publish(stamp, torque)`` and ``publish_info()``."""
        raise NotImplementedError

    def add(self, part):
        """Return ``part``, an input, which is destroyed when the node is cleaned up."""
        self._parts.append(part)
        return part

    def blended(self, make) -> PayloadBlender:
        """Return the law ``make(robot)`` blended over payload and gravity, which it follows from now on."""
        blender = PayloadBlender(make, self.robot, self.load.load)
        self._blenders.append(blender)
        return blender

    def setup(self) -> None:
        """Make the pipeline of what the parameters say."""
        robot, names = self.robot, self.robot.joint_names
        self.ownership = Ownership(self.value('preset'), self.value('gravity_owner'), self.wanted())
        self.effort_limit = effort_limits(self.value('effort_limit'), robot.limits.effort, names)
        self.rate_limit = rate_limits(self.value('rate_limit'), names)
        self._refusal = ''
        ramp_time = self.value('ramp_time')
        self._ending = {'silent': None, 'zero': 0.0, 'ramp_to_zero': ramp_time}[self.value('on_deactivate')]
        cores = tuple(core for core in self.value('cores') if core >= 0)
        self._schedule = Schedule(self.value('realtime_priority'), cores, self.value('lock_memory'))
        self.load = LoadInput(self, self.load_changed, self.value('await_load'))
        self.gravity = self.blended(GravityTorque)
        inputs = self.inputs()
        gravity = self.gravity if 'gravity' in self.ownership.terms else None
        self._output = self.make_output()
        self._gate = StateGate(self.value('age_limit'))
        self.pipeline = TorquePipeline(
            PipelineClock(self),
            StateInput(names),
            self._gate,
            self.make_law(),
            TorqueLimiter(self.effort_limit, self.rate_limit, enforced=self.ownership.takes_commands),
            timeout_fallback(self.value('on_stale'), gravity, robot.nv, ramp_time),
            self._output,
            self.load,
            self.clock_watch.look,
            self.crashed,
            self.refuse,
        )
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
            for topic, handler in {'joint_states': self.pipeline.on_state, **inputs}.items()
        ]
        on_pause = self.pipeline.on_pause if self.pipeline.fallback else None
        self._hot_path = HotPath(self, group, self._inputs, on_pause, self._on_stop)
        self._reset = self.create_service(Trigger, '~/reset', self._on_reset)

    def renew_law(self) -> None:
        """Make the law anew while the node is inactive; DynamicsError where the parameters are wrong."""
        self._blenders = [self.gravity]
        self.pipeline.law = self.make_law()

    def warm_ups(self) -> dict:
        """Add what the pipeline calls."""
        fallback = {'torque on timeout': self.pipeline.fallback.warm_up} if self.pipeline.fallback else {}
        return {**super().warm_ups(), 'control law': self.pipeline.law.warm_up, **fallback}

    def teardown(self) -> None:
        """Destroy inputs and outputs."""
        if self._hot_path is not None:
            self._hot_path.destroy()
            self._hot_path = None
            for subscription in self._inputs:
                self.destroy_subscription(subscription)
            self.destroy_service(self._reset)
        for part in self._parts:
            part.destroy()
        self._parts.clear()
        self._blenders.clear()
        if self.load is not None:
            self.load.destroy()
            self.load = None
        for output in self._outputs:
            self.destroy_lifecycle_publisher(output)
        self._outputs.clear()
        self.pipeline = self.trajectory = None

    def refuse(self, reason: str) -> None:
        """Have ``reason`` logged with the next diagnostics: a message that is refused does not delay the next one."""
        self._refusal = reason

    def crashed(self, error: Exception) -> None:
        """Stop publishing until the node is activated again."""
        super().crashed(error)
        if self.pipeline is not None:
            self.pipeline.halted = self.crash

    def fall_silent(self) -> None:
        """Stop publishing; a torque that is under way is published before, then what ``on_deactivate`` says."""
        super().fall_silent()
        if self._hot_path is not None:
            self._hot_path.stop()

    def clock_set_back(self, before: int, after: int) -> None:
        """Keep the progress of ramps of payload and gravity; in simulated time follow nothing from before.

        A system clock may be noticed late; what is followed then is the pipeline's concern.
        """
        super().clock_set_back(before, after)
        load, trajectory = self.load, self.trajectory  # the executor may be about to clean the node up
        if load is not None:
            load.clock_set_back(before, after)
        if trajectory is not None and self.get_clock().ros_time_is_active:
            trajectory.drop()

    def on_activate(self, state):
        """Begin to publish torques, as soon as payload and gravity in force are known."""
        result = super().on_activate(state)
        self.clock_watch.look()
        self.load.begin()
        self.pipeline.begin()
        self.activated = time.monotonic_ns()
        self._output.publish_info()
        self._hot_path.start(self._schedule)
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

    def latched_publisher(self, message_type, topic: str):
        """Return a publisher of what late joiners must hear, too; it belongs to the configured node."""
        publisher = self.create_lifecycle_publisher(message_type, topic, LATCHED)
        self._outputs.append(publisher)
        return publisher

    def report(self) -> dict[str, str]:
        """Return counts of states, torques and rejections by reason, rate, jitter, age of the last state, limits."""
        pipeline, gate, limiter = self.pipeline, self._gate, self.pipeline.limiter
        if self._refusal:
            self.get_logger().warning(self._refusal)
            self._refusal = ''
        if self.active:
            self.silence = pipeline.status()
        publishers = self.count_publishers(self.resolve_topic_name('joint_states'))
        if publishers > 1:
            self.get_logger().warning(f'joint_states has {publishers} publishers (said once)', once=True)
        rejected, counts, age = pipeline.counts.rejected_reasons(), limiter.counts, pipeline.age
        return {
            'states received': str(pipeline.counts.received),
            'torques published': str(pipeline.counts.published),
            'states rejected': str(sum(rejected.values())),
            'states rejected, reasons': '; '.join(f'{why}: {count}' for why, count in rejected.items()),
            'torques saturated': str(counts[Limited.EFFORT]),
            'torques slowed': str(counts[Limited.RATE]),
            'torques not finite': str(counts[Limited.NOT_FINITE]),
            'torques, reasons since reset': limiter.reasons(self.robot.joint_names),
            'publishers of joint_states': str(publishers),
            'input rate, Hz': f'{1.0 / gate.period:.1f}' if gate.period else '0',
            'input jitter, ms': f'{1e3 * gate.jitter:.3f}',
            'last state, s ago': 'never' if age is None else f'{age:.3f}',
            'gravity owner': self.ownership.gravity_owner,
            'effort limits, N m': _numbers(self.effort_limit),
            'rate limits, N m/s': _numbers(self.rate_limit),
            'age limit, s': f'{gate.limit:g}',
            **({'trajectory refused last': self.trajectory.refused} if self.trajectory else {}),
            **self.load.report(),
        }

    def _on_stop(self) -> None:
        """Send the command that ``on_deactivate`` says, on the hot path's thread."""
        if self._ending is not None and self.ownership.takes_commands:
            why = self.pipeline.finish(self._ending)
            if why:
                self.get_logger().warning(why)
            # a process that ends takes with it what is still on its way
            for output in self._outputs:
                output.wait_for_all_acked(ACKNOWLEDGED)

    def load_changed(self) -> None:
        """Follow a change of payload or gravity."""
        for blender in self._blenders:
            blender.take(self.load.load)
        if self.active:
            self._output.publish_info()

    def _on_reset(self, request, response):
        """Forget what the limiter has changed, and what states were rejected."""
        self.pipeline.limiter.reset()
        self.pipeline.counts.reset()
        response.success, response.message = True, 'reasons and counts are forgotten'
        return response


def _numbers(values) -> str:
    return ' '.join(f'{value:g}' for value in values)
