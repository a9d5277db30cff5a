"""Control loop of a torque node: joint states in, torques out, by the ``TorquePipeline`` of a control law."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.guards.arm_watch import ArmWatch
from robot_dynamics_ros.control.guards.fade_in import FadeIn
from robot_dynamics_ros.control.guards.timeout_fallback import timeout_fallback
from robot_dynamics_ros.control.guards.torque_limiter import Limited, TorqueLimiter
from robot_dynamics_ros.control.law import Law
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.inputs.goal_arm import GoalArm
from robot_dynamics_ros.nodes.inputs.pipeline_clock import PipelineClock
from robot_dynamics_ros.nodes.inputs.trajectory_input import TrajectoryInput
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.outputs.torque_publishers import CommandArray, TorqueTopics
from robot_dynamics_ros.nodes.process.hot_path import Input
from robot_dynamics_ros.nodes.process.publishers import nodes_that_publish, several
from robot_dynamics_ros.nodes.tasks.controlled_arm import ControlledArm
from robot_dynamics_ros.nodes.tasks.state_loop import StateLoop, numbers
from robot_dynamics_ros.nodes.tasks.torque_pipeline import TorquePipeline

COMMAND_RAMPS: dict[str, Callable[[float], float | None]] = {
    'silent': lambda ramp_time: None,
    'zero': lambda ramp_time: 0.0,
    'ramp_to_zero': lambda ramp_time: ramp_time,
}
"""Over how many s the command goes to zero at deactivation, by on_deactivate; None: it is left as it is."""


class Hold(Protocol):
    """What holds the arm at a position."""

    def continue_from(self, before) -> None:
        """Hold the arm where ``before``, of the same type and another description of the arm, does."""


class ControlLoop(StateLoop):
    """The loop of a control law, with its limits, fallback and output."""

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
        needs_velocities: bool = False,
        unstable: Callable[[float, float], str] | None = None,
        hold: Hold | None = None,
        goals: GoalArm | None = None,
    ):
        """Connect the pipeline of ``law`` and ``output`` with the topics of ``node``, a BaseNode.

        ``inputs`` are further topics of the hot path's thread; ``fields`` and those that ``reports`` return are added
        to the diagnostics, and so is what ``warns`` returns; ``renew`` makes the law again at each activation.
        ``needs_velocities``: torques depend on measured ones. ``unstable(period, age)`` says why gains are unstable
        with states of this period and age (s), '' where they are not. ``hold`` is what holds the arm, and goes on with
        another description. ``goals`` is what goals of an action are executed by.
        """
        super().__init__(node, arm.payload_gravity, needs_velocities)
        self.arm, self._output, self.trajectory, self.goals = arm, output, trajectory, goals
        self._fields, self._renew = {} if fields is None else fields, renew
        self._reports, self._warns, self._unstable, self._hold = reports, warns, unstable, hold
        takes_commands, ramp_time = arm.policy.takes_commands, node.value('ramp_time')
        self._command_ramp = COMMAND_RAMPS[node.value('on_deactivate')](ramp_time) if takes_commands else None
        gravity = arm.gravity if 'gravity' in arm.policy.terms else None
        if node.value('on_stale') == 'gravity_only' and isinstance(arm.robot, DrivenRobot) and arm.robot.mechanism:
            raise ArgumentError(
                'on_stale gravity_only: with closed loops it would go on while the assembly mode is not known; choose '
                'silent or ramp_to_zero'
            )
        state, limiter = self._state_input(), TorqueLimiter(arm.effort_limit, arm.rate_limit, enforced=takes_commands)
        locked = node.locked_joints
        tolerance = node.value('start_tolerance') if node.has_parameter('start_tolerance') else 0.0
        self._watch = ArmWatch(arm.robot.joint_names, limiter, self._error, state.q, tolerance or math.inf)
        pipeline = TorquePipeline(
            PipelineClock(node),
            state,
            self._gate,
            law,
            FadeIn(arm.robot.nv, arm.fade_in_time),
            limiter,
            timeout_fallback(node.value('on_stale'), gravity, arm.robot.nv, ramp_time, lambda: locked.are_right),
            output,
            arm.payload_gravity,
            self._error,
            node.clock_watch.look,
            node.crashed,
            node.refuse,
        )
        arm.payload_gravity.followers.append(self._on_change)
        self._connect(pipeline, inputs, self._on_stop)

    def end(self) -> None:
        """Stop publishing, then following."""
        super().end()
        if self.trajectory:
            self.trajectory.end()

    def prepare(self) -> None:
        """Make the law again where its parameters act at activation."""
        if self._renew is not None:
            self.arm.drop_laws()
            self.pipeline.law = self._renew()

    def replace(self, before: LifecycleTask) -> None:
        """End the loop of another description, and continue from its last torque where the joints are the same."""
        continues = isinstance(before, ControlLoop) and before.joint_names == self.joint_names
        if continues:
            before._command_ramp = None  # no torque to end with: the next one follows
        super().replace(before)
        if continues:
            self.pipeline.continue_from(before.pipeline)
            former = before.pipeline.fallback, before._hold
            for own, other in zip((self.pipeline.fallback, self._hold), former, strict=True):
                if own is not None and type(own) is type(other):
                    own.continue_from(other)

    def begin(self) -> None:
        """Begin to publish torques, as soon as payload and gravity in force are known, and to follow trajectories."""
        super().begin()
        if self.trajectory:
            self.trajectory.begin()
        self._watch.reset(time.monotonic(), self.pipeline.counts.published)

    def errors(self) -> list[str]:
        """Return which joints are not where the torques hold or lead them, or move away while theirs is limited."""
        return self._watch.errors if self._node.active else []

    def warnings(self) -> list[str]:
        """Return what is wrong with payload, gravity, joint states, torques, commands and further inputs."""
        found = super().warnings()
        if self._node.active:
            self._watch.look(time.monotonic(), self.pipeline.counts.published)
            found += self._watch.warnings
            gate, unstable = self._gate, self._unstable
            found += filter(None, [unstable(gate.period, gate.age)] if unstable and gate.period else [])
        if self._node.active and self.pipeline.fades_in:
            found.append('fading in')
        topic = self._output.command_topic
        nodes = nodes_that_publish(self._node, topic) if topic else []
        if len(nodes) > 1:
            found.append(
                f'{several(nodes, self._node.resolve_topic_name(topic))}: the arm gets the torques of all of them in '
                'turn; stop the others (one that was killed counts for up to 20 s)'
            )
        dropped = self.trajectory.dropped if self.trajectory else ''
        if dropped and dropped != self.pipeline.silence:
            found.append(dropped)
        found += self.trajectory.warnings() if self.trajectory else []
        return found + self._warns() if self._warns else found

    def report(self) -> dict[str, str]:
        """Return the fields of a state loop, limits, and what is added to them."""
        arm, limiter = self.arm, self.pipeline.limiter
        return {
            **super().report(),
            'torques saturated': str(limiter.counts[Limited.EFFORT]),
            'torques rate-limited': str(limiter.counts[Limited.RATE]),
            'torques, reasons since reset': limiter.reasons(arm.robot.joint_names),
            'gravity owner': arm.policy.gravity_owner,
            'effort limits, N m': numbers(arm.effort_limit),
            'rate limits, N m/s': numbers(arm.rate_limit),
            'torque scale': numbers(arm.torque_scale),
            **(self.trajectory.report() if self.trajectory else {}),
            **self._fields,
            **{name: value for report in self._reports for name, value in report().items()},
        }

    def _announce(self) -> None:
        """Publish the info of the torque."""
        self._output.publish_info()

    def _on_change(self) -> None:
        """Publish the info of the torque again after a change."""
        if self._node.active:
            self._announce()

    def _on_stop(self) -> None:
        """Send the command that ``on_deactivate`` says, on the hot path's thread."""
        if self._command_ramp is not None:
            reason = self.pipeline.finish(self._command_ramp)
            if reason:
                self._node.get_logger().warning(reason)
            self._output.wait()  # a process that ends would drop what is not sent yet
