"""The task of external_torque_node: from joint states with efforts to external torque, wrench and contact."""

import numpy as np
from std_srvs.srv import Trigger

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.guards.fade_in import FadeIn
from robot_dynamics_ros.control.guards.measured_effort import MeasuredEffort
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.joints.joint_friction import dry_friction
from robot_dynamics_ros.control.law import INTERRUPTION_NS
from robot_dynamics_ros.control.observers.contact_detection import ContactDetector
from robot_dynamics_ros.control.observers.external_torque_law import REPEATED, ExternalTorqueLaw
from robot_dynamics_ros.control.observers.external_wrench import ExternalWrench
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.observers.momentum_observer import MomentumObserver
from robot_dynamics_ros.control.observers.threshold_learning import ThresholdLearning
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.inputs.effort_input import EffortInput, torque_constants
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.inputs.pipeline_clock import PipelineClock
from robot_dynamics_ros.nodes.outputs.external_torque_publishers import ExternalTorqueTopics
from robot_dynamics_ros.nodes.tasks.state_loop import StateLoop, numbers
from robot_dynamics_ros.nodes.tasks.torque_pipeline import TorquePipeline


class ExternalTorqueLoop(StateLoop):
    """The pipeline of an ``ExternalTorqueLaw``: without fade-in, limits and fallback, since nothing is commanded."""

    def __init__(self, node):
        """Connect it with the topics of ``node``, a BaseNode; DynamicsError names the parameter that is wrong."""
        robot, meaning = node.robot, node.value('effort')
        check_tree(robot.model, node.get_name())
        if not meaning:
            raise ArgumentError(
                'effort: not stated; say what joint_states has: torque, current, torque_without_gravity'
            )
        carried = PayloadGravityInput(node, node.value('await_payload_gravity'))
        super().__init__(node, carried, needs_velocities=True)
        self._effort = EffortInput(node, carried)
        time_constant, gain = node.value('friction_time_constant'), node.value('observer_gain')
        # in the order of a ContactDetector
        stated = {
            'contact_threshold': node.value('contact_threshold'),
            'reversal_threshold': node.value('reversal_threshold'),
            'speed_threshold': node.value('speed_threshold'),
            'inertia_threshold': node.value('inertia_threshold'),
        }
        self._stated = np.array([validation.of_each_joint(*it, robot.nv, zero=True) for it in stated.items()])
        self._stated[0, self._stated[0] == 0.0] = np.inf
        self._detector = ContactDetector(robot.nv, gain)
        contact, limit = self._detector.threshold, robot.limits.effort
        self._tracker = FrictionTracker(robot, time_constant, contact) if time_constant else None
        static = dry_friction(robot, robot.neutral())
        self._learning = ThresholdLearning(self._detector, robot.joint_names, static, limit, self._tracker)
        self._forget()
        observer = MomentumObserver(robot, gain, self._tracker)
        gravity = PayloadBlender(GravityTorque, robot, carried.current)
        effort = MeasuredEffort(meaning, robot.joint_names, lambda: torque_constants(robot))
        self._law = ExternalTorqueLaw(robot, observer, self._detector, self._learning, effort, gravity)
        for take in (observer.take, gravity.take, self._law.take):
            carried.follow(take)
        self._wrench = ExternalWrench(robot, node.value('wrench_frame'))
        state, unlimited = self._state_input(effort=True), np.full(robot.nv, np.inf)
        pipeline = TorquePipeline(
            PipelineClock(node),
            state,
            self._gate,
            self._law,
            FadeIn(robot.nv, 0.0),
            TorqueLimiter(unlimited, 0.0 * np.ones(robot.nv), enforced=False),
            None,
            ExternalTorqueTopics(node, state, self._wrench, self._detector),
            carried,
            self._error,
            node.clock_watch.look,
            node.crashed,
            node.refuse,
        )
        self._connect(pipeline)
        calibrate = node.create_service(Trigger, '~/calibrate', self._on_calibrate)
        node.resources.callback(node.destroy_service, calibrate)

    def warnings(self) -> list[str]:
        """Return contact, that it is not detected, and what contradicts the meaning of efforts."""
        found = super().warnings() + self._effort.warnings()
        detector, joint = self._detector, self._node.robot.joint_names[self._detector.joint]
        if self._node.active and detector.contact:
            found.append(f'contact at joint {joint!r}: the external torque is {detector.ratio:.2g} of its threshold')
        if not detector.is_calibrated:
            found.append('contact is not detected: call ~/calibrate in free motion, or state contact_threshold')
        return found

    def report(self) -> dict[str, str]:
        """Return the fields of a state loop, efforts at rest, external torque, thresholds, friction and wrench."""
        detector, tracker = self._detector, self._tracker
        is_silent = bool(self.silence) or not self._node.active
        contact = 'unknown' if self._contact_unknown() else 'yes' if detector.contact else 'no'
        level, reversal, speed, inertia = detector.thresholds
        return {
            **super().report(),
            **self._effort.report(),
            'external torque, N m': '' if is_silent else numbers(np.round(self._law.observer.residual, 3)),
            'contact': contact,
            'contacts': str(self._law.contacts),
            'calibration': self._learning.status,
            'contact thresholds, N m': numbers(np.round(level, 4)),
            'contact thresholds near a reversal, N m': numbers(np.round(level + reversal, 4)),
            'contact thresholds by speed, N m s/rad': numbers(np.round(speed, 4)),
            'contact thresholds by inertial torque': numbers(np.round(inertia, 4)),
            'friction scale': '' if tracker is None else numbers(np.round(tracker.scale, 3)),
            'friction offset, N m': '' if tracker is None else numbers(np.round(tracker.offset, 3)),
            'wrench, undetermined directions': '' if is_silent else '; '.join(self._wrench.undetermined()),
        }

    def _contact_unknown(self) -> bool:
        """Return whether the detector has no state; after a repeated stamp the state of the last second counts."""
        if not self._node.active or not self._detector.is_calibrated:
            return True
        age = self._node.get_clock().now().nanoseconds - self._law.stamp
        return bool(self.silence) and not (self.pipeline.result is REPEATED and age <= INTERRUPTION_NS)

    def _forget(self) -> None:
        """Return to the thresholds and the friction of the parameters."""
        self._detector.thresholds[:] = self._stated
        self._learning.forget()
        if self._detector.is_calibrated:
            self._learning.status = 'thresholds of the parameters'
        if self._tracker is not None:
            self._tracker.reset()

    def _on_reset(self, request, response):
        """Reset counts, thresholds and friction."""
        super()._on_reset(request, response)
        self._forget()
        self._law.contacts = 0
        response.message = 'counts are cleared; thresholds and friction are those of the parameters'
        return response

    def _on_calibrate(self, request, response):
        """Begin to learn thresholds, or say why not."""
        node = self._node
        duration, reason = node.value('calibration_time'), self.silence if node.active else 'the node is not active'
        reason = reason or self._learning.begin(duration, node.value('threshold_margin'))
        response.success = not reason
        response.message = reason or (
            f'learning for {duration:g} s: move all joints, touch nothing; then see calibration on /diagnostics'
        )
        return response
