"""Batch loops: a kernel over many states, generated from the names of the kernel's arguments."""

from functools import cache
from inspect import signature

from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.jit.generated import generated_module

OF_FRAMES = ('i', 'rotation', 'origin', 'links', 'rotations', 'origins', 'view')
SHARED = ('model', 'work', 'friction', 'gravity', *OF_FRAMES)
"""Arguments that are the same for all states."""

SOURCE = '''"""{name} over many states."""

from robot_dynamics_ros.jit.decorators import entry
from {module} import {name}


@entry
def {name}_batch({arguments}):
    for b in range({result}.shape[0]):
        {name}({of_one_state})
'''


@cache
def batch_loop(kernel):
    """Return ``kernel`` compiled as a loop over the first axis of joint vectors and of the result.

    ``f_ext`` has one row for all states or one for each. All states share one workspace.
    """
    function = getattr(kernel, 'py_func', kernel)  # NUMBA_DISABLE_JIT leaves plain Python
    name, arguments = function.__name__, list(signature(function).parameters)

    def write() -> str:
        return SOURCE.format(
            name=name,
            module=function.__module__,
            arguments=', '.join(arguments),
            result=arguments[-1],
            of_one_state=', '.join(map(_of_one_state, arguments)),
        )

    return getattr(generated_module(FOLDER / 'loops', name, write), f'{name}_batch')


def _of_one_state(argument: str) -> str:
    """Return the expression of an argument for state b."""
    if argument == 'f_ext':
        return 'f_ext[min(b, f_ext.shape[0] - 1)]'
    return argument if argument in SHARED else f'{argument}[b]'
