"""Generation of the C99 file that makes exported code a shared library for robot_dynamics_controllers.

Beside what it says of the robot, the library has laws and guards: kernels as functions over arrays of the caller's, for
the number of joints of this robot; and, where it is asked for, a law of a frame.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.position_search import SearchSize, next_positions, search_range, search_size
from robot_dynamics_ros.algorithms.sampling_limit import (
    counted_period,
    delayed_period,
    most_damped_joint,
    write_largest_eigenvalue,
)
from robot_dynamics_ros.algorithms.torque_presets import PRESETS, TERMS, Preset
from robot_dynamics_ros.algorithms.value_ramps import continues, write_between
from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.functions import TEMPLATES, Exported, function_name
from robot_dynamics_ros.codegen.c.loops import Kind, LoopCode
from robot_dynamics_ros.codegen.c.text import filled, inside_comment, number, numbers, string
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.kernels.friction import add_joint_friction
from robot_dynamics_ros.kernels.joint_feedback import joint_feedback
from robot_dynamics_ros.kernels.payload_blending import add_share, corner_weights
from robot_dynamics_ros.kernels.torque_limits import limit_effort, limit_rate
from robot_dynamics_ros.kernels.torque_transitions import begin_transition, fade_in, ramp_to_zero, transition
from robot_dynamics_ros.model.inertial_parameters import is_inertia, write_body, write_moved_row, write_row
from robot_dynamics_ros.model.model import Friction, JointLimits

LAWS = (
    *(add_joint_friction, joint_feedback, corner_weights, add_share),
    *(fade_in, begin_transition, transition, ramp_to_zero, limit_effort, limit_rate),
    *(write_row, write_body, write_moved_row, is_inertia, write_between, continues),
    *(write_largest_eigenvalue, most_damped_joint, counted_period, delayed_period),
)
"""Kernels, and functions like them, that the library has; arguments are joint vectors, and those of ``SHAPES``."""
SHAPES: dict[str, Kind] = {
    **dict.fromkeys(('duration', 'elapsed', 'gravity_share', 'payload_share', 'rounding', 'weight'), ()),
    **dict.fromkeys(('delay', 'held_late', 'late', 'period', 'share'), ()),
    'count': int,
    'is_asked_for': bool,
    **dict.fromkeys(('body', 'row', 'moved_row'), (10,)),
    **dict.fromkeys(('rotation', 'P'), (9,)),
    'origin': (3,),
    'progress': (2,),
    'value': (1,),
    'weights': (4,),
}
OF_LOOPS = 1 / 8
"""Share of a search for closed loops, whose way to each position takes longer."""


class CommandedJoints(NamedTuple):
    """Joints of one coordinate that a controller commands: all of a robot, or those that others follow."""

    names: Sequence[str]
    continuous: np.ndarray
    limits: JointLimits
    friction: Friction
    gear: np.ndarray | float = 1.0
    """How many turns of each make one of what follows it."""
    symbols: Sequence[str] = ()
    """Ends of the names of what the exported file defines for joints that others follow, beside ``programs``."""
    home: np.ndarray | None = None
    """Positions at which closed loops were closed first; None without them."""
    rubbing: bool = False
    """Whether joints without a motor have friction that depends on the position."""


@dataclass(frozen=True, eq=False)
class Library(Exported):
    """Content of the file, for joints of one coordinate and no payload."""

    kind = 'library'
    joints: CommandedJoints
    frame_law: FrameLawCode | None = None

    @property
    def programs(self) -> list:
        """Quantities that the library calls, which ``export_c`` has to write beside it."""
        own = ['gravity_torque', 'inverse_dynamics', 'mass_matrix']
        return [*own, *(it for it in (self.frame_law.programs if self.frame_law else ()) if it not in own)]

    @property
    def functions(self) -> list[str]:
        """Names of the functions of these quantities, and of what they need."""
        programs = ((it,) if isinstance(it, str) else it for it in self.programs)
        others = (f'{self.prefix}_{end}' for end in self.joints.symbols)
        return [*(function_name(self.prefix, *program) for program in programs), *others]

    @property
    def frames(self) -> list[str]:
        """Names of the frames that are fixed to the last link, which comes first."""
        names, frames = self.model.link_names, self.model.frames
        fixed = (name for name, frame in frames.items() if frame.link == len(names) - 1)
        return list(dict.fromkeys([names[-1], *sorted(fixed)]))

    @property
    def effort_limits(self) -> np.ndarray:
        """Effort limits, 0 for those that are unknown or infinite."""
        return _known(self.joints.limits.effort)


def library_source(library: Library) -> str:
    """Return the source file, to be compiled with the exported ``<prefix>_dynamics.c``."""
    model, code = library.model, LoopCode()
    for law in LAWS:
        code.function(law, shapes(law, len(library.joints.names)).values())
    size = search_size(len(library.joints.names), OF_LOOPS if library.joints.home is not None else 1.0)
    code.function(next_positions, search_kinds(len(library.joints.names), size).values())
    frame_law = library.frame_law.text(code, library.prefix) if library.frame_law else ''
    frames = {name: model.frames[name] for name in library.frames}
    joints, of_mechanism = library.joints, library.joints.home is not None
    words = {**library.words, 'driven': len(joints.names)}
    mechanism = ''
    if joints.home is not None:
        passive = filled(TEMPLATES / 'library_passive_friction.c.in', **words) if joints.rubbing else ''
        mechanism = filled(
            TEMPLATES / 'library_mechanism.c.in',
            **words,
            home=numbers(joints.home),
            passive=passive,
            has_passive='add_passive_friction' if passive else '0',
        )
    return filled(
        TEMPLATES / 'library.c.in',
        **words,
        coordinates=len(joints.names) if joints.symbols else f'{library.prefix.upper()}_NQ',
        velocities=len(joints.names) if joints.symbols else f'{library.prefix.upper()}_NV',
        of_driven='driven_' if joints.symbols else '',
        memory='memory, ' if of_mechanism else '',
        unused='' if of_mechanism else '    (void)memory;\n',
        mechanism=mechanism,
        has_mechanism='&mechanism' if of_mechanism else '0',
        robot=inside_comment(
            f'The robot {model.name or library.prefix}, model digest {library.digest}, as a shared library for the '
            'controllers of robot_dynamics_controllers. Compile it with the exported dynamics.'
        ),
        name=string(model.name or library.prefix),
        digest=string(library.digest),
        base_link=string(model.link_names[0]),
        last_link=string(model.link_names[-1]),
        continuous=', '.join(number(bool(it)) for it in joints.continuous),
        effort_limits=numbers(library.effort_limits),
        velocity_limits=numbers(_known(joints.limits.velocity)),
        search_range=numbers(np.concatenate(search_range(joints.limits.lower, joints.limits.upper, joints.gear))),
        samples=size.samples,
        starts=size.starts,
        most_values=size.values,
        friction='\n'.join(f'    {numbers(row)},' for row in joints.friction),
        inputs=numbers(library.runtime_inputs),
        preset_count=1 + len(PRESETS),
        presets='\n'.join(_preset(name, it) for name, it in {'': Preset(), **PRESETS}.items()),
        frame_count=len(frames),
        frames='\n'.join(
            f'    {{{string(name)},\n        {{{numbers(it.rotation.ravel())}}},\n        {{{numbers(it.origin)}}}}},'
            for name, it in frames.items()
        ),
        laws=f'{code.text}\n\n{frame_law}'.rstrip(),
        frame_law='&exported_frame_law' if frame_law else '0',
        law_fields='\n'.join(f'        .{kernel.__name__} = {kernel.__name__},' for kernel in LAWS),
    )


def shapes(kernel: Kernel | Callable, joints: int) -> dict[str, Kind]:
    """Return the shapes of the arguments of a kernel; those with a ``count`` may have any length."""
    known = {**SHAPES, 'friction': (len(Friction._fields), joints), **dict.fromkeys('LM', (joints, joints))}
    return {name: known.get(name, (joints,)) for name in signature(getattr(kernel, 'source', kernel)).parameters}


def search_kinds(joints: int, size: SearchSize) -> dict[str, Kind]:
    """Return the kinds of the arguments of ``next_positions`` for a search of this size."""
    room, starts = max(size.samples, 2 * joints * size.starts), size.starts
    known: dict[str, Kind] = {
        **dict.fromkeys(('samples', 'most_values', 'rows'), int),
        **{'positions': (room, joints), 'values': (room,), 'left': (1,)},
        **{'starts': (starts, joints), 'found': (starts,), 'step': (starts,)},
    }
    return {name: known.get(name, (joints,)) for name in next_positions.source.__annotations__ if name != 'return'}


def _preset(name: str, preset: Preset) -> str:
    """Return the line of a preset."""
    compensated = ', '.join(number(term in preset.robot_terms) for term in TERMS)
    of_commands = f'{number(preset.takes_commands)}, {number(preset.motor_pd)}'
    return f'    {{{string(name)}, {{{compensated}}}, {of_commands}, {number(preset.fade_in_time)}}},'


def _known(limits: np.ndarray) -> np.ndarray:
    """Return limits with 0 for those that are unknown or infinite."""
    return np.where(np.isfinite(limits), limits, 0.0)
