"""The task of trajectory_effort_node: plans in, their peak torques and the plans with efforts out."""

from typing import NamedTuple

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import TrajectoryTorques
from robot_dynamics_ros.control.guards.torque_limiter import effort_limits
from robot_dynamics_ros.control.joints.joint_order import permutation
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import carrying
from robot_dynamics_ros.control.terms.compensation import Compensation, checked_terms
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.control.terms.torque_scale import torque_scales
from robot_dynamics_ros.control.trajectories.plan_limits import check_plan, exceeded, limited
from robot_dynamics_ros.control.trajectories.planned_efforts import PlannedEfforts, check_defined, planned_efforts
from robot_dynamics_ros.control.trajectories.reach_check import WayCheck, check_reach
from robot_dynamics_ros.control.trajectories.segment_extremes import check_within
from robot_dynamics_ros.control.trajectories.trajectory_check import Check
from robot_dynamics_ros.control.trajectories.turn_jumps import check_jumps
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints, resampled, serialized, trajectory_of
from robot_dynamics_ros.messages.payload_gravity import payload_messages
from robot_dynamics_ros.messages.trajectory_torques import trajectory_torques
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.inputs.plan_input import DISPLAYED, PlanInput
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.tasks.residual_file import residual_of

OUTPUT = 'trajectory_with_effort'
ROUGH = 0.05
"""Share of an effort limit from which on the log names the error of interpolated efforts."""
REPORTS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class CheckedPlan(NamedTuple):
    """Result of a plan's check, and the plan as it is published."""

    found: Check
    digest: int
    error: np.ndarray  # (n,) of efforts that are interpolated between the points, N m or N
    excess: str  # which limit it exceeds
    limited: int  # samples where an effort was limited
    data: bytes  # the plan with efforts, b'' where it is not published


