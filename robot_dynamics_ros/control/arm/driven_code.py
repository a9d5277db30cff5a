"""Export of a robot whose other joints follow its driven ones as C99: functions of the driven joints alone.

They call the exported functions of all joints; for closed loops a loop in C finds the position as ``closed_mechanism``
does, with the same bits, from a memory of the caller's.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.functions import INPUTS, TEMPLATES, Addition, function_name
from robot_dynamics_ros.codegen.c.library import CommandedJoints, Library
from robot_dynamics_ros.codegen.c.loops import Kind, LoopCode
from robot_dynamics_ros.codegen.c.text import filled, identifier, number, numbers, string
from robot_dynamics_ros.control.arm.driven_matrices import (
    driven_jacobian,
    driven_mass_matrix,
    driven_mass_matrix_inverse,
)
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.closing_way import (
    NEAREST,
    PASSED,
    driven_torque,
    nearest_constraint,
    open_constraint,
    put_next,
    slow_constraint,
    way_between,
)
from robot_dynamics_ros.control.arm.following.following_joints import FollowingJoints
from robot_dynamics_ros.control.arm.following.joint_jumps import ENDLESS, NOISE, jumped_joint
from robot_dynamics_ros.control.arm.following.loop_solutions import FARTHEST, LONGEST, MOST_STEPS, STEPS
from robot_dynamics_ros.control.arm.following.mechanism_states import STEEPEST
from robot_dynamics_ros.control.joints.joint_friction import add_friction, add_passive_friction
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.described_robot import evaluator_of
from robot_dynamics_ros.robot.export.c_export import write_c
from robot_dynamics_ros.robot.export.c_library_export import controller_library

PROGRAMS = ('inverse_dynamics', 'gravity_torque', 'mass_matrix')
"""Quantities of driven joints in C, beside their whole torque."""
OF_FRAME = 'link_pose', 'jacobian', 'mass_matrix_inverse'
"""What a law of a frame reads of driven joints in C."""
CALL_STEPS = 8
"""Most steps of a way in one call in C: 0.16 rad. A call at a farther position fails, and the next one goes on."""
MEASURED_STEPS = 64
"""Likewise to a measured position, once one was accepted: farther ones come after a gap alone."""


def write_driven_c(robot: DrivenRobot, folder: str | Path, frame_law: FrameLawCode | None = None) -> list[Path]:
    """Write source, header and CMakeLists.txt of ``PROGRAMS``, of all joints and of driven ones; return the paths.

    With what a ``frame_law`` reads of the robot, if it is given. For closed loops the functions have a memory of the
    caller's. Errors are those of ``Robot.export_c``.
    """
    following, tree = robot.following, robot.robot
    others: list = []
    if isinstance(following, ClosedMechanism):
        others.append((evaluator_of(following.held), ('closing_step', 'driven_motion')))
    if following.has_springs:
        others.append((evaluator_of(following.mechanism or tree), ('spring_torque',)))
    if isinstance(following, ClosedMechanism):
        text = _mechanism(robot, following, frame_law)
    else:
        text = _mimic(robot, following, frame_law)
    of_frame = frame_law._replace(of_driven=True).programs if frame_law else ()
    programs = (*PROGRAMS, *(it for it in of_frame if it not in PROGRAMS))
    return write_c(evaluator_of(tree), robot.digest, folder, programs, Robot, others, text)


def driven_library(robot: DrivenRobot, frame_law: FrameLawCode | None = None) -> Library:
    """Return the content of the library of a robot for controllers, which command its driven joints alone.

    It has a law of a frame if that is given.
    """
    following = robot.following
    symbols = ['driven_joint_names', 'driven_torque', *(f'driven_{program}' for program in PROGRAMS)]
    symbols += ['spring_torque'] if following.has_springs else []
    home, rubbing = None, robot.passive_friction is not None
    if isinstance(following, ClosedMechanism):
        home = following.home
        symbols += ['constraint_loops', 'initial_memory', 'measure', 'closing_step', 'driven_motion']
        symbols += ['add_passive_friction'] if rubbing else []
    symbols += [f'driven_{it}' for it in OF_FRAME] if frame_law else []
    of_driven = robot.joint_names, robot.continuous_joints, robot.limits, robot.friction, following.gear
    joints = CommandedJoints(*of_driven, symbols, home, rubbing)
    # the digest of the nodes, which has the loops
    if frame_law is not None:
        frame_law = frame_law._replace(of_driven=True, has_loops=home is not None)
    return replace(controller_library(robot.robot, frame_law, driven=joints), digest=robot.digest)


def _words(robot: DrivenRobot) -> dict[str, str | int]:
    """Return the words of all templates."""
    prefix, arrays = identifier(robot.model.name, 'robot'), robot.model.arrays
    return {
        'prefix': prefix,
        'PREFIX': prefix.upper(),
        'driven': robot.nv,
        'coordinates': arrays.nq,
        'velocities': arrays.nv,
    }


def _names(words, robot: DrivenRobot) -> str:
    names = '\n'.join(f'    {string(name)},' for name in robot.joint_names)
    return filled(TEMPLATES / 'driven_names.c.in', **words, names=names).rstrip()


def _mimic(robot: DrivenRobot, mimic: FollowingJoints, frame_law: FrameLawCode | None) -> Addition:
    """Return the functions of a robot with mimic joints."""
    words, n = _words(robot), robot.robot.nv
    code = LoopCode()
    code.function(driven_torque, ((robot.nv, n), (n,), (robot.nv,)))
    whole_torque = _whole_torque(words, robot, code)
    position = f'    double q[{words["coordinates"]}];\n    followed_positions(y, q);\n'
    of_position = _of_position(words, frame_law, code, position, ('q', 'driven_rows'))
    at_zero = mimic.motion(np.zeros(robot.nv)).q  # the offsets
    leaders = [int(np.argmax(row != 0.0)) for row in mimic.constant_G]
    slopes = [float(row[k]) for row, k in zip(mimic.constant_G, leaders, strict=True)]
    followed = [f'[{i}] = {number(slope)} * ' for i, slope in enumerate(slopes)]
    header = filled(
        TEMPLATES / 'driven.h.in',
        **words,
        how='at a multiple of the position of one of them, plus an offset',
        memory='',
        about_memory='',
        argument='',
    )
    source = filled(
        TEMPLATES / 'mimic.c.in',
        **words,
        arithmetic=code.text,
        driven_names=_names(words, robot),
        size=robot.nv * n,
        rows=numbers(mimic.constant_G.T.ravel()),
        positions='\n'.join(
            f'    q{text}y[{k}] + {number(float(offset))};'
            for text, k, offset in zip(followed, leaders, at_zero, strict=True)
        ),
        rates='\n'.join(f'    qd{text}yd[{k}] + 0.0;' for text, k in zip(followed, leaders, strict=True)),
        whole_torque=whole_torque,
        springs=_springs(words, 'q', 'rest', 'return false;') if mimic.has_springs else '',
    )
    return Addition((header + of_position.header).rstrip(), (source + of_position.source).rstrip())


def _mechanism(robot: DrivenRobot, mechanism: ClosedMechanism, frame_law: FrameLawCode | None) -> Addition:
    """Return the functions of a robot with closed loops."""
    words, m, nv = _words(robot), robot.nv, robot.robot.nv
    arithmetic, home = mechanism.arithmetic, mechanism.at_home
    constraints = len(arithmetic.units)
    closing, way = robot.robot.nq + 2 * constraints, 2 * m + 1
    code = LoopCode()
    kinds_of: dict[Any, tuple[Kind, ...]] = {
        way_between: ((m,), (m,), (m,), (m,), (way,)),
        put_next: (int, (m,), (way,), (1,), (), (constraints,)),
        open_constraint: ((constraints,), (closing,)),
        slow_constraint: ((constraints,), (closing,), (closing,)),
        nearest_constraint: ((constraints,), (1,), (closing,)),
        jumped_joint: (*((m,),) * 18, (3,), (m,), (m,), ()),
        driven_torque: ((m, nv), (nv,), (m,)),
    }
    for function, kinds in kinds_of.items():
        code.function(function, kinds)
    whole_torque = _whole_torque(words, robot, code, f'{words["prefix"]}_memory *memory, ')
    words |= {
        'constraints': constraints,
        'call_steps': CALL_STEPS,
        'measured_steps': MEASURED_STEPS,
        'longest': number(LONGEST),
        'argument': f'{words["prefix"]}_memory *memory, ',
    }
    about_memory = ' * memory: Its position y becomes the last one.\n'
    position = f'    const {words["prefix"]}_position *const at = position_at(y, memory);\n'
    position += '    if (!at) {\n        return false;\n    }\n'
    of_position = _of_position(words, frame_law, code, position, ('at->q', 'at->G'), about_memory)
    header = filled(
        TEMPLATES / 'driven.h.in',
        **words,
        how='closed loops fix them',
        memory=filled(TEMPLATES / 'mechanism.h.in', **words),
        about_memory=about_memory,
    )
    fields = np.split(evaluator_of(mechanism.held).inputs, np.cumsum([*INPUTS.values()])[:-1])
    rows = mechanism.constant_couplings
    fails = f'return fails(memory, {words["PREFIX"]}_NOT_FINITE, 0);'
    source = filled(
        TEMPLATES / 'mechanism.c.in',
        **words,
        arithmetic=code.text,
        driven_names=_names(words, robot),
        loops='\n'.join(f'    {string(mechanism.name_of(k))},' for k in range(constraints)),
        home=numbers(home.y),
        q=numbers(home.q),
        G=numbers(home.G.T.ravel()),
        inputs='\n'.join(f'    {{{numbers(field)}}},' for field in fields),
        turn=numbers(arithmetic.turn),
        unit=numbers(arithmetic.jump_unit),
        exact=numbers(arithmetic.exact),
        noise=numbers(NOISE * arithmetic.exact),
        unit_of_ways=numbers(arithmetic.unit),
        endless=number(ENDLESS),
        steepest=number(STEEPEST),
        longest_steps=numbers(arithmetic.longest),
        fastest=numbers(arithmetic.fastest),
        units=numbers(arithmetic.units),
        references=numbers(arithmetic.references),
        nearest=number(NEAREST),
        passed=number(PASSED),
        distance=number(home.distance),
        closing=closing,
        way=way,
        motion=(rows + 2) * nv,
        own=(rows - m) * nv,
        row_of_qd=rows * nv,
        first=constraints - m,
        most_steps=MOST_STEPS,
        least_steps=STEPS,
        farthest=number(float(FARTHEST)),
        whole_torque=whole_torque,
        springs_at_rest=_springs(words, 'at->q', 'rest', fails) if mechanism.has_springs else '',
        springs_in_motion=_springs(words, 'at->q', 'qd', fails) if mechanism.has_springs else '',
    )
    if robot.passive_friction is not None:
        header += filled(TEMPLATES / 'passive_friction.h.in', **words)
    return Addition((header + of_position.header).rstrip(), (source + of_position.source).rstrip())


def _of_position(
    words,
    frame_law: FrameLawCode | None,
    code: LoopCode,
    position: str,
    found: tuple[str, str],
    about_memory: str = '',
) -> Addition:
    """Return the function of the mass matrix, and those that a law of a frame reads, if there is one.

    The lines of ``position`` find the positions of all joints and G, whose names are ``found``.
    """
    m, n, prefix = words['driven'], words['velocities'], words['prefix']
    matrices: tuple[Kind, ...] = ((n, m), (m, n), (n, n), (m, m))
    code.function(driven_mass_matrix, matrices)
    names = ['driven_mass_matrix']
    texts = {'argument': '', **words, 'position': position, 'q': found[0], 'G': found[1], 'about_memory': about_memory}
    if frame_law is not None:
        code.function(driven_jacobian, ((m, n), (6, n), (6, m)))
        code.function(driven_mass_matrix_inverse, matrices)
        names.append('driven_frame')
        texts['link_pose'] = function_name(prefix, 'link_pose', frame_law.frame)
        texts['jacobian'] = function_name(prefix, 'jacobian', frame_law.frame, frame_law.reference_frame)
    header, source = (''.join(filled(TEMPLATES / f'{it}.{end}.in', **texts) for it in names) for end in 'hc')
    return Addition(header, source)


def _whole_torque(words, robot: DrivenRobot, code: LoopCode, argument: str = '') -> str:
    """Return the function of all terms, friction included; ``argument`` is that of the memory of closed loops."""
    m, friction = robot.nv, np.array(robot.friction)
    code.function(add_friction, (friction.shape, (m,), (m,), (m,)))
    of_passive = add_passive = ''
    if (passive := robot.passive_friction) is not None:
        code.function(add_passive_friction, (passive.shape, (m, passive.shape[1]), (m,), (m,)))
        numbers_of: dict[str, str | int] = {'size': passive.size, 'friction': numbers(passive.ravel())}
        of_passive = '\n' + filled(TEMPLATES / 'passive_friction.c.in', **words, **numbers_of)
        add_passive = f'    {words["prefix"]}_add_passive_friction(yd, memory, result);\n'
    return filled(
        TEMPLATES / 'driven_torque.c.in',
        **words,
        size=friction.size,
        friction=numbers(friction.ravel()),
        of_passive=of_passive,
        add_passive=add_passive,
        argument=argument,
        given='memory, ' if argument else '',
        not_finite=f'fails(memory, {words["PREFIX"]}_NOT_FINITE, 0)' if argument else 'false',
    ).rstrip()


def _springs(words, q: str, qd: str, fails: str) -> str:
    """Return the lines that subtract the torques of springs and dampers at ``q`` and ``qd``; ``fails`` ends them."""
    nv = words['velocities']
    rest = [f'static const double rest[{nv}] = {{0.0}};'] if qd == 'rest' else []
    lines = [
        *rest,
        f'double springs[{nv}];',
        f'if (!{words["prefix"]}_spring_torque({q}, {qd}, inputs, springs)) {{',
        f'    {fails}',
        '}',
        f'for (int k = 0; k < {nv}; ++k) {{',
        '    tau[k] = tau[k] - springs[k];',
        '}',
    ]
    return ''.join(f'    {line}\n' for line in lines)
