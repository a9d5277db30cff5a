"""Generation of the C99 file that makes exported code a shared library for robot_dynamics_controllers."""

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.codegen.c import TEMPLATES, Exported
from robot_dynamics_ros.codegen.c_text import filled, inside_comment, numbers, string


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
    )


def _known(limits: np.ndarray) -> np.ndarray:
    """Return limits with 0 for those that are unknown or infinite."""
    return np.where(np.isfinite(limits), limits, 0.0)
