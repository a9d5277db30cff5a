"""Generation of C99 of a Cartesian impedance: a function over the state whose gains are constants of the file.

The law itself is the nodes' (``control.laws.impedance``), written as loops; what it reads of the robot, the exported
functions compute before it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.c.functions import TEMPLATES, function_name
from robot_dynamics_ros.codegen.c.loops import Kind, LoopCode, LoopFunction
from robot_dynamics_ros.codegen.c.text import filled, string

NAMED = {'in_force': 'K', 'tank': 'tank'}
"""Arrays of the memory that a controller reads, by the names that they have there."""


class Step(NamedTuple):
    """A call of a function that is compiled for the nodes, too, with the arguments that these bind."""

    function: Callable
    numbers: Mapping[str, Any]
    """Arrays, numbers and conditions, by the names of parameters; others are given, or computed before."""
    memory: tuple[str, ...] = ()
    """Names of those of the arrays that last from cycle to cycle, in the order of the parameters."""


class ImpedanceCode(NamedTuple):
    """A Cartesian impedance of ``library.Library``."""

    frame: str
    reference_frame: str
    period: float
    """Longest stable sampling period, s."""
    torque_delay: float
    """By which the gains were judged, s."""
    stiffness: np.ndarray
    """The largest and first one, (6,), rotation first, N m/rad and N/m."""
    may_be_free: Sequence[bool]
    """Which axes may be without stiffness, (6,)."""
    may_soften: bool
    """Whether the limit of sampling holds for each softer stiffness, too."""
    counts_friction: bool
    """Whether it is made for joints whose friction the controller compensates."""
    joints: int
    impedance: Step
    limits: Step
    """Springs before the position limits; all of their memory begins anew with each hold."""

    @property
    def programs(self) -> tuple:
        """Quantities that the functions of the robot have to include."""
        return ('link_pose', self.frame), ('jacobian', self.frame, self.reference_frame), 'mass_matrix_inverse'

    def text(self, code: LoopCode, prefix: str) -> str:
        """Return the function and its description; what it calls is added to ``code``."""
        n = self.joints
        given: dict[str, Kind] = {
            **{'T': (4, 4), 'T_d': (4, 4), 'J': (6, n), 'M_inv': (n, n), 'K_d': (6,), 'elapsed': (1,)},
            **dict.fromkeys(('q', 'qd', 'q_desired', 'qd_desired', 'term', 'out'), (n,)),
        }
        limits, impedance = (_Call.of(code, step, given) for step in (self.limits, self.impedance))
        memory = [*limits.memory, *impedance.memory]
        places = np.cumsum([0, *(array.size for array in memory)]).tolist()
        at = iter(f'memory + {place}' for place in places)
        return filled(
            TEMPLATES / 'impedance.c.in',
            **{'prefix': prefix, 'joints': n, 'square': n * n, 'of_frame': 6 * n, 'memory': places[-1]},
            link_pose=function_name(prefix, 'link_pose', self.frame),
            jacobian=function_name(prefix, 'jacobian', self.frame, self.reference_frame),
            constants='\n'.join([*impedance.constants, *limits.constants]),
            scratch='\n'.join('    ' + line for line in (*impedance.scratch, *limits.scratch)),
            limits=limits.text(at),
            impedance=impedance.text(at),
            anew=places[len(limits.memory)],
            **{word: places[len(limits.memory) + self.impedance.memory.index(name)] for word, name in NAMED.items()},
            initial=_numbers(np.concatenate([np.ravel(array) for array in memory])),
            stiffness=_numbers(self.stiffness),
            may_be_free=_numbers(self.may_be_free),
            frame=string(self.frame),
            reference_frame=string(self.reference_frame),
            longest_period=_number(self.period),
            may_soften=_number(self.may_soften),
            counts_friction=_number(self.counts_friction),
        ).rstrip()


class _Call(NamedTuple):
    """How a step is called: declarations before it, and each argument, None for one of the memory."""

    function: LoopFunction
    constants: list[str]
    scratch: list[str]
    memory: list[np.ndarray]
    arguments: list[str | None]

    @classmethod
    def of(cls, code: LoopCode, step: Step, given: Mapping[str, Kind]) -> '_Call':
        """Write the function of a step, and return its call."""
        names = list(signature(getattr(step.function, 'source', step.function)).parameters)
        kinds = [_kind(step.numbers[name]) if name in step.numbers else given[name] for name in names]
        function = code.function(step.function, kinds)
        made = cls(function, [], [], [step.numbers[name] for name in step.memory], [])
        for name in names:
            value, own = step.numbers.get(name), f'{function.name}_{name}'
            if name in step.memory:
                made.arguments.append(None)
            elif value is None:
                made.arguments.append('tau' if name in ('term', 'out') else name)
            elif not isinstance(value, np.ndarray):
                made.arguments.append(_number(value))
            elif name in function.written:
                made.arguments.append(own)
                made.scratch.append(f'double {own}[{value.size}];')
            else:
                made.arguments.append(own)
                made.constants.append(f'static const double {own}[{value.size}] = {{{_numbers(value)}}};')
        return made

    def text(self, memory) -> str:
        """Return the call; ``memory`` gives the places of its arrays there."""
        places = [next(memory) for _ in self.memory]
        at = iter(places)
        return f'{self.function.name}({", ".join(next(at) if it is None else it for it in self.arguments)});'


def _kind(value) -> Kind:
    return value.shape if isinstance(value, np.ndarray) else bool if isinstance(value, bool) else ()


def _numbers(values) -> str:
    return ', '.join(map(_number, np.ravel(values).tolist()))


def _number(value) -> str:
    """Return a number in C, also one that is not finite, or a condition."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if math.isfinite(value):
        return repr(float(value))
    return 'NAN' if math.isnan(value) else '-INFINITY' if value < 0.0 else 'INFINITY'
