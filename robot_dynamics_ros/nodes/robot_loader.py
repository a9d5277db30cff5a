"""Loads the robot that a node's parameters describe."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.driven_robot import DrivenRobot, with_followers
from robot_dynamics_ros.control.locked_joints import LockedJoints
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.formats.description import urdf_of_description
from robot_dynamics_ros.model.audit import refusals
from robot_dynamics_ros.model.equality import same_model
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.limbs import tip_arguments
from robot_dynamics_ros.model.loop_types import Coupling
from robot_dynamics_ros.robot import Robot

NO_ROBOT = (
    "no robot: set the parameter model (path of a URDF, MJCF or YAML file, or a bundled robot's name),"
    ' robot_description (URDF as text) or description_topic (topic with that text, such as robot_description)'
)

MEASURED = 'measured'
"""In locked_joints: the joint is locked where joint_states say that it is."""


def load_robot(node, description: str) -> Robot | DrivenRobot:
    """Return the robot of ``description``, see ``RobotDescription.source``, as the parameters of ``node`` say.

    Joints are locked first, so what moves with them keeps its mass; then the chain is cut out. Joints that mimic others
    follow them; they and the locked ones are ``node.locked_joint_names``. A node that reads joint states also gets
    ``locked_joints``, to compare them. The findings of the model check are logged, and an error that affects what the
    node computes is refused, unless model_findings accepts it. DynamicsError names the parameter, joint or link that is
    wrong.
    """
    robot, couplings = described(description, keeps_loops=node.serves_loops)
    if node.value('actuators'):
        robot = robot.with_actuators(node.value('actuators'))
    gravity = stated_gravity(node.value('gravity'), node.value('gravity_limit'))
    if gravity is not None:
        robot = robot.with_gravity(gravity)
    stated = locked_positions(node.value('locked_joints'))
    measured = _measured_joints(node, robot, stated)
    couplings = [it for it in couplings if it.joint not in measured]
    locked = with_followers(couplings, {joint: place for joint, place in stated.items() if joint not in measured})
    followers = [it.joint for it in couplings if it.joint not in locked]
    node.locked_joint_names = *locked, *followers, *(measured if node.reads_joint_states else ())
    whole, robot = robot, part_of(robot, locked, node.value('base_link'), node.value('tip_link'), gravity)
    _check_kept(robot, measured)
    check_gravity(robot.gravity, node.value('gravity_limit'))
    _check_findings(node, robot)
    if not robot.nv:
        raise ModelError(f'{robot.name}: no joint moves')
    check_joint_kinds(robot)
    couplings = [it for it in couplings if it.joint in robot.joint_names and it.other in robot.joint_names]
    if not node.reads_joint_states:
        return _following(node, robot, couplings) if couplings else robot
    couplings += [Coupling(joint, None, (0.0,)) for joint in measured]
    arm = _following(node, robot, couplings, measured) if couplings else robot
    compared = {} if whole.loops.closures else locked  # nodes that read joint states refuse closed loops
    node.locked_joints = LockedJoints(whole, compared, arm.joint_names, node.value('locked_joint_tolerance'))
    return arm


def same_robot(one: Robot | DrivenRobot, other: Robot | DrivenRobot) -> bool:
    """Return whether two robots, without payload, are the same in all that a node computes with."""
    couplings = [getattr(robot, 'couplings', ()) for robot in (one, other)]
    return (
        same_model(one.model, other.model)
        and np.array_equal(one.gravity, other.gravity)
        and couplings[0] == couplings[1]
    )


def described(description: str, keeps_loops: bool = False) -> tuple[Robot, Sequence[Coupling]]:
    """Return the robot of ``description`` as a tree of joints, and the couplings of its mimic joints.

    A robot with closures keeps its loops, as does one with couplings, other than <mimic>, for a node that
    ``keeps_loops``. Joints whose <mimic> is wrong, such as one that names no joint, are joints of their own; a finding
    says so.
    """
    robot = Robot.from_description(description, mimic='couple')
    couplings = robot.loops.couplings
    if robot.loops.closures or (keeps_loops and urdf_of_description(description) is None):
        return robot, ()
    return robot.with_loops([]) if couplings else robot, couplings


def _following(node, robot: Robot, couplings: Sequence[Coupling], measured: Sequence[str] = ()) -> DrivenRobot:
    """Return ``robot`` with its joints that mimic others, and ``measured`` ones, as followers, and log them."""
    for it in couplings:
        offset, multiplier = (*it.polynomial, 0.0)[:2]
        how = (
            'is locked where joint_states say'
            if it.joint in measured
            else f'follows {it.other!r} (multiplier {multiplier:g}, offset {offset:g}): its torque counts at that '
            'joint, and it gets no command'
        )
        node.robot_log.info(f'{robot.name}: joint {it.joint!r} {how}')
    return DrivenRobot(robot, couplings, measured)


def _measured_joints(node, robot: Robot, stated: Mapping[str, float]) -> list[str]:
    """Return the joints of locked_joints that are ``stated`` as measured (NaN), or refuse them by name."""
    measured = [joint for joint, place in stated.items() if math.isnan(place)]
    for joint in measured:
        if joint not in robot.joint_names:
            raise ArgumentError(f'locked_joints: unknown joint {joint!r}; the robot has {", ".join(robot.joint_names)}')
        if not (node.reads_joint_states or node.serves_loops):
            raise ArgumentError(
                f'locked_joints: joint {joint!r} is {MEASURED!r}, but this node reads no joint_states: state a position'
            )
    return measured


def _check_kept(robot: Robot, measured: Sequence[str]) -> None:
    """Refuse ``measured`` joints that are not part of ``robot``, which would lose their mass and turn gravity."""
    for joint in measured:
        if joint not in robot.joint_names:
            raise ArgumentError(
                f'locked_joints: joint {joint!r} is {MEASURED!r}, but not between base_link and tip_link: begin at a '
                'link before it, end at one behind it, or state its position'
            )


def check_joint_kinds(robot: Robot) -> None:
    """Refuse joints of several degrees of freedom, such as that of a mobile or floating base; ModelError names one.

    The text says which links leave such joints out.
    """
    joint = next((joint for joint in robot.model.joints if KINDS[joint.kind].coordinates > 1), None)
    if joint is not None:
        part = tip_arguments(robot.model, joint.link) or 'base_link:=FIRST_LINK tip_link:=LAST_LINK'
        raise ModelError(
            f'{robot.name}: JointState has no place for joints of several degrees of freedom, and joint {joint.name!r}'
            f' is {joint.kind}; choose the arm: {part}, with the parameter gravity in the frame of base_link'
        )


def _check_findings(node, robot: Robot) -> None:
    """Log the findings of the model check; ModelError for an error that affects what ``node`` computes.

    With the parameter model_findings 'accept' all findings are warnings.
    """
    accepted = node.value('model_findings') == 'accept'
    wrong = [] if accepted else refusals(robot.findings, node.needs)
    for finding in robot.findings:
        if finding in wrong:
            node.robot_log.error(f'{robot.name}: {finding}')
        else:
            node.robot_log.warning(f'{robot.name}: {finding._replace(severity="warning")}')
    if wrong:
        correct = 'correct the description'
        if any(finding.affects == 'inertias' for finding in wrong):
            correct += ' (Robot.with_consistent_inertias() proposes inertias)'
        raise ModelError(
            f'{robot.name}: the model check found {len(wrong)} error(s), first {wrong[0]}; {correct}, or set the '
            'parameter model_findings to accept'
        )


class RobotDescription:
    """Where a node's robot is described: a topic, or the parameters robot_description and model."""

    def __init__(self, node, subscribe: Callable, redescribe: Callable[[], str]):
        """Subscribe to the topic that ``node``, a BaseNode, names in its parameter description_topic, if any.

        ``subscribe(topic, callback)`` is called for that: the type of its messages is one of ROS. ``redescribe()`` lets
        the configured node use ``source`` again, and returns why it refuses that.
        """
        self._node, self._redescribe = node, redescribe
        self._published: str | None = None  # nothing yet
        self.refused = ''  # why the newest description is not used, where the node goes on with another one
        # what a description does with an unconfigured node; None: somebody has cleaned it up
        self._on_description: Callable[[], object] | None = node.start if node.value('autostart') else None
        self._topic = node.value('description_topic')
        if self._topic:
            subscribe(self._topic, self.on_message)

    @property
    def awaited(self) -> str:
        """Why there is no description yet: its topic has published none; '' otherwise."""
        waits = self._topic and self._published is None
        return f'waiting for a robot description on topic {self._topic!r}' if waits else ''

    def source(self) -> str:
        """Return text or path of a URDF, path of an MJCF or YAML file, or a robot's name.

        ModelError where no parameter names a robot, or nothing came on the topic yet.
        """
        if self.awaited:
            raise ModelError(self.awaited)
        if self._topic and '<' not in (self._published or ''):
            # nobody on the graph names files that this process reads
            raise ModelError(f'topic {self._topic!r}: expected the text of a URDF, got {self._published!r:.80}')
        stated = self._published or self._node.value('robot_description') or self._node.value('model')
        if not stated:
            raise ModelError(NO_ROBOT)
        return stated

    def on_message(self, message) -> None:
        """Use a new description: a configured node does so at once, and stays active or inactive.

        One that it refuses is dropped. A node that could not be configured is started again.
        """
        node, before = self._node, self._published
        if message.data == before:
            return
        self._published = message.data
        if node.robot is None:
            if self._on_description is not None:
                self._on_description()
            return
        self.refused = self._redescribe()
        if self.refused:
            self._published = before
            node.get_logger().warning(self.warnings()[0])

    def on_cleanup(self) -> None:
        """Ignore later descriptions: the node stays unconfigured."""
        self._on_description = None

    def warnings(self) -> list[str]:
        """Return that the newest description is refused, and why."""
        return [f'robot description refused, the robot before stays: {self.refused}'] if self.refused else []


