"""Check a robot description: findings, gravity torques against effort limits, inertias against shapes, closed loops.

Exit status: 0 where every node accepts the robot, 1 where one refuses it or the description cannot be read.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import yaml

from robot_dynamics_ros.control.arm.described_arm import described
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.loop_check import (
    effective_mobility,
    loop_rows,
    motor_findings,
    opening_findings,
)
from robot_dynamics_ros.control.arm.locked_joints import LockedJoints
from robot_dynamics_ros.control.arm.mechanism_check import (
    cusp_findings,
    friction_findings,
    spring_findings,
    stuck_findings,
    turn_findings,
)
from robot_dynamics_ros.control.arm.static_torque import largest_static_torque
from robot_dynamics_ros.control.guards.torque_limiter import effort_limits
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.formats.description import inertials_of_description, urdf_of_description
from robot_dynamics_ros.formats.urdf import Inertial, joints_without_motor
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.model.closed_loops.open_loops import joints_without_effort, planar_branches
from robot_dynamics_ros.model.consistent_inertias import eigenvalues
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.model import Finding, Model
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import check_names, definitions_of, groups_by_node
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot, where_measured
from robot_dynamics_ros.nodes.lifecycle.robot_requirements import requirements_of
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.figures.link_boxes import LinkBox, boxes_of, check_box
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import add_xacro_option, stated_description

COMMAND = 'robot_dynamics_check_model'
NEARLY_ALIGNED = 2.0
"""Degrees: an axis that is less off a coordinate axis, but not along it, may be rounded."""
ALIGNED = 1e-7
"""Largest other component of an axis that is along a coordinate axis: rounding of printed angles."""

ROUNDING = 1e-12
"""Of the largest torque; rad or m of an open loop: a smaller one is shown as 0."""

PLACEHOLDER, WEIGHTLESS = 25.0, 1e3
"""Of the largest gravity torque: effort limits of arms are 1 to 20 times that; beyond the first they are placeholders,
beyond the second the joints carry no weight."""
OF_AN_ARM = 4
"""Hinges in series: legs and modules have fewer, and their motors bear more than their own weight. Limits of the legs
of four quadrupeds, which are the motors', are 28 to 32 times the largest gravity torque."""

OF_AUBO = 'reads an AUBO controller'


class StandIn:
    """As much of the node ``name`` as loading its robot needs, with its parameters."""

    def __init__(self, name: str, parameters: dict[str, Any]):
        self.needs, self.serves_loops, self.reads_joint_states = requirements_of(name)
        self.locked_joint_names: tuple[str, ...] = ()
        self.locked_joints: LockedJoints | None = None
        self._values = {found.name: found.default for found in definitions_of(name)}
        self._values.update(parameters)
        self.robot_log = SimpleNamespace(error=_drop, warning=_drop, info=_drop)  # findings are in the table

    def value(self, name: str):
        """Return a parameter's value."""
        return self._values[name]


class Verdict(NamedTuple):
    """What a node does with a robot."""

    refusal: str  # why it refuses to be configured; '' where it does not
    note: str = ''  # its other input, and how it computes with loops


def main(arguments=None) -> None:
    """Print the tables; exit with 1 where a node refuses the robot."""
    options = _parser().parse_args(arguments)
    with reported_errors(COMMAND):
        parameters = dict(_parameter(text) for text in options.parameter)
        if options.loops:
            parameters['loops'] = options.loops
        check_names(parameters)
        accepting = {**parameters, 'model_findings': 'accept'}
        options.robot = stated_description(options)
        robot = _loaded(accepting, options.robot)
        mechanism = _mechanism(robot)
        verdicts = {name: verdict(name, parameters, options.robot) for name in groups_by_node()}
        print(report(robot, mechanism, options.robot, verdicts))
    sys.exit(1 if any(it.refusal for it in verdicts.values()) else 0)


def verdict(name: str, parameters: dict[str, Any], description: str) -> Verdict:
    """Return whether the node ``name`` refuses the robot of ``description``, and what it does with its loops."""
    node = StandIn(name, parameters)
    try:
        robot = load_robot(node, description)
        if not node.serves_loops:
            check_tree(robot.model, name)
        if 'limited_nodes' in groups_by_node()[name]:
            effort_limits(node.value('effort_limit'), robot.limits.effort, robot.joint_names)
        if name == 'simulated_arm':
            _check_plant(robot)
    except DynamicsError as error:
        return Verdict(str(error))
    notes = [OF_AUBO] if name == 'aubo_node' else []
    if isinstance(robot, DrivenRobot) and robot.nv < robot.robot.nv:
        notes.append(f'computes with {robot.nv} of {robot.model.arrays.n} joints; the others follow them')
    elif robot.loops.all:
        notes.append(f'computes with all {robot.nv} joints; the loops act in its forward dynamics')
    return Verdict('', '; '.join(notes))


