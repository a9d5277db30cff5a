"""The control law of ``torque_controller``, made as the parameters choose it, with what it needs and reports."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import Law, MeasuredState
from robot_dynamics_ros.control.laws.acceleration_limits import acceleration_limits
from robot_dynamics_ros.control.laws.adaptation import ADAPTIVE, Adaptation, AdaptiveSettings
from robot_dynamics_ros.control.laws.adaptive import AdaptiveControl, AdaptiveHold, AdaptiveLaw
from robot_dynamics_ros.control.laws.gain_limits import (
    DelayedLimit,
    PeriodLimit,
    SampledLaw,
    SamplingLimit,
    check_stated,
)
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    IMPEDANCE,
    CartesianHold,
    CartesianImpedance,
)
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.held_pose import HeldPose
from robot_dynamics_ros.control.laws.impedance.impedance_law import ImpedanceLaw
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit
from robot_dynamics_ros.control.laws.impedance.operational_space import (
    OPERATIONAL_SPACE,
    OperationalSpaceControl,
    OperationalSpaceHold,
    SingularDirections,
)
from robot_dynamics_ros.control.laws.impedance.operational_space_limits import OperationalSpaceLimit
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stated_impedance import (
    OF_IMPEDANCE_ALONE,
    stated_impedance,
    stated_operational_space,
    warning_of_posture,
)
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.control.laws.joint_space_control import Hold, JointSpaceControl
from robot_dynamics_ros.control.laws.joint_space_law import JointSpaceLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.inputs.feedforward_input import FeedforwardInput
from robot_dynamics_ros.nodes.inputs.held_topic import HeldPublisher
from robot_dynamics_ros.nodes.inputs.stiffness_input import StiffnessInput
from robot_dynamics_ros.nodes.inputs.target_poses import Leading, TargetPoses
from robot_dynamics_ros.nodes.inputs.wrench_input import WrenchInput
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import definitions_of
from robot_dynamics_ros.nodes.tasks.controlled_arm import ControlledArm


class ControllerLaw:
    """Makes the law of a node at each activation; ``fields`` of the diagnostics are its name and period limit."""

    def __init__(self, node, arm: ControlledArm):
        """Read the parameters of ``node``, a BaseNode, for its ControlledArm ``arm``."""
        self._node, self._arm = node, arm
        self.desired, tolerance = np.zeros((3, arm.robot.nv)), node.value('start_tolerance')
        limit = acceleration_limits(node.value('acceleration_limit'), arm.robot, arm.effort_limit)
        positions = PositionLimits(arm.robot, node.value('position_limit_tolerance'))
        self.follower = TrajectoryFollower(arm.robot, self.desired, tolerance, node.refuse, limit, positions)
        self._held = HeldPublisher(node)
        self._position = HoldPosition(arm.robot, tolerance, node.refuse, self._held.tell)
        age_limit, limits = node.value('feedforward_age_limit'), self.follower.start.limits
        self.feedforward = FeedforwardInput(node, arm, age_limit, self.desired, limits)
        self.target_poses = TargetPoses(node, arm.robot, self._leading)
        self._stiffness_input = StiffnessInput(node)
        self._wrench_input = WrenchInput(node, arm.robot.link_names[0])
        self.fields: dict[str, str] = {}
        self._adaptation: Adaptation | None = None
        self._stiffness: Stiffness | None = None
        self._soft_limits: SoftLimits | None = None
        self._wrench: CommandedWrench | None = None
        self._place: HeldPose | None = None
        self._frame = ''  # that of a Cartesian impedance
        self._farthest = np.inf, np.inf  # error of its frame, rad and m
        self._loose = ''  # what nothing damps
        self._singular: SingularDirections | None = None
        self._unused = ''  # what the law does not use
        self._limit: DelayedLimit | None = None
        self._judged: tuple[tuple, PeriodLimit] | None = None  # what the last limit is of, and it

    def make(self) -> Law:
        """Return the law; DynamicsError names the parameter that is wrong."""
        node = self._node
        name, gains = node.value('control_law'), (node.value('stiffness'), node.value('damping'))
        for gain, values in zip(('stiffness', 'damping'), gains, strict=True):
            check_stated(gain, values)
        make = {
            ADAPTIVE: self._adaptive,
            IMPEDANCE: self._cartesian,
            OPERATIONAL_SPACE: self._operational_space,
        }.get(name, self._fixed)
        self._adaptation = self._stiffness = self._soft_limits = self._wrench = self._place = self._singular = None
        self._loose = ''
        control, hold, undelayed = make(name, gains)
        limit = self._limit = DelayedLimit(undelayed, node.value('torque_delay'))
        self.fields['control law'], self.fields['period limit of the gains, s'] = name, f'{limit.period:.4g}'
        self._unused = '' if name == IMPEDANCE else self._stated_for_impedance(name)
        self.follower.plan = None  # that of an activation before leads nothing
        leads_frame = name in (IMPEDANCE, OPERATIONAL_SPACE)
        if leads_frame:
            speed = self._speed()
            limits = self.follower.start.limits
            self.target_poses.renew(node.value('impedance_frame'), speed, limits, self._farthest)
        else:
            self.target_poses.refuse()
        self._frame = node.value('impedance_frame') or self._arm.robot.end_link
        self._wrench_input.renew(self._wrench, self._frame)
        self._stiffness_input.renew(self._stiffness, self._axes(), node.value('damping_ratio'))
        self.feedforward.reset()  # torques received before the activation are dropped
        source = self.feedforward if name == 'pd_feedforward' else None
        parts = self.follower, self.desired, control, hold, source, self._position
        following = self._following = JointSpaceLaw(*parts, self._held.tell, self._place)
        self.follower.may_begin = following.may_begin
        self.follower.start.held = self._held_at if leads_frame else self._position.at
        law: Law = following
        if self._adaptation:
            law = AdaptiveLaw(following, self._adaptation)
        elif self._stiffness and self._soft_limits and self._wrench:
            law = ImpedanceLaw(following, self._stiffness, self._soft_limits, self._wrench)
        rate = node.value('state_rate')
        if not rate:
            return SampledLaw(law, limit, node.refuse)
        fault = limit.fault(1.0 / rate)
        if fault:
            raise ArgumentError(fault)
        return law

    def _leading(self) -> Leading | None:
        """Return the motion that leads the arm, else where it is held, or where it is if it has left that; or None."""
        follower, following = self.follower, self._following
        plan, stamp, state = follower.plan, follower.newest, following.state
        if state is None:
            return None
        measured, newest = state.q.copy(), state.time
        if plan is not None and plan.leads:
            reference, lag = self.desired.copy(), follower.stream_lag
            # the thread that follows may have written it meanwhile
            return Leading(reference, measured, newest, stamp if follower.newest == stamp else None, lag)
        reference = np.zeros_like(self.desired)
        if self._position.is_left(state.q):
            reference[:2] = state.q, state.qd
        else:
            reference[0] = following.led
        return Leading(reference, measured, newest, stamp)

    def _held_at(self, state: MeasuredState) -> np.ndarray | None:
        """Return where the joints are held; None where they have left it, and the frame has not."""
        position = self._position.at(state)
        return None if position is None or self._position.is_left(state.q) else position

    @property
    def state(self) -> MeasuredState | None:
        """The last state since the law began to follow, None for none."""
        return self._following.state

    def refuses_goals(self) -> str:
        """Return why an action can't have trajectories followed, '' where it can."""
        if self.fields['control law'] != 'pd_feedforward':
            return ''
        return 'control_law pd_feedforward: feedforward_node would not follow a goal; send it on joint_trajectory'

    def stopped(self) -> None:
        """Know that a stop has come: nothing is pushed any more."""
        self._wrench_input.end()

    def continue_from(self, before: 'ControllerLaw') -> None:
        """Hold the arm where ``before`` does, of another description, or where its trajectory came to rest."""
        self._position.continue_from(before._position)
        self._stiffness_input.continue_from(before._stiffness_input)
        self._wrench_input.continue_from(before._wrench_input)
        if self._soft_limits and before._soft_limits:
            self._soft_limits.continue_from(before._soft_limits)
        if self._wrench and before._wrench:
            self._wrench.continue_from(before._wrench)
        if self._place and before._place and before._place.is_guided:
            if self._frame == before._frame:
                self._place.continue_from(before._place)
            else:
                self._position.release()  # this frame was not guided there
        plan = before.follower.plan
        if plan is not None and plan.dropped is None and plan.leads and before.follower.rests:
            self._position.hold_at(before.desired[0])

    def unstable(self, period: float, age: float) -> str:
        """Return why gains are unstable with joint states of a ``period`` and an ``age`` (s), '' if they are not."""
        return '' if self._limit is None else self._limit.fault(period) or self._limit.contradiction(period, age)

    def report(self) -> dict[str, str]:
        """Return the fields of the diagnostics that change."""
        adapted = self._adaptation.report() if self._adaptation else {}
        pushed = zip(self._arm.robot.joint_names, self._soft_limits.push, strict=True) if self._soft_limits else ()
        return {
            **self._position.report(),
            **self.feedforward.report(),
            **self.target_poses.report(),
            **self._stiffness_input.report(),
            **self._wrench_input.report(),
            'joints at a soft limit': ' '.join(name for name, torque in pushed if torque),
            **adapted,
        }

    def warnings(self) -> list[str]:
        """Return what is wrong with the feedforward torque, the estimate, or the stiffness that is wanted."""
        return [*filter(None, [self._unused, self._loose]), *self._warnings_of_law()]

    def _warnings_of_law(self) -> list[str]:
        if self._adaptation:
            return self._adaptation.warnings()
        if self._stiffness:
            return self._stiffness_input.warnings() + self._wrench_input.warnings()
        if self._singular:
            return [*filter(None, [self._singular.warning()])]
        if self.fields['control law'] != 'pd_feedforward':
            return []
        return self.feedforward.warnings() + self._held.warnings(self.feedforward.producers.nodes)

    def _fixed(self, name: str, gains) -> tuple[PayloadBlender, PayloadBlender, PeriodLimit]:
        """Return a law of ``JointSpaceControl``, the law that holds, and the limit of their gains."""
        arm, bandwidth, terms = self._arm, self._node.value('bandwidth'), self._arm.policy.terms
        return (
            arm.blended(lambda robot: JointSpaceControl(robot, name, *gains, bandwidth, terms)),
            arm.blended(lambda robot: Hold(robot, *gains, terms)),
            self._limit_of(gains, bandwidth=bandwidth if name == 'computed_torque' else 0.0),
        )

    def _limit_of(self, gains, **more: float) -> PeriodLimit:
        """Return the limit of gains of the joints."""
        return self._kept((*map(tuple, gains), *more.items()), lambda: SamplingLimit(self._arm.robot, *gains, **more))

    def _kept(self, stated: tuple, search: Callable[[], PeriodLimit]) -> PeriodLimit:
        """Return the limit of what is stated, that of configuration at activation, too: a search may take seconds."""
        if self._judged is None or self._judged[0] != stated:
            self._judged = stated, search()
        return self._judged[1]

    def _values(self) -> tuple:
        """Return the values of all parameters: an impedance, and what leads a frame, are made of many."""
        return tuple(self._node.value(it.name) for it in definitions_of('torque_controller'))

    def _cartesian(self, name: str, gains) -> tuple[PayloadBlender, PayloadBlender, PeriodLimit]:
        """Return the laws of a Cartesian impedance, and the limit of its stiffness and damping."""
        arm, terms = self._arm, self._arm.policy.terms
        impedance, self._soft_limits, self._wrench, stiffness, self._loose = stated_impedance(
            arm.robot, self._node.value
        )
        self._stiffness, self._farthest = stiffness, impedance.farthest
        place = self._place = HeldPose(stiffness, arm.robot.nv, impedance.reference_frame == 'local')
        return (
            arm.blended(lambda robot: CartesianImpedance(robot, impedance, terms, stiffness, place)),
            arm.blended(lambda robot: CartesianHold(robot, impedance, terms, stiffness, place)),
            self._kept(self._values(), lambda: ImpedanceLimit(arm.robot, impedance)),
        )

    def _operational_space(self, name: str, gains) -> tuple[PayloadBlender, PayloadBlender, PeriodLimit]:
        """Return the laws of operational-space control, and the limit of its bandwidth and posture."""
        arm, terms = self._arm, self._arm.policy.terms
        settings = stated_operational_space(arm.robot, self._node.value)
        self._farthest, self._loose = settings.farthest, warning_of_posture(arm.robot, settings.posture_damping)
        singular = self._singular = SingularDirections(arm.robot, settings)
        return (
            arm.blended(lambda robot: OperationalSpaceControl(robot, settings, terms, singular.light, arm.robot)),
            arm.blended(lambda robot: OperationalSpaceHold(robot, settings, terms, singular.light, arm.robot)),
            self._kept(self._values(), lambda: OperationalSpaceLimit(arm.robot, settings)),
        )

    def _stated_for_impedance(self, name: str) -> str:
        """Return the warning of parameters that are stated and only cartesian_impedance uses, '' for none."""
        defaults = {found.name: found.default for found in definitions_of('torque_controller')}
        stated = [it for it in OF_IMPEDANCE_ALONE if not np.array_equal(self._node.value(it), defaults[it])]
        return f'control_law {name} does not use {", ".join(stated)}: only {IMPEDANCE} does' if stated else ''

    def _speed(self) -> tuple[float, float]:
        """Return the speed limits of translation (m/s) and rotation (rad/s)."""
        return self._node.value('translational_speed_limit'), self._node.value('rotational_speed_limit')

    def _axes(self) -> str:
        """Return the frame whose axes the stiffness has."""
        names = self._arm.robot.link_names
        return self._frame if self._node.value('reference_frame') == 'local' else names[0]

    def _adaptive(self, name: str, gains) -> tuple[PayloadBlender, PayloadBlender, PeriodLimit]:
        """Return likewise those of the adaptive law, which begin at the payload in force."""
        node, arm, terms = self._node, self._arm, self._arm.policy.terms
        settings = AdaptiveSettings(
            node.value('adaptation_payload_limit'),
            node.value('adaptation_rate'),
            node.value('friction_adaptation_rate'),
            node.value('adaptation_dead_zone'),
        )
        adaptation = self._adaptation = Adaptation(arm.robot, *gains, settings, arm.effort_limit, terms)
        arm.payload_gravity.follow(adaptation.take)
        return (
            arm.blended(lambda robot: AdaptiveControl(robot, gains[1], adaptation)),
            arm.blended(lambda robot: AdaptiveHold(robot, gains[1], adaptation)),
            self._limit_of(gains, reference_rate=float(adaptation.rate.max())),
        )