def stated_gravity(vector, limit: float) -> np.ndarray | None:
    """Return the parameter gravity (3, m/s^2, frame of base_link), None for [0.0]: it is not stated; or refuse it."""
    if list(vector) == [0.0]:
        return None
    check_gravity(vector, limit)
    return np.array(vector)


def check_gravity(vector, limit: float) -> None:
    """Refuse gravity (3, m/s^2) that is not finite, or larger than the parameter gravity_limit says (m/s^2)."""
    validation.finite('gravity', vector, (3,))
    size = float(np.linalg.norm(vector))
    if size > limit:
        raise ArgumentError(
            f'gravity: its magnitude of {size:g} m/s^2 is above the parameter gravity_limit, {limit:g} m/s^2'
        )


def locked_positions(entries) -> dict[str, float]:
    """Return position (rad, m) by joint of entries like 'finger_joint: 0.02', blank ones left out; NaN for 'measured'.

    ArgumentError names the entry or joint that is wrong.
    """
    positions: dict[str, float] = {}
    for entry in entries:
        if not entry.strip():
            continue
        joint, colon, text = (part.strip() for part in entry.rpartition(':'))
        if not (joint and colon):
            raise ArgumentError(f"locked_joints: expected 'joint: position', got {entry!r:.80}")
        try:
            position = math.nan if text == MEASURED else float(text)
        except ValueError:
            position = math.inf
        if not math.isfinite(position) and text != MEASURED:
            raise ArgumentError(
                f'locked_joints: joint {joint!r}: expected a finite position or {MEASURED!r}, got {text!r:.40}'
            )
        if joint in positions:
            raise ArgumentError(f'locked_joints: joint {joint!r} is given twice')
        positions[joint] = position
    return positions


def part_of(robot: Robot, locked: dict[str, float], base_link: str, tip_link: str, gravity) -> Robot:
    """Return ``robot`` with locked joints, and of it the chain between two links ('': its own base, every tip).

    ``gravity`` (3, m/s^2, frame of ``base_link``) is None where it is that of the description.
    """
    if locked:
        try:
            robot = robot.with_locked_joints(locked)
        except DynamicsError as error:
            raise ArgumentError(f'locked_joints: {error}') from error
    if base_link or tip_link:
        try:
            robot = robot.chain(base_link or None, tip_link or None, gravity)
        except DynamicsError as error:
            raise ArgumentError(f'base_link {base_link!r}, tip_link {tip_link!r}: {error}') from error
    return robot