def _loaded(parameters: dict[str, Any], description: str) -> Robot | DrivenRobot:
    """Return the robot with which most nodes compute; where they refuse its closed loops, the one with all joints."""
    try:
        return load_robot(StandIn('gravity_compensation_node', parameters), description)
    except DynamicsError:
        robot, _ = described(description, parameters.get('loops', ''), keeps_loops=True)
        if not robot.loops.closures:
            raise
        return robot


def _mechanism(robot: Robot | DrivenRobot) -> Robot:
    """Return a robot with all its joints and loops."""
    if not isinstance(robot, DrivenRobot):
        return robot
    return robot.mechanism or robot.robot.with_loops(robot.couplings)


def _check_plant(robot: Robot | DrivenRobot) -> None:
    """Raise DynamicsError where simulated_arm cannot simulate the robot."""
    try:
        from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm  # noqa: PLC0415 - an extra of the package
    except ImportError:
        raise ArgumentError("it needs MuJoCo, which is not installed: pip install 'mujoco>=3.3'") from None
    MujocoArm(robot, 1e-3, robot.neutral())


def report(robot: Robot | DrivenRobot, mechanism: Robot, description: str, verdicts: dict[str, Verdict]) -> str:
    """Return all tables for ``robot``; ``mechanism`` has its loops, ``verdicts`` are those of nodes by name."""
    model = robot.model
    moving = sum(float(row[0]) for row in model.arrays.I[1:])
    x, y, z = robot.gravity
    title = (
        f'{robot.name}: {robot.nv} joints, {moving:.4g} kg moving on {model.link_names[0]!r}, '
        f'gravity {x:.4g}, {y:.4g}, {z:.4g} m/s^2'
    )
    boxes = boxes_of(description)
    inertials = _inertials(model, description)
    unknown = isinstance(robot, Robot) and robot.loops.all
    needed = np.full(robot.nv, np.nan) if unknown else largest_static_torque(robot).torque
    findings = [
        *robot.findings,
        *motor_findings(mechanism),
        *opening_findings(mechanism),
        *(() if isinstance(robot, Robot) else _on_mechanism(robot)),
        *planar_branches(mechanism.model),
        *_on_passive_joints(mechanism, description),
        *_on_torques(robot, needed),
        *_on_placeholders(robot, needed),
        *_on_axes(model),
        *(it for link, box in boxes.items() if link in inertials for it in check_box(link, inertials[link], box)),
    ]
    order = {'error': 0, 'warning': 1}
    rows = [(it.severity, it.where, it.message) for it in sorted(findings, key=lambda it: order[it.severity])]
    of_nodes = [(name, 'refused' if it.refusal else 'accepted', it.refusal or it.note) for name, it in verdicts.items()]
    of_loops = [] if not mechanism.loops.all else [_loop_table(mechanism)]
    parts = [
        title,
        _table('findings', ('severity', 'where', 'finding'), rows or [('', '', 'none')]),
        _table(
            'joints, N m and rad (prismatic: N and m); gravity torque: largest within the position limits'
            + _places(robot),
            ('joint', 'kind', 'axis', 'limits', 'effort limit', 'gravity torque', 'share'),
            _joint_rows(robot, needed),
        ),
        _table(
            'links: centre of mass, principal moments of inertia about it, box of the shapes; SI units',
            ('link', 'mass', 'centre', 'moments', 'box'),
            _link_rows(inertials, boxes),
        ),
        *of_loops,
        _table('nodes', ('node', 'robot is', 'because'), of_nodes),
    ]
    return '\n\n'.join(parts)


def _on_mechanism(robot: DrivenRobot) -> Iterable[Finding]:
    """Yield findings on how the joints of a robot follow its driven ones."""
    for find in (stuck_findings, cusp_findings, turn_findings, spring_findings, friction_findings):
        yield from find(robot)


