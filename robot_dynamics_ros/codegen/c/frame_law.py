"""Generation of C99 of a law of a frame: functions over the state, whose gains are constants of the file.

The law itself is the nodes' (``control.laws.impedance``), written as loops; what it reads of the robot, the exported
functions compute before it.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.c.functions import TEMPLATES, function_name
from robot_dynamics_ros.codegen.c.loops import Kind, LoopCode
from robot_dynamics_ros.codegen.c.text import filled, number, string


class Step(NamedTuple):
    """A call of a function that is compiled for the nodes, too, with the arguments that these bind."""

    function: Callable
    numbers: Mapping[str, Any]
    """Arrays, numbers and conditions, by the names of parameters; others are given, or computed before."""


class FrameCommands(NamedTuple):
    """What messages may change of a law, with the names of the arrays of its memory that they concern."""

    axes: str
    """Name of the link whose axes the stiffness has."""
    stiffness: np.ndarray
    """The largest and first one, (6,), rotation first, N m/rad and N/m."""
    least_stiffness: np.ndarray
    """The smallest one, likewise."""
    may_soften: bool
    """Whether the limit of sampling holds for each softer stiffness, too."""
    largest_wrench: np.ndarray
    """Largest moment and force, (2,), N m and N."""
    wrench_age: float
    """Time for which a wrench counts, s."""
    wanted_stiffness: str
    stiffness_in_force: str
    tank: str
    wanted_wrench: str
    until: str
    wrench_in_force: str


class FrameLawCode(NamedTuple):
    """A law of a frame of ``library.Library``."""

    name: str
    frame: str
    reference_frame: str
    """Whose axes its Jacobian has."""
    period: float
    """Longest stable sampling period, s."""
    torque_delay: float
    """By which the gains were judged, s."""
    counts_friction: bool
    """Whether it is made for joints whose friction the controller compensates."""
    joints: int
    memory: Mapping[str, np.ndarray]
    """Arrays of the steps that last from cycle to cycle, as they are at first; the others are constants or scratch.

    ``elapsed`` (1), if there is one, becomes the time of each cycle.
    """
    anew: int
    """As many of the first of them begin anew with each hold."""
    elapse: Sequence[Step]
    """What happens in each cycle, before torques are computed."""
    hold: Sequence[Step]
    """What comes first where the arm is held."""
    torque: Sequence[Step]
    begins_anew: str = ''
    """The array of the memory that begins anew where the arm is led."""
    commands: FrameCommands | None = None
    is_unloaded: bool = False
    """Whether the mass matrix is that of the arm without its payload."""
    largest_mass: float = 0.0
    """Mass of a direction of the frame that counts as heavy, kg; 0: none does."""
    of_driven: bool = False
    """Whether other joints follow those of the law, which reads the functions of driven joints."""
    has_loops: bool = False
    """Whether they follow by closed loops, with a memory."""
    directions: int = 0
    """Directions in which the frame is lighter elsewhere; ``light`` of the memory has how many there are."""

    @property
    def programs(self) -> tuple:
        """Quantities that the functions of the robot have to include."""
        mass = 'mass_matrix' if self.of_driven else 'mass_matrix_inverse'
        return ('link_pose', self.frame), ('jacobian', self.frame, self.reference_frame), mass

    def text(self, code: LoopCode, prefix: str) -> str:
        """Return the functions and their description; what they call is added to ``code``."""
        n, places = self.joints, self._places()
        calls = _Calls(code, places, self.memory, n)
        elapse = [*([f'memory[{places["elapsed"]}] = time;'] if 'elapsed' in places else []), *calls.of(self.elapse)]
        torque = [*self._holds(calls, places), *calls.of(self.torque)]
        initial = [np.ravel(array) for array in self.memory.values()]
        of_frame = {
            'link_pose': function_name(prefix, 'link_pose', self.frame),
            'jacobian': function_name(prefix, 'jacobian', self.frame, self.reference_frame),
            'mass_matrix_inverse': f'{prefix}_mass_matrix_inverse',
        }
        if self.of_driven:
            of_frame = {name: f'{prefix}_driven_{name}' for name in of_frame}
        return filled(
            TEMPLATES / 'frame_law.c.in',
            prefix=prefix,
            square=n * n,
            of_frame=6 * n,
            memory=sum(map(len, initial)),
            **of_frame,
            loops='loops, ' if self.has_loops else '',
            unused='' if self.has_loops else '    (void)loops;\n',
            of_mass='default_inputs' if self.is_unloaded else 'inputs',
            constants='\n'.join(calls.constants),
            scratch=_indented(calls.scratch),
            elapse=_indented(elapse),
            torque=_indented(torque),
            commands=self._commands(places),
            has_commands='&frame_commands' if self.commands else '0',
            anew=sum(map(len, initial[: self.anew])),
            initial=_numbers(np.concatenate(initial)),
            name=string(self.name),
            frame=string(self.frame),
            longest_period=number(self.period),
            counts_friction=number(self.counts_friction),
            largest_mass=number(self.largest_mass),
            directions=self.directions,
            light=places.get('light', 0),
        ).rstrip()

    def _places(self) -> dict[str, int]:
        """Return where each array begins in the memory."""
        sizes = [array.size for array in self.memory.values()]
        return dict(zip(self.memory, np.cumsum([0, *sizes]).tolist(), strict=False))

    def _holds(self, calls: '_Calls', places: Mapping[str, int]) -> list[str]:
        """Return the lines of what comes first where the arm is held, and of what begins anew where it is led."""
        if not self.hold:
            return []
        at, size = places[self.begins_anew], self.memory[self.begins_anew].size
        anew = f'    memcpy(memory + {at}, frame_law_memory + {at}, {size} * sizeof(double));'
        return ['if (holds) {', *(f'    {line}' for line in calls.of(self.hold)), '} else {', anew, '}']

    def _commands(self, places: Mapping[str, int]) -> str:
        """Return the description of what messages may change, '' for nothing."""
        if self.commands is None:
            return ''
        words: dict[str, str | int] = {
            name: places[value] if isinstance(value, str) else _numbers(value)
            for name, value in self.commands._asdict().items()
            if name != 'axes'
        }
        return filled(TEMPLATES / 'frame_commands.c.in', axes=string(self.commands.axes), **words)


class _Calls:
    """Calls of steps, and declarations for their arguments: ``constants`` of the file, and ``scratch`` of a call."""

    def __init__(self, code: LoopCode, places: Mapping[str, int], memory: Mapping[str, np.ndarray], joints: int):
        self._code = code
        self._memory = {id(array): f'memory + {places[name]}' for name, array in memory.items()}
        n = joints
        self._given: dict[str, tuple[Kind, str]] = {
            **{name: (kind, name) for name, kind in (('T', (4, 4)), ('T_d', (4, 4)), ('J', (6, n)), ('M_inv', (n, n)))},
            **{name: ((n,), name) for name in ('q', 'qd', 'q_desired', 'qd_desired')},
            **{name: ((n,), 'tau') for name in ('term', 'out')},
            **{name: ((), name) for name in ('time', 'now', 'pause')},
        }
        self.constants: list[str] = []
        self.scratch: list[str] = []

    def of(self, steps: Sequence[Step]) -> list[str]:
        """Write the functions of steps, and return the lines that call them."""
        return [self._call(*step) for step in steps]

    def _call(self, function: Callable, numbers: Mapping[str, Any]) -> str:
        names = list(signature(getattr(function, 'source', function)).parameters)
        kinds = [_kind(numbers[name]) if name in numbers else self._given[name][0] for name in names]
        written = self._code.function(function, kinds)
        arguments = [
            self._argument(f'{written.name}_{name}', numbers[name], name in written.written)
            if name in numbers
            else self._given[name][1]
            for name in names
        ]
        return f'{written.name}({", ".join(arguments)});'

    def _argument(self, name: str, value, is_written: bool) -> str:
        """Return an array of the memory, another one with this name, which is declared, or a number."""
        if not isinstance(value, np.ndarray):
            return number(value)
        if id(value) in self._memory:
            return self._memory[id(value)]
        if is_written:
            self.scratch.append(f'double {name}[{value.size}];')
        else:
            self.constants.append(f'static const double {name}[{value.size}] = {{{_numbers(value)}}};')
        return name


def _kind(value) -> Kind:
    return value.shape if isinstance(value, np.ndarray) else bool if isinstance(value, bool) else ()


def _numbers(values) -> str:
    return ', '.join(map(number, np.ravel(values).tolist()))


def _indented(lines: Sequence[str]) -> str:
    return '\n'.join('    ' + line for line in lines)
