"""Generation of the C99 file that makes exported code a shared library for robot_dynamics_controllers.

Beside what it says of the robot, the library has laws and guards: kernels as functions over arrays of the caller's, for
the number of joints of this robot.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.c import TEMPLATES, Exported, indented, operation_lines, text_of
from robot_dynamics_ros.codegen.c_text import filled, inside_comment, numbers, string
from robot_dynamics_ros.codegen.straight_line import needed
from robot_dynamics_ros.codegen.trace import Symbol, Tape
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.kernels.friction import add_joint_friction
from robot_dynamics_ros.kernels.joint_feedback import joint_feedback
from robot_dynamics_ros.kernels.payload_blending import add_share, corner_weights
from robot_dynamics_ros.kernels.torque_limits import limit_effort, limit_rate
from robot_dynamics_ros.kernels.torque_transitions import begin_transition, fade_in, ramp_to_zero, transition
from robot_dynamics_ros.model.model import Friction

Shape = tuple[int, ...]
"""Shape of an array; () for a number."""
LAWS = (
    *(add_joint_friction, joint_feedback, corner_weights, add_share),
    *(fade_in, begin_transition, transition, ramp_to_zero, limit_effort, limit_rate),
)
"""Kernels of laws and guards that the library has; their arguments are joint vectors, and those of ``SHAPES``."""
SHAPES = {
    **dict.fromkeys(('duration', 'elapsed', 'gravity_share', 'payload_share', 'weight'), ()),
    'progress': (2,),
    'weights': (4,),
}


@dataclass(frozen=True, eq=False)
class Library(Exported):
    """Content of the file, for joints of one coordinate and no payload."""

    kind = 'library'
    continuous: np.ndarray

    @property
    def frames(self) -> list[str]:
        """Names of the frames that are fixed to the last link, which comes first."""
        names, frames = self.model.link_names, self.model.frames
        fixed = (name for name, frame in frames.items() if frame.link == len(names) - 1)
        return list(dict.fromkeys([names[-1], *fixed]))

    @property
    def effort_limits(self) -> np.ndarray:
        """Effort limits, 0 for those that are unknown or infinite."""
        return _known(self.model.limits.effort)


def library_source(library: Library) -> str:
    """Return the source file, to be compiled with the exported ``<prefix>_dynamics.c``."""
    model = library.model
    frames = {name: model.frames[name] for name in library.frames}
    return filled(
        TEMPLATES / 'library.c.in',
        **library.words,
        robot=inside_comment(
            f'The robot {model.name or library.prefix}, model digest {library.digest}, as a shared library for the '
            'controllers of robot_dynamics_controllers. Compile it with the exported dynamics.'
        ),
        name=string(model.name or library.prefix),
        digest=string(library.digest),
        base_link=string(model.link_names[0]),
        last_link=string(model.link_names[-1]),
        continuous=', '.join('true' if it else 'false' for it in library.continuous),
        effort_limits=numbers(library.effort_limits),
        velocity_limits=numbers(_known(model.limits.velocity)),
        friction='\n'.join(f'    {numbers(row)},' for row in model.friction),
        inputs=numbers(library.runtime_inputs),
        frame_count=len(frames),
        frames='\n'.join(
            f'    {{{string(name)},\n        {{{numbers(it.rotation.ravel())}}},\n        {{{numbers(it.origin)}}}}},'
            for name, it in frames.items()
        ),
        laws='\n\n'.join(law_definition(kernel, shapes(kernel, model.arrays.nv)) for kernel in LAWS),
        law_fields='\n'.join(f'        .{kernel.__name__} = {kernel.__name__},' for kernel in LAWS),
    )


def shapes(kernel: Kernel, joints: int) -> dict[str, Shape]:
    """Return the shapes of the arguments of a kernel."""
    known = {**SHAPES, 'friction': (len(Friction._fields), joints)}
    return {name: known.get(name, (joints,)) for name in signature(kernel.source).parameters}


def _known(limits: np.ndarray) -> np.ndarray:
    """Return limits with 0 for those that are unknown or infinite."""
    return np.where(np.isfinite(limits), limits, 0.0)


class TracedLaw(NamedTuple):
    """The values of a kernel over arrays and numbers."""

    name: str
    shapes: Mapping[str, Shape]
    """Shapes of the arguments, in order."""
    written: dict[str, dict[int, object]]
    """Values of the entries that the kernel writes, by name and place of an argument."""
    returned: object

    @classmethod
    def of(cls, kernel: Kernel, shapes: Mapping[str, Shape]) -> 'TracedLaw':
        """Trace a kernel whose arguments have these shapes."""
        tape = Tape()
        given = {name: tape.inputs(name, int(np.prod(shape))) for name, shape in shapes.items()}
        arguments = [given[name].reshape(shape).copy() if shape else given[name][0] for name, shape in shapes.items()]
        returned = tape.run(kernel, *arguments)
        written = {
            name: {k: it for k, it in enumerate(after.ravel()) if it is not given[name][k]}
            for (name, shape), after in zip(shapes.items(), arguments, strict=True)
            if shape
        }
        return cls(kernel.__name__, shapes, written, returned)

    @property
    def values(self) -> list[Symbol]:
        """Every value that has to be computed, in order."""
        return needed([*(it for entries in self.written.values() for it in entries.values()), self.returned])


def law_definition(kernel: Kernel, shapes: Mapping[str, Shape]) -> str:
    """Return a static function in C of a kernel whose arguments have these shapes.

    An array that the kernel writes is written in place, after everything has been read: arrays may be the same. The
    function returns the number that the kernel returns.
    """
    law = TracedLaw.of(kernel, shapes)
    read = {value.arguments for value in law.values if value.operation == 'input'}
    used = {name for name, _ in read} | {name for name, entries in law.written.items() if entries}
    lines = [
        *(f'const double {name}_{k} = {name}{f"[{k}]" if shapes[name] else ""};' for name, k in sorted(read)),
        *(f'(void){name};' for name in shapes if name not in used),
        *operation_lines(law.values),
        *(f'{name}[{k}] = {text_of(it)};' for name, entries in law.written.items() for k, it in entries.items()),
        *([] if law.returned is None else [f'return {text_of(law.returned)};']),
    ]
    kind = 'void' if law.returned is None else 'double'
    origin = f'/* Kernel {kernel.__module__.rpartition(".")[2]}.{law.name}. */'
    head = f'static {kind} {law.name}(\n    {", ".join(_argument(law, name) for name in shapes)})'
    return '\n'.join([origin, head, '{', *indented(1, lines), '}'])


def _argument(law: TracedLaw, name: str) -> str:
    """Return an argument of the function in C."""
    shape = law.shapes[name]
    if not shape:
        return f'double {name}'
    return f'{"" if law.written[name] else "const "}double {name}[{int(np.prod(shape))}]'