def _loop_table(mechanism: Robot) -> str:
    """Return the table of loops."""
    freedom, motors = effective_mobility(mechanism), ', '.join(mechanism.loops.actuated)
    title = (
        f'loops; degrees of freedom that they leave: {"unknown" if freedom is None else freedom}; joints with a motor: '
        f'{motors or "none is named"}; open: largest error at position 0, or near, rad or m'
    )
    rows = [
        (
            row.name,
            row.kind,
            ', '.join(row.ends),
            str(row.constraints),
            _number(0.0 if row.opening < ROUNDING else row.opening),
            ', '.join(row.joints),
            ', '.join(row.actuated) or '-',
        )
        for row in loop_rows(mechanism)
    ]
    return _table(title, ('loop', 'kind', 'between', 'constraints', 'open', 'joints in it', 'with a motor'), rows)


def _joint_rows(robot: Robot | DrivenRobot, needed: np.ndarray) -> Iterable[Sequence[str]]:
    """Yield the row of each joint, followers of ``robot`` last."""
    joints = {joint.name: joint for joint in robot.model.joints}
    needed = np.where(needed < ROUNDING * needed.max(initial=0.0), 0.0, needed)
    velocities = _velocities(robot)
    for name in robot.joint_names:
        joint = joints[name]
        if name not in velocities:
            yield name, joint.kind, '-', '-', '-', '-', '-'
            continue
        torque, limit = needed[velocities[name]], float(robot.limits.effort[velocities[name]])
        share = f'{100.0 * torque / limit:.0f} %' if limit > 0.0 and np.isfinite(torque) else '-'
        limits = f'{_number(joint.lower)} .. {_number(joint.upper)}'
        yield name, joint.kind, _vector(joint.axis), limits, _number(limit), _number(torque), share
    if isinstance(robot, DrivenRobot):
        for coupling in robot.couplings:
            joint = joints[coupling.joint]
            stated = robot.following.stated.get(coupling.joint)
            where = f'follows {coupling.other}' if stated is None else where_measured(stated)
            yield coupling.joint, joint.kind, _vector(joint.axis), where, '-', '-', '-'


def _velocities(robot: Robot | DrivenRobot) -> dict[str, int]:
    """Return the place of each joint with one degree of freedom among the velocities."""
    if isinstance(robot, DrivenRobot):
        return {name: k for k, name in enumerate(robot.joint_names)}
    names = [robot.model.joint_of_velocity(k) for k in range(robot.nv)]
    return {name: names.index(name) for name in robot.joint_names if names.count(name) == 1}


def _places(robot: Robot | DrivenRobot) -> str:
    """Return where measured joints are for the gravity torques of the table, '' for no such joints."""
    measured = robot.following.stated if isinstance(robot, DrivenRobot) else {}
    places = (f'{joint} at {0.0 if np.isnan(place) else place:g}' for joint, place in measured.items())
    return f', with {", ".join(places)}' if measured else ''


def _link_rows(inertials: dict[str, Inertial], boxes: dict[str, LinkBox]) -> Iterable[Sequence[str]]:
    """Yield the row of each link that has a mass, an inertia or a shape."""
    for link, (mass, com, inertia) in inertials.items():
        box = _vector(boxes[link].edges) if link in boxes else '-'
        if mass or inertia.any() or link in boxes:
            yield link, _number(mass), _vector(com), _vector(sorted(eigenvalues(inertia)[0])), box


def _on_passive_joints(mechanism: Robot, description: str) -> Iterable[Finding]:
    """Yield a finding on joints that have no motor although others have, where no loop moves them.

    A URDF names motors, and effort limits where it names none.
    """
    urdf = urdf_of_description(description)
    if urdf is None or mechanism.loops.closures:
        return
    coupled = {coupling.joint for coupling in mechanism.loops.couplings}
    moving = [it for it in joints_without_motor(urdf) if it in mechanism.joint_names and it not in coupled]
    if not moving:
        yield from joints_without_effort(mechanism.model)
    else:
        message = (
            f'no <transmission> or command interface for {", ".join(moving)}, unlike for the other joints: where a '
            'loop moves them, state it in a loops file'
        )
        yield Finding('warning', f'robot {mechanism.name!r}', message)


def _on_torques(robot: Robot | DrivenRobot, needed: np.ndarray) -> Iterable[Finding]:
    """Yield findings on joints whose effort limit does not hold the arm everywhere."""
    for name, k in _velocities(robot).items():
        torque, limit = needed[k], robot.limits.effort[k]
        if limit > 0.0 and torque > limit:
            message = f'gravity needs {torque:.4g} N m (prismatic: N) at its worst, its effort limit is {limit:.4g}'
            yield Finding('warning', f'joint {name!r}', message)


