"""Generation of the C99 file that makes exported code a shared library for robot_dynamics_controllers."""

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.codegen.c import LICENCE, Exported
from robot_dynamics_ros.codegen.c_text import comment, file_text, numbers, string

FUNCTIONS = {'gravity_torque': ('q',), 'inverse_dynamics': ('q', 'qd', 'qdd')}
"""Vectors of the functions of the exported dynamics that the library calls."""
FUNCTION = 'robot_dynamics_exported_library'
"""The function of the file that returns the library."""
EXPORTED = 'joint_names', 'default_inputs', 'gravity_torque', 'inverse_dynamics'
"""Names that the file of the dynamics defines, without the prefix."""
SECOND = 'ROBOT_DYNAMICS_LIBRARY_WITH_FMA'
"""Defined where both files are in the library a second time, with ``_fma`` after each of ``Library.names``."""


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
    def names(self) -> tuple[str, ...]:
        """Names that this file and the dynamics define for others."""
        return FUNCTION, *(f'{self.prefix}_{it}' for it in EXPORTED)

    @property
    def effort_limits(self) -> np.ndarray:
        """Effort limits, 0 for those that are unknown or infinite."""
        return _known(self.model.limits.effort)


def library_source(library: Library) -> str:
    """Return the source file, to be compiled with the exported ``<prefix>_dynamics.c``."""
    prefix, model, n = library.prefix, library.model, len(library.continuous)
    turns = ', '.join('true' if it else 'false' for it in library.continuous)
    frames = [
        line
        for name in library.frames
        for line in (
            f'    {{{string(name)},',
            f'        {{{numbers(model.frames[name].rotation.ravel())}}},',
            f'        {{{numbers(model.frames[name].origin)}}}}},',
        )
    ]
    return file_text(
        comment(
            library.mark,
            '',
            f'The robot {model.name or prefix}, model digest {library.digest}, as a shared library for the controllers '
            'of robot_dynamics_controllers. Compile it with the exported dynamics.',
            '',
            LICENCE,
        ),
        ['#include <string.h>'],
        ['#include <robot_dynamics_controllers/dynamics_library.h>'],
        [f'#include "{prefix}_dynamics.h"'],
        [f'static const bool continuous[{n}] = {{{turns}}};'],
        [
            f'static const double effort_limits[{n}] = {{{numbers(library.effort_limits)}}};',
            f'static const double velocity_limits[{n}] = {{{numbers(_known(model.limits.velocity))}}};',
        ],
        [
            f'static const double friction[ROBOT_DYNAMICS_FRICTION_ROWS * {n}] = {{',
            *(f'    {numbers(row)},' for row in model.friction),
            '};',
        ],
        [
            'static const double default_inputs[ROBOT_DYNAMICS_INPUTS] = {',
            f'    {numbers(library.runtime_inputs)},',
            '};',
        ],
        [f'static const robot_dynamics_frame frames[{len(library.frames)}] = {{', *frames, '};'],
        *(_wrapper(prefix, name, vectors) for name, vectors in FUNCTIONS.items()),
        [
            f'const robot_dynamics_library *{FUNCTION}(void);',
            '',
            f'#if defined({SECOND})',
            '/* Both files once more, compiled for processors with an instruction for fma: the same bits. */',
            f'const robot_dynamics_library *{FUNCTION}_fma(void);',
            '#endif',
            '',
            f'const robot_dynamics_library *{FUNCTION}(void)',
            '{',
            '    static const robot_dynamics_library library = {',
            '        .version = ROBOT_DYNAMICS_LIBRARY_VERSION,',
            '        .size = sizeof(robot_dynamics_library),',
            f'        .robot = {string(model.name or prefix)},',
            f'        .model_digest = {string(library.digest)},',
            f'        .base_link = {string(model.link_names[0])},',
            f'        .last_link = {string(model.link_names[-1])},',
            f'        .joints = {prefix.upper()}_JOINTS,',
            f'        .coordinates = {prefix.upper()}_NQ,',
            f'        .velocities = {prefix.upper()}_NV,',
            f'        .frames = {len(library.frames)},',
            f'        .joint_names = {prefix}_joint_names,',
            '        .continuous = continuous,',
            '        .effort_limits = effort_limits,',
            '        .velocity_limits = velocity_limits,',
            '        .friction = friction,',
            '        .default_inputs = default_inputs,',
            '        .frame = frames,',
            '        .gravity_torque = gravity_torque,',
            '        .inverse_dynamics = inverse_dynamics,',
            '    };',
            f'#if defined({SECOND})',
            '    if (__builtin_cpu_supports("fma")) {',
            f'        return {FUNCTION}_fma();',
            '    }',
            '#endif',
            '#if defined(__GNUC__) && defined(__x86_64__) && defined(__FMA__)',
            '    /* compiled with -mfma: none for a processor without that instruction */',
            '    if (!__builtin_cpu_supports("fma")) {',
            '        return 0;',
            '    }',
            '#endif',
            '    return &library;',
            '}',
        ],
    )


def _wrapper(prefix: str, name: str, vectors: tuple[str, ...]) -> list[str]:
    """Return a function of the exported dynamics with run-time inputs as an array."""
    return [
        f'static bool {name}(',
        f'    {", ".join(f"const double *{it}" for it in (*vectors, "inputs"))}, double *tau)',
        '{',
        f'    {prefix}_inputs own;',
        '    memcpy(&own, inputs, sizeof own);',
        f'    return {prefix}_{name}({", ".join(vectors)}, &own, tau);',
        '}',
    ]


def _known(limits: np.ndarray) -> np.ndarray:
    """Return limits with 0 for those that are unknown or infinite."""
    return np.where(np.isfinite(limits), limits, 0.0)
