"""Control loop of a torque node: joint states in, torques out, by the ``TorquePipeline`` of a control law."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_dynamics_ros.control.driven_robot import DrivenRobot
from robot_dynamics_ros.control.fade_in import FadeIn
from robot_dynamics_ros.control.law import Law
from robot_dynamics_ros.control.state_gate import StateGate
from robot_dynamics_ros.control.timeout_fallback import timeout_fallback
from robot_dynamics_ros.control.torque_limiter import Limited, TorqueLimiter
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.controlled_arm import ControlledArm
from robot_dynamics_ros.nodes.hot_path import HotPath
from robot_dynamics_ros.nodes.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.raw_executor import NoExecutor
from robot_dynamics_ros.nodes.realtime import Schedule, cores_of
from robot_dynamics_ros.nodes.torque_pipeline import NO_INPUT, PipelineClock, TorquePipeline
from robot_dynamics_ros.nodes.torque_publishers import CommandArray, TorqueTopics
from robot_dynamics_ros.nodes.trajectory_input import TrajectoryInput

COMMAND_RAMPS: dict[str, Callable[[float], float | None]] = {
    'silent': lambda ramp_time: None,
    'zero': lambda ramp_time: 0.0,
    'ramp_to_zero': lambda ramp_time: ramp_time,
}
"""Over how many s the command goes to zero at deactivation, by on_deactivate; None: it is left as it is."""
UNHEARD = 5.0
"""Time after which a publisher of joint states from which nothing comes is reported, s."""


class Input(NamedTuple):
    """A topic of the hot path: its thread calls ``handler`` with the bytes, and what rclpy knows of the message."""

    topic: str
    kind: type
    handler: Callable[[bytes, dict], object]
    qos: QoSProfile = qos_profile_sensor_data


class ControlLoop(LifecycleTask):
    """Runs the pipeline on the thread of a ``HotPath``; everything else is done by the executor."""

    def __init__(
        self,
        node,
        arm: ControlledArm,
        law: Law,
        output: TorqueTopics | CommandArray,
        trajectory: TrajectoryInput | None = None,
        inputs: Sequence[Input] = (),
        fields: dict[str, str] | None = None,
        renew: Callable[[], Law] | None = None,
        reports: Sequence[Callable[[], dict[str, str]]] = (),
        warns: Callable[[], list[str]] | None = None,
    ):
        """Connect the pipeline of ``law`` and ``output`` with the topics of ``node``, a BaseNode.

        ``inputs`` are further topics of the hot path's thread; ``fields`` and those that ``reports`` return are added
        to the diagnostics, and so is what ``warns`` returns; ``renew`` makes the law again at each activation.
        """
        self._node, self.arm, self._output, self.trajectory = node, arm, output, trajectory
        self._fields, self._renew = {} if fields is None else fields, renew
        self._reports, self._warns = reports, warns
        self._unheard_since: float | None = None  # joint_states has had a publisher and no message, steady time, s
        takes_commands, ramp_time = arm.policy.takes_commands, node.value('ramp_time')
        self._command_ramp = COMMAND_RAMPS[node.value('on_deactivate')](ramp_time) if takes_commands else None
        cores = cores_of(node.value('cores'))
        self._schedule = Schedule(node.value('realtime_priority'), cores, node.value('lock_memory'))
        self._gate = StateGate(node.value('age_limit'))
        gravity = arm.gravity if 'gravity' in arm.policy.terms else None
        self.pipeline = TorquePipeline(
            PipelineClock(node),
            StateInput(arm.robot.joint_names, arm.robot if isinstance(arm.robot, DrivenRobot) else None),
            self._gate,
            law,
            FadeIn(arm.robot.nv, arm.fade_in_time),
            TorqueLimiter(arm.effort_limit, arm.rate_limit, enforced=takes_commands),
            timeout_fallback(node.value('on_stale'), gravity, arm.robot.nv, ramp_time),
            output,
            arm.payload_gravity,
            node.clock_watch.look,
            node.crashed,
            node.refuse,
        )
        arm.payload_gravity.followers.append(self._on_change)
        reset = node.create_service(Trigger, '~/reset', self._on_reset)
        node.resources.callback(node.destroy_service, reset)
        group = NoExecutor()
        subscriptions = [
            self._subscribe(given, group)
            for given in (Input('joint_states', JointState, self.pipeline.on_state), *inputs)
        ]
        on_pause = self.pipeline.on_pause if self.pipeline.fallback else None
        self._hot_path = HotPath(node, group, subscriptions, on_pause, self._on_stop, node.crashed)
        node.resources.callback(self._hot_path.destroy)

    @property
    def silence(self) -> str:
        """Why no torque is published, '' where torques are."""
        reason, since = self.pipeline.status(), self._unheard_since
        if reason != NO_INPUT or since is None or time.monotonic() - since < UNHEARD:
            return reason
        return (
            f'{NO_INPUT}: joint_states has a publisher, but no message came within {UNHEARD:g} s: see that it '
            'publishes sensor_msgs/JointState (ros2 topic hz, ros2 topic info), then start its process again'
        )

    def warm_ups(self) -> dict:
        """Return what the pipeline calls."""
        fallback = self.pipeline.fallback
        return {
            'control law': self.pipeline.law.warm_up,
            **({'torque on timeout': fallback.warm_up} if fallback else {}),
        }

    def prepare(self) -> None:
        """Make the law again where its parameters act at activation."""
        if self._renew is not None:
            self.arm.drop_laws()
            self.pipeline.law = self._renew()
            self._node.warm_up()

    def begin(self) -> None:
        """Begin to publish torques, as soon as payload and gravity in force are known."""
        self._unheard_since = None
        self.arm.payload_gravity.begin()
        self.pipeline.begin()
        self._output.publish_info()
        self._hot_path.start(self._schedule)

    def end(self) -> None:
        """Stop publishing; a torque that is being computed is published before, then what ``on_deactivate`` says."""
        self._hot_path.stop()

    def halt(self, reason: str) -> None:
        """Publish nothing until ``begin``."""
        self.pipeline.halted = reason

    def warnings(self) -> list[str]:
        """Return what is wrong with payload, gravity, joint states, commands and further inputs."""
        found = self.arm.payload_gravity.warnings()
        if self._node.active and self.pipeline.fades_in:
            found.append('fading in')
        count = min(self._publishers(), len(self.pipeline.publishers))  # others have ended
        if count > 1:
            found.append(
                f'{count} publishers of joint_states with the joints of the arm: torques are those of the newer stamps,'
                ' of either one; stop the others'
            )
        topic = self._output.command_topic
        commands = self._node.count_publishers(topic) if topic else 0
        if commands > 1:
            found.append(
                f'{commands} publishers of {topic}: the arm gets the torques of all of them in turn; stop the others '
                '(one that was killed counts for up to 20 s)'
            )
        dropped = self.trajectory.dropped if self.trajectory else ''
        if dropped and dropped != self.pipeline.silence:
            found.append(dropped)
        return found + self._warns() if self._warns else found

    def _publishers(self) -> int:
        """Return how many publishers joint_states has."""
        return self._node.count_publishers(self._node.resolve_topic_name('joint_states'))

    def report(self) -> dict[str, str]:
        """Return counts of states, torques and rejections by reason, rate, jitter, age of the last state, limits."""
        arm, pipeline, gate = self.arm, self.pipeline, self._gate
        publishers = self._publishers()
        if not publishers or pipeline.age is not None:
            self._unheard_since = None
        elif self._unheard_since is None:
            self._unheard_since = time.monotonic()
        rejected, limited, age = pipeline.counts.rejected_reasons(), pipeline.limiter.counts, pipeline.age
        return {
            'states received': str(pipeline.counts.received),
            'torques published': str(pipeline.counts.published),
            'states rejected': str(sum(rejected.values())),
            'states rejected, reasons': '; '.join(f'{why}: {count}' for why, count in rejected.items()),
            'torques saturated': str(limited[Limited.EFFORT]),
            'torques slowed': str(limited[Limited.RATE]),
            'torques not finite': str(limited[Limited.NOT_FINITE]),
            'torques, reasons since reset': pipeline.limiter.reasons(arm.robot.joint_names),
            'publishers of joint_states': str(publishers),
            'input rate, Hz': f'{1.0 / gate.period:.1f}' if gate.period else '0',
            'input jitter, ms': f'{1e3 * gate.jitter:.3f}',
            'last state, s ago': 'never' if age is None else f'{age:.3f}',
            'gravity owner': arm.policy.gravity_owner,
            'effort limits, N m': _numbers(arm.effort_limit),
            'rate limits, N m/s': _numbers(arm.rate_limit),
            'torque scale': _numbers(arm.torque_scale),
            'age limit, s': f'{gate.limit:g}',
            **({'trajectory refused last': self.trajectory.refused} if self.trajectory else {}),
            **arm.payload_gravity.report(),
            **self._fields,
            **{name: value for report in self._reports for name, value in report().items()},
        }

    def _subscribe(self, given: Input, group: NoExecutor):
        """Return a raw subscription of the hot path."""
        node = self._node
        subscription = node.create_subscription(
            given.kind,
            given.topic,
            given.handler,
            given.qos,
            callback_group=group,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
            raw=True,
        )
        node.resources.callback(node.destroy_subscription, subscription)
        return subscription

    def _on_change(self) -> None:
        """Publish what the torque holds now."""
        if self._node.active:
            self._output.publish_info()

    def _on_stop(self) -> None:
        """Send the command that ``on_deactivate`` says, on the hot path's thread."""
        if self._command_ramp is not None:
            reason = self.pipeline.finish(self._command_ramp)
            if reason:
                self._node.get_logger().warning(reason)
            self._output.wait()  # a process that ends would drop what is not sent yet

    def _on_reset(self, request, response):
        """Reset what the limiter has changed, and what states were rejected."""
        self.pipeline.limiter.reset()
        self.pipeline.counts.reset()
        response.success, response.message = True, 'reasons and counts are cleared'
        return response


def _numbers(values) -> str:
    return ' '.join(f'{value:g}' for value in values)