def _on_placeholders(robot: Robot | DrivenRobot, needed: np.ndarray) -> Iterable[Finding]:
    """Yield a finding on effort limits of hinges that are far beyond what gravity needs at any of them.

    Nothing is said of a robot whose hinges carry no weight, such as those of a SCARA arm, and of one without
    ``OF_AN_ARM`` hinges in series.
    """
    arrays, names, kinds = robot.model.arrays, robot.model.joint_names, robot.model.joint_kinds
    hinges = {name: k for name, k in _velocities(robot).items() if kinds[names.index(name)] == 'revolute'}
    in_series = [0] * (arrays.n + 1)
    for i in range(1, arrays.n + 1):
        in_series[i] = in_series[arrays.parent[i]] + (kinds[i - 1] == 'revolute')
    if max(in_series) < OF_AN_ARM:
        return
    largest = max((float(needed[k]) for k in hinges.values()), default=0.0)
    limits = {name: float(robot.limits.effort[k]) for name, k in hinges.items()}
    found = [name for name, limit in limits.items() if PLACEHOLDER * largest < limit < WEIGHTLESS * largest]
    if found:
        stated = ', '.join(f'{name} {limits[name]:.4g}' for name in found)
        message = (
            f'effort limit of {stated} N m: gravity needs no more than '
            f'{largest:.4g} N m at any joint; a limit that limits nothing protects nothing'
        )
        yield Finding('warning', f'robot {robot.name!r}', message)


def _on_axes(model: Model) -> Iterable[Finding]:
    """Yield findings on axes that are nearly along a coordinate axis of their link."""
    for joint in model.joints:
        along = int(np.argmax(np.abs(joint.axis)))
        off = float(np.linalg.norm(np.delete(joint.axis, along)))
        degrees = np.degrees(np.arcsin(min(1.0, off)))
        if off > ALIGNED and degrees < NEARLY_ALIGNED:
            message = f'its axis {_vector(joint.axis)} is {degrees:.2g} degrees off {"xyz"[along]}: is it rounded?'
            yield Finding('warning', f'joint {joint.name!r}', message)


def _inertials(model: Model, description: str) -> dict[str, Inertial]:
    """Return inertials by link as written; in a YAML file, of bodies with what is fixed to them."""
    inertials = inertials_of_description(description)
    if inertials is None:
        rows = zip(model.link_names, model.arrays.I, strict=True)
        return {link: Inertial(*central_parameters(row)) for link, row in rows}
    return {link: it for link, it in inertials.items() if link in model.frames}


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as text, its last column not padded."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    text = ['  '.join(f'{cell:<{width}}' for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return '\n'.join([title, *(f'  {line}' for line in text)])


def _number(value: float) -> str:
    """Return a number, '-' where it is unknown."""
    return '-' if np.isnan(value) else f'{value:.4g}'


def _vector(values) -> str:
    """Return numbers separated by blanks."""
    return ' '.join(f'{value:.4g}' for value in values)


def _parameter(text: str) -> tuple[str, Any]:
    """Return name and value of 'name:=value'; ArgumentError for another form."""
    name, assigned, value = text.partition(':=')
    if not assigned:
        raise ArgumentError(f"-p: expected 'name:=value', got {text!r:.80}")
    kinds = {each.name: each.type for node in groups_by_node() for each in definitions_of(node)}
    kind, _, array = kinds.get(name, '').partition('_')
    try:
        found = yaml.safe_load(value)
        if array:
            found = found if isinstance(found, list) else [found]
            return name, [float(each) for each in found] if kind == 'double' else found
        return name, float(found) if kind == 'double' else found
    except (TypeError, ValueError, yaml.YAMLError):
        raise ArgumentError(f'-p: {name}: expected a {kinds.get(name)}, got {value!r:.80}') from None


def _drop(line: str) -> None:
    """Drop a line of the log."""


def _parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__.splitlines()[0])
    parser.add_argument(
        'robot',
        help='a robot of the package or of robot_descriptions, or the path of a URDF, xacro, SDF, MJCF or YAML file '
        '(by to_yaml)',
    )
    add_xacro_option(parser)
    parser.add_argument(
        '--loops', default='', metavar='FILE', help='loops file: what closes the loops of a URDF; as -p loops:=FILE'
    )
    parser.add_argument(
        '-p',
        '--parameter',
        action='append',
        default=[],
        metavar='NAME:=VALUE',
        help="a parameter of the nodes, such as base_link, tip_link, gravity or locked_joints:=['joint: 0.1']",
    )
    return parser


if __name__ == '__main__':
    main()
