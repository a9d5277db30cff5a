"""The arm of a description for the demo, completed by what a simulation needs and the description lacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from robot_dynamics_ros.control.arm.described_arm import check_joint_kinds, described, locked_positions, part_of
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, following_mimics
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.mimic_joints import with_followers
from robot_dynamics_ros.control.guards.torque_limiter import effort_limits
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.description import found_description
from robot_dynamics_ros.formats.xacro import xacro_arguments
from robot_dynamics_ros.model.audit import AFFECTED, refusals
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.model.limbs import limbs, tip_arguments
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import option_value
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.demonstration.assumed_rotors import assumed_rotor_inertia

RATE = 500.0
"""Of joint_states, Hz."""
MODEL, PARAMETERS = 'arm.yaml', 'parameters.yaml'
SIMULATION = {'rate': RATE, 'command_timeout': 5.0, 'longest_delay': 1.0 / RATE}
"""Of simulated_arm: its time stands still on a busy machine; without friction a late torque makes an arm unstable."""
CONTROL = {'await_payload_gravity': False, 'age_limit': 3600.0}
"""Of nodes with torques: no dynamics_server is started, and states whose time has stood still are not old."""
DESCRIPTION = {
    'base_link': ('', "first link of the arm; '': that of the description"),
    'tip_link': ('', "last link of the arm; '': those of the description"),
    'locked_joints': ('', "joints to lock, such as a gripper's: 'joint: position, ...' in rad, m"),
    'loops': ('', 'path of a loops file: what closes the loops of a URDF that is cut to a tree'),
    'gravity': ('', "in the frame of base_link, m/s^2: 'x, y, z'; '': (0, 0, -9.81) in that of the description's root"),
    'actuators': ('', 'path of an actuator file with rotor inertias and friction'),
    'xacro_args': ('', "arguments of a xacro file: 'name:=value ...'"),
    'effort_limit': ('', 'effort limits in N m, one for all joints or one for each with commas between; .inf: none'),
}
"""Arguments that say which arm of a description it is: default and meaning, for command line and launch file."""


@dataclass(frozen=True)
class CompletedArm:
    """An arm that is complete; ``notes`` say what its description lacks and what is used instead."""

    robot: Robot | DrivenRobot
    effort_limit: np.ndarray  # (n,) N m or N, inf: none
    notes: tuple[str, ...]
    model: str  # by Robot.to_yaml

    def write_nodes(self, folder: Path, parameters: Mapping[str, dict]) -> Path:
        """Write the model, and the parameters of each node, into ``folder``; return the parameter file."""
        folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath(MODEL).write_text(self.model, encoding='utf-8')
        of_nodes = {'/**': {'model': str(folder / MODEL)}} | {f'/**/{node}': it for node, it in parameters.items()}
        texts = {node: {'ros__parameters': values} for node, values in of_nodes.items()}
        path = folder / PARAMETERS
        path.write_text(yaml.safe_dump(texts, sort_keys=False), encoding='utf-8')
        return path


def completed_arm(
    description: str,
    base_link: str = '',
    tip_link: str = '',
    locked_joints=(),
    loops: str = '',
    actuators: str = '',
    xacro_args: str = '',
    effort_limit=(0.0,),
    gravity=None,
) -> CompletedArm:
    """Return the arm of a description, with what it lacks.

    Parameters
    ----------
    description : str
        Path of a URDF, xacro, SDF, MJCF or YAML file, URDF text, or the name of a robot of the package or of
        robot_descriptions.
    base_link, tip_link : str
        First and last link of the arm; '': those of the description.
    locked_joints : sequence of str
        'joint: position' each (rad, m).
    loops : str
        Path of a loops file; '': none.
    actuators : str
        Path of an actuator file; '': none.
    xacro_args : str
        'name:=value ...' for a xacro file.
    effort_limit : sequence of float
        As the parameter of the torque nodes, N m; a joint of which none is known has none in the simulation.
    gravity : sequence of float, optional
        In the frame of ``base_link``, m/s^2. Default: that of the description.

    Returns
    -------
    CompletedArm

    Raises
    ------
    DynamicsError
        Naming the missing part of the description, or the arguments that select one arm of it.
    """
    tree, couplings = described(found_description(description, xacro_arguments(xacro_args)), loops)
    if not tree.loops.actuated:
        check_tree(tree.model, 'demo')
    if actuators:
        tree = tree.with_actuators(actuators)
    locked = with_followers(couplings, locked_positions(locked_joints))
    tree = part_of(tree if gravity is None else tree.with_gravity(gravity), locked, base_link, tip_link, gravity)
    if not tree.nv:
        raise ModelError(f'{tree.name}: no joint moves')
    if not tree.loops.actuated:
        check_joint_kinds(tree)
        _check_one_limb(tree)
    notes = []
    tree, corrected = _with_possible_inertias(tree)
    notes += corrected
    couplings = [it for it in couplings if {it.joint, it.other} <= set(tree.joint_names)]
    robot = _driven(tree, couplings)
    limit = effort_limits(effort_limit, _known_effort(robot), robot.joint_names)
    geared = robot if tree.loops.actuated else tree
    effort = _known_effort(geared)
    effort[[geared.joint_names.index(name) for name in robot.joint_names]] = limit
    assumed = assumed_rotor_inertia(geared, effort)
    if assumed:
        stated = {joint.name: joint.rotor for joint in tree.model.joints}
        tree = tree.with_actuators({'rotor_inertia': stated | assumed})
        robot = _driven(tree, couplings)
        notes.append(
            'rotor inertias that the description lacks, assumed for arm and model (kg m^2, kg): '
            + ', '.join(f'{name} {inertia:g}' for name, inertia in assumed.items())
        )
    notes += [f'joint {it.joint!r} follows {it.other!r}' for it in couplings]
    if tree.loops.actuated:
        notes.append(f'joints with a motor, which move the others by closed loops: {", ".join(robot.joint_names)}')
    unlimited = [name for name, value in zip(robot.joint_names, limit, strict=True) if np.isinf(value)]
    if unlimited:
        notes.append(f'joints without an effort limit: {", ".join(unlimited)}')
    whole = tree.with_loops(couplings) if couplings else tree
    return CompletedArm(robot, limit, tuple(notes), whole.to_yaml())


def _driven(tree: Robot, couplings: Sequence[Coupling]) -> Robot | DrivenRobot:
    """Return a robot in the coordinates of the joints that have a motor."""
    if tree.loops.actuated:
        return DrivenRobot(tree.with_loops([]), ClosedMechanism(tree, tree.loops.actuated))
    return following_mimics(tree, couplings)


def _known_effort(robot: Robot | DrivenRobot) -> np.ndarray:
    """Return the effort limits (n,) of a robot, N m or N, inf where none is known."""
    return np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)


def description_of(given: Mapping[str, str]) -> dict:
    """Return the keyword arguments of ``completed_arm`` for texts of ``DESCRIPTION``; ArgumentError for no number."""
    texts = {name: given[name] for name in DESCRIPTION}
    unstated = {'locked_joints': [''], 'effort_limit': [0.0], 'gravity': None}
    stated = {name: option_value(name, texts[name]) if texts[name] else unstated[name] for name in unstated}
    return {**texts, **stated}


def _check_one_limb(robot: Robot) -> None:
    """Refuse several arms, legs or fingers: ModelError says how to choose one."""
    found = limbs(robot.model)
    if len(found) > 1:
        raise ModelError(
            f'{robot.name}: it has {len(found)} limbs (arms, legs or fingers of several joints), and the demo moves'
            f' one: {tip_arguments(robot.model)}; where they are branches of a mechanism, state its loops (loops)'
        )


def _with_possible_inertias(robot: Robot) -> tuple[Robot, list[str]]:
    """Return the robot with inertias that bodies can have, and what was corrected; ModelError for what is missing."""
    notes = []
    corrected = robot.with_consistent_inertias()  # MuJoCo refuses what is wrong by rounding, too
    if corrected.digest != robot.digest:
        robot = corrected
        notes.append('inertias that no body has are replaced by the nearest ones of a body (check_model lists them)')
    wrong = refusals(robot.findings, AFFECTED)
    if wrong:
        raise ModelError(
            f'{robot.name}: {wrong[0]}; the demo needs masses and inertias of all moving links: add them, or choose a'
            ' part with base_link, tip_link and locked_joints'
        )
    return robot, notes