class TrajectoryEfforts(LifecycleTask):
    """Publishes ``trajectory_torques`` of each plan, and ``trajectory_with_effort`` of those within the limits.

    A plan without points, a stop, is published as it is. One of MoveIt's display is only checked: nobody has decided to
    execute it.
    """

    def __init__(self, node):
        """Create inputs and outputs of ``node``, a BaseNode; ArgumentError names the parameter that is wrong."""
        self._node, self._robot = node, node.robot
        check_tree(self._robot.model, node.get_name())
        self._policy = CompensationPolicy(
            node.value('preset'), node.value('gravity_owner'), list(node.value('compensation'))
        )
        self._terms, self._residual = list(checked_terms(self._policy.terms)), residual_of(node)
        self._limit = effort_limits(node.value('effort_limit'), self._robot.limits.effort, self._robot.joint_names)
        self._limits = PositionLimits(self._robot, node.value('position_limit_tolerance'))
        self._ways = WayCheck.of(self._robot)
        self._scale = torque_scales(node.value('torque_scale'), self._robot.nv)
        self._resamples, self._period = node.value('resample'), node.value('sample_period')
        self._fills, self._insists = node.value('point_effort') == 'fill', node.value('publish_infeasible')
        is_displayed = node.value('plan_topic') == DISPLAYED
        if self._fills and not is_displayed and not self._policy.takes_commands:
            raise ArgumentError(
                f"preset {node.value('preset')}: the arm accepts no torque; with point_effort 'strip' checked plans are"
                ' published without effort'
            )
        self._payload_gravity = PayloadGravityInput(node, node.value('await_payload_gravity'))
        self._law = PayloadBlender(self._compensation, self._robot, self._payload_gravity.current)
        self._payload_gravity.follow(self._law.take)
        self._checked = self._published = self._limited = 0
        self._reports = node.create_lifecycle_publisher(TrajectoryTorques, 'trajectory_torques', REPORTS)
        node.resources.callback(node.destroy_lifecycle_publisher, self._reports)
        self._output = None
        if not is_displayed:
            self._output = node.create_lifecycle_publisher(JointTrajectory, OUTPUT, 10)
            node.resources.callback(node.destroy_lifecycle_publisher, self._output)
        self._input = PlanInput(node, node.value('plan_topic'), self._check, self._publish, self._pass_on)

    @property
    def silence(self) -> str:
        """Why no plan is published, '' where plans are."""
        return self._payload_gravity.missing

    def replace(self, before: 'TrajectoryEfforts') -> None:
        """End the check of plans for another description."""
        super().replace(before)
        before._input.drop()

    def begin(self) -> None:
        """Accept plans, as soon as payload and gravity in force are known."""
        self._payload_gravity.begin()
        self._input.begin()

    def end(self) -> None:
        """Accept no plan."""
        self._input.end()

    def warnings(self) -> list[str]:
        """Return what is wrong with payload and gravity, and with the number of planners."""
        return self._payload_gravity.warnings() + self._input.warnings()

    def report(self) -> dict[str, str]:
        """Return counts of plans, why one was refused last, limits, payload and gravity."""
        return {
            'plans checked': str(self._checked),
            'plans published': str(self._published),
            'plans refused': str(self._input.refusals),
            'plan refused last': self._input.refused,
            'publishers of plans': str(len(self._input.publishers)),
            'efforts limited': str(self._limited),
            'gravity owner': self._policy.gravity_owner,
            'compensation': '+'.join(self._terms),
            'effort limits, N m': ' '.join(f'{limit:g}' for limit in self._limit),
            'torque scale': ' '.join(f'{scale:g}' for scale in self._scale),
            **self._payload_gravity.report(),
        }

    def _compensation(self, robot) -> Compensation:
        return Compensation(robot, self._terms, self._residual)

    def _pass_on(self, data: bytes) -> None:
        """Publish a stop; the thread of the input."""
        self._output.publish(data)

    def _check(self, points: TrajectoryPoints, data: bytes) -> CheckedPlan:
        """Check a plan, with efforts where it may be executed; DynamicsError says what is wrong."""
        if self._payload_gravity.missing:
            raise ArgumentError(f'{self._payload_gravity.missing}; send the plan again when {OUTPUT} may hold torques')
        trajectory = trajectory_of(self._robot.joint_names, points, self._node.locked_joint_names)
        check_within(trajectory, self._limits)
        check_jumps(trajectory, self._robot)
        check_reach(trajectory, self._ways)
        check_defined(trajectory)
        trajectory_of(points.joint_names, points)  # joints that are locked are published, too
        now = self._node.get_clock().now().nanoseconds
        start = points.stamp or now
        over = (now - start) * 1e-9 - trajectory.duration
        if data and over > 0.0:
            raise ArgumentError(
                f'trajectory: by its stamp it ended {over:.3f} s before its check; send it in time, with a stamp of '
                'the clock of this node or 0'
            )
        met = self._payload_gravity.current.met(max(start, now))
        robots = [carrying(self._robot.with_gravity(gravity), payloads) for payloads, gravity in met]
        found = check_plan(robots, trajectory, self._period, self._limit)
        efforts = planned_efforts(self._law, found.motion, start, now, self._limit)
        chosen = resampled(points, self._period) if self._resamples else points
        excess = exceeded(found, self._robot.joint_names)
        if data and self._fills:
            excess = excess or limited(efforts, self._robot.joint_names)
        publishes = bool(data) and (not excess or self._insists)
        return CheckedPlan(
            found,
            trajectory.digest,
            efforts.interpolation_error(chosen.times),
            excess,
            efforts.limited,
            serialized(data, chosen, self._rows(chosen, efforts)) if publishes else b'',
        )

    def _publish(self, plan: CheckedPlan) -> None:
        """Publish the peak torques of a checked plan, and the plan where it may be executed."""
        self._checked += 1
        self._report(plan.found, plan.digest, plan.error, bool(plan.data))
        self._log(plan.excess, bool(plan.data), plan.error)
        if plan.data:
            self._published += 1
            self._limited += plan.limited
            self._output.publish(plan.data)

    def _rows(self, points: TrajectoryPoints, efforts: PlannedEfforts) -> np.ndarray:
        """Return the efforts of ``points`` (m, N) in their joint order, 0 for joints that are locked; none to strip."""
        rows = np.zeros((len(points.times), len(points.joint_names) if self._fills else 0))
        if self._fills:
            places = permutation(self._robot.joint_names, points.joint_names, self._node.locked_joint_names)
            rows[:, places] = efforts.at(points.times) / self._scale  # as sent to motors that multiply it
        return rows

    def _report(self, found: Check, digest: int, error: np.ndarray, publishes: bool) -> None:
        """Publish the peak torques of a plan."""
        current = self._payload_gravity.current
        message = trajectory_torques(found, self._robot.joint_names)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.frame_id = self._robot.link_names[0]
        message.trajectory, message.terms, message.published = digest, self._terms, publishes
        message.interpolation_error = error.tolist()
        message.gravity.x, message.gravity.y, message.gravity.z = current.gravity.after
        message.payloads = payload_messages(current.payload.after)
        self._reports.publish(message)

    def _log(self, excess: str, publishes: bool, error: np.ndarray) -> None:
        """Log which limit a plan exceeds, and efforts that are wrong between its points."""
        if excess:
            done = 'published by publish_infeasible' if publishes else 'not published'
            self._node.get_logger().warning(f'plan {done}: {excess}')
        joint = int((error / self._limit).argmax())
        if publishes and self._fills and error[joint] > ROUGH * self._limit[joint]:
            self._node.get_logger().warning(
                f'the effort of joint {self._robot.joint_names[joint]!r}, which a controller interpolates linearly, is '
                f'off by {error[joint]:.3g} N m between the points of the plan: set resample'
            )
