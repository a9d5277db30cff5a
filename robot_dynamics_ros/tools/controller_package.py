"""Text of the files of a ROS 2 package for the controllers of one arm; its dynamics are written by ``export_c``."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from robot_dynamics_ros.codegen.c.library import Library
from robot_dynamics_ros.codegen.c.text import filled, mark
from robot_dynamics_ros.errors import ArgumentError

FEEDFORWARD = 'feedforward_effort_controller'
TEMPLATES = Path(__file__).with_name('templates')
OF_PD = {
    'control_law': 'pd_feedforward',
    'evaluate_at': 'desired',
    'fade_in_time': -1.0,
    'correction': """With gains of 0 nothing here corrects
# position errors: let the motors do it, or state stiffness and damping below, or the gains at the end of this file.""",
    'about_gains': """\
    # a PD about the reference, for an arm that takes efforts alone: robot_dynamics_propose_gains proposes gains""",
}
OF_FRAME = {
    'evaluate_at': 'measured',
    'fade_in_time': 1.0,
    'correction': """A law of a frame
# corrects errors: its gains are those of export_controller --impedance.""",
    'about_gains': '    # those of the joints are in the library, too',
}
"""Words of controllers.yaml for each law."""


def checked_name(name: str) -> str:
    """Return the name of a ROS package; ArgumentError for one that no package can have."""
    if not re.fullmatch('[a-z][a-z0-9]*(_[a-z0-9]+)*', name) or len(name) < 2:
        raise ArgumentError(
            f'--package: expected lower-case letters, digits and single underscores after a letter, got {name!r:.80}'
        )
    return name


def _quoted(text: str) -> str:
    """Return text as a string of YAML, in which a launch file finds no substitution such as $(command ...)."""
    return json.dumps(text).replace('$', '\\u0024')


def _own_pd(joints: Sequence[str]) -> str:
    """Return the end of controllers.yaml: how a joint_trajectory_controller has a PD of its own."""
    gains = '\n'.join(f'    #   {joint}: {{p: 0.0, i: 0.0, d: 0.0}}' for joint in joints)
    return (
        '    # A PD about the trajectory instead, whose efforts are added to gravity compensation: state gains here,\n'
        '    # and reference_interfaces: [effort] above.\n'
        f'    # command_interfaces: [effort]\n    # gains:\n{gains}'
    )


class ControllerPackage(NamedTuple):
    """The package ``name``, which is checked; names of joints may be any text."""

    name: str
    library: Library
    joint_names: Sequence[str]
    preset: str
    rate: int

    def files(self) -> dict[str, str]:
        """Return the text of each file by its path in the package."""
        joints, law = [_quoted(name) for name in self.joint_names], self.library.frame_law
        unlimited = [it for it, limit in zip(joints, self.library.effort_limits, strict=True) if limit == 0.0]
        words = {
            'mark': mark(self.name),
            'package': self.name,
            'prefix': self.library.prefix,
            'title': self.library.title,
            'digest': self.library.digest,
            'preset': self.preset,
            'rate': self.rate,
            'torque_delay': law.torque_delay if law else 0.0,
            'functions': '\n'.join(f'        {name}={name}_fma' for name in self.library.functions),
            'joints': '\n'.join(f'      - {joint}' for joint in joints),
            'joints_below': '\n'.join(f'      - {_quoted(f"{FEEDFORWARD}/{name}")}' for name in self.joint_names),
            **({**OF_FRAME, 'control_law': law.name} if law else OF_PD),
            'instead': '' if law else _own_pd(joints),
            'limits': f'    # state it: the description has no effort limit of {", ".join(unlimited)}\n'
            if unlimited
            else '',
        }
        return {
            path: filled(TEMPLATES / f'{Path(path).name}.in', **words)
            for path in ('package.xml', 'CMakeLists.txt', 'config/controllers.yaml', 'launch/controllers.launch.py')
        }
