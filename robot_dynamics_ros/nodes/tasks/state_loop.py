"""Loop of a node over joint states, on the thread of a ``HotPath``, by the ``TorquePipeline`` of a law."""

import time
from collections.abc import Sequence

import numpy as np
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.closing_way import NEAREST
from robot_dynamics_ros.control.guards.position_error import PositionError
from robot_dynamics_ros.control.guards.state_gate import StateGate
from robot_dynamics_ros.control.guards.torque_limiter import Limited
from robot_dynamics_ros.control.guards.velocity_check import VelocityCheck
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.process.hot_path import HotPath, Input
from robot_dynamics_ros.nodes.process.publishers import STATES, publishers_of, several, state_warnings
from robot_dynamics_ros.nodes.process.raw_executor import NoExecutor
from robot_dynamics_ros.nodes.process.realtime import Schedule, cores_of
from robot_dynamics_ros.nodes.tasks.torque_pipeline import TorquePipeline

UNHEARD = 5.0
"""Time after which a publisher of joint states from which nothing comes is reported, s."""


class StateLoop(LifecycleTask):
    """Runs a pipeline on the thread of a ``HotPath``; everything else is done by the executor."""

    def __init__(self, node, payload_gravity: PayloadGravityInput, needs_velocities: bool):
        """Read age limit and schedule of ``node``, a BaseNode, which publishes once ``payload_gravity`` is known.

        ``needs_velocities``: torques depend on measured velocities.
        """
        self._needs_velocities = needs_velocities
        self._node, self._payload_gravity = node, payload_gravity
        self.joint_names = node.robot.joint_names
        self._goes_on = False  # with the torques of another description
        self._unheard_since: float | None = None  # joint_states has had a publisher and no message, steady time, s
        cores = cores_of(node.value('cores'))
        self._schedule = Schedule(node.value('realtime_priority'), cores, node.value('lock_memory'))
        self._gate = StateGate(node.value('age_limit'))
        self._velocities, self._locked = VelocityCheck(node.robot), node.locked_joints
        self._error = PositionError(turns(node.robot))
        reset = node.create_service(Trigger, '~/reset', self._on_reset)
        node.resources.callback(node.destroy_service, reset)

    def _state_input(self, effort: bool = False) -> StateInput:
        """Return the input of joint states, efforts included where asked for."""
        node, robot = self._node, self._node.robot
        tolerance = node.value('position_limit_tolerance')
        limits = PositionLimits(robot, tolerance)
        driven = robot if isinstance(robot, DrivenRobot) else None
        followers = PositionLimits(driven.robot, tolerance, driven.followers) if driven else None
        parts = effort, limits, self._locked, self._velocities, followers
        self._state = StateInput(robot.joint_names, driven, *parts)
        return self._state

    def _connect(self, pipeline: TorquePipeline, inputs: Sequence[Input] = (), on_stop=None) -> None:
        """Let the hot path handle joint states by ``pipeline``, and further ``inputs``; ``on_stop`` is called last."""
        node, self.pipeline, group = self._node, pipeline, NoExecutor()
        subscriptions = [
            self._subscribe(given, group) for given in (Input('joint_states', JointState, pipeline.on_state), *inputs)
        ]
        on_pause = pipeline.on_pause if pipeline.fallback else None
        self._hot_path = HotPath(node, group, subscriptions, on_pause, on_stop, node.crashed)
        node.resources.callback(self._hot_path.destroy)

    @property
    def silence(self) -> str:
        """Why no torque is published, '' where torques are."""
        pipeline, since = self.pipeline, self._unheard_since
        reason = pipeline.status()
        if pipeline.halted or pipeline.age is not None:
            return reason
        if self._payload_gravity.missing:
            return self._payload_gravity.missing
        if since is None or time.monotonic() - since < UNHEARD:
            return reason
        return (
            f'{reason}: joint_states has a publisher, but no message came within {UNHEARD:g} s: see that it '
            'publishes sensor_msgs/JointState (ros2 topic hz, ros2 topic info), then start its process again'
        )

    def replace(self, before: LifecycleTask) -> None:
        """End the loop of another description, without a garbage collection between its torques and the own.

        Where the joints are the same, ``begin`` waits for nothing that ``before`` has had.
        """
        if self._node.active:
            self._hot_path.apply_settings()
        super().replace(before)
        if isinstance(before, StateLoop):
            self._locked.continue_from(before._locked)
            self._gate.continue_from(before._gate)
            self._state.continue_from(before._state)
            if not self._node.active:
                # the next begin is an activation, not that of the description
                self._state.begin()
            has_torques = self._node.active and before._payload_gravity.in_use
            self._goes_on = has_torques and before.joint_names == self.joint_names

    def begin(self) -> None:
        """Begin to publish torques, as soon as payload and gravity in force are known."""
        self._unheard_since = None
        self._payload_gravity.begin(in_use=self._goes_on)
        self._goes_on = False
        self._velocities.reset()
        self.pipeline.begin(goes_on=self._payload_gravity.in_use)
        self._announce()
        self._hot_path.start(self._schedule)

    def end(self) -> None:
        """Stop publishing; a torque that is being computed is published before, then what ``on_deactivate`` says."""
        self._hot_path.stop()

    def halt(self, reason: str) -> None:
        """Publish nothing until ``begin``."""
        self.pipeline.halted = reason

    def warnings(self) -> list[str]:
        """Return what is wrong with payload, gravity and velocities, and that two sources say where the arm is."""
        found = self._payload_gravity.warnings()
        unreported = self._velocities.unreported if self._needs_velocities else []
        if unreported:
            found.append(
                f'velocities of {", ".join(unreported)} are 0 in all states, although the positions change: nothing is '
                'damped there; have the driver report them'
            )
        nodes, known = publishers_of(self._node, STATES), self.pipeline.sources.arm.known
        count = min(len(nodes), len(known))  # others have ended
        if count > 1:
            found.append(
                f'{several(nodes, STATES)}, {count} of them with the joints of the arm: torques are those of the newer '
                'stamps, of either one; stop the others'
            )
        elif not known and self.pipeline.age is not None:  # rclpy before 9 does not say who published
            found += state_warnings(nodes)
        return found + self._measured_warnings(nodes)

    def _measured_warnings(self, nodes: list[tuple[bytes, str]]) -> list[str]:
        """Return which measured joints are not reported, and that two of ``nodes`` say where they are."""
        joints = self._state.measured
        if joints is None:
            return self._mechanism.warnings() if self._mechanism else []
        count = min(len(nodes), len(self.pipeline.sources.measured.known))
        if count < 2:
            return joints.warnings()
        return [
            *joints.warnings(),
            f'{several(nodes, STATES)}, {count} of them with {", ".join(joints.names)}: the newer stamp counts, of '
            'either one; let one alone report them',
        ]

    def report(self) -> dict[str, str]:
        """Return counts of states, torques and rejections by reason, rate, jitter, ages of states, payload."""
        pipeline, gate = self.pipeline, self._gate
        publishers = len(publishers_of(self._node, STATES))
        if not publishers or pipeline.age is not None:
            self._unheard_since = None
        elif self._unheard_since is None:
            self._unheard_since = time.monotonic()
        rejected, age = pipeline.counts.rejected_reasons(), pipeline.age
        return {
            'states received': str(pipeline.counts.received),
            'torques published': str(pipeline.counts.published),
            'states rejected': str(sum(rejected.values())),
            'states rejected, reasons': '; '.join(f'{why}: {count}' for why, count in rejected.items()),
            'torques not finite': str(pipeline.limiter.counts[Limited.NOT_FINITE]),
            'publishers of joint_states': str(publishers),
            'input rate, Hz': f'{1.0 / gate.period:.1f}' if gate.period else '0',
            'input jitter, ms': f'{1e3 * gate.jitter:.3f}',
            'age of states, ms': f'{1e3 * gate.age:.3f}',
            'last state, s ago': 'never' if age is None else f'{age:.3f}',
            'age limit, s': f'{gate.limit:g}',
            **self._of_loops(),
            **self._payload_gravity.report(),
        }

    @property
    def _mechanism(self) -> ClosedMechanism | None:
        """How the other joints follow by closed loops, None where they do not."""
        robot = self._node.robot
        following = robot.following if isinstance(robot, DrivenRobot) else None
        return following if isinstance(following, ClosedMechanism) else None

    def _of_loops(self) -> dict[str, str]:
        """Return how closed loops are, where the robot has some."""
        mechanism = self._mechanism
        if mechanism is None:
            return {}
        last = mechanism.measured
        return {
            'loops, largest residual, rad or m': f'{np.abs(mechanism.mechanism.loop_errors(last.q)).max():.3g}',
            'loops, Newton steps': str(last.steps),
            f'loops, distance from a singular position (silent below {NEAREST:g})': f'{last.distance:.3g}',
        }

    def _announce(self) -> None:
        """Say, before the first torque, what torques are; here nothing."""

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

    def _on_reset(self, request, response):
        """Reset what the limiter has changed, and what states were rejected."""
        self.pipeline.limiter.reset()
        self.pipeline.counts.reset()
        response.success, response.message = True, 'reasons and counts are cleared'
        return response


def numbers(values) -> str:
    """Return numbers of the diagnostics with blanks between."""
    return ' '.join(f'{value:g}' for value in values)
