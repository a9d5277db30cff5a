"""Parameters that several methods of ``Robot`` have, each described once.

The docstring of such a method has a line with the parameter's name alone, where ``documented`` puts the description.
"""

import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TypeVar

from numpy.typing import ArrayLike

Wrenches = Mapping[str, ArrayLike] | ArrayLike
"""External wrenches of links, by name or in the order of ``link_names``."""
Methods = TypeVar('Methods')


def descriptions(text: str) -> dict[str, str]:
    """Return the description of each parameter, its first line included, by the parameter's name."""
    return {it.partition(' : ')[0]: it for it in re.split(r'\n(?=\w)', text.strip('\n'))}


SHARED = descriptions("""
q : array_like, (..., nq)
    Joint positions in rad (prismatic: m).
qd : array_like, (..., nv)
    Joint velocities in rad/s (m/s).
qdd : array_like, (..., nv)
    Joint accelerations in rad/s^2 (m/s^2).
tau : array_like, (..., nv)
    Joint torques in N m (N).
wrenches : dict or array_like, optional
    External wrenches on links, moment first (N m, N): a mapping from names among ``frame_names`` to (..., 6),
    or an array (..., n + 1, 6) in the order of ``link_names``. For a wrench F that the robot exerts on its
    environment pass -F: tau = M qdd + c + g + J' F.
base_velocity : array_like, (..., 6), optional
    Velocity of the base's origin against an inertial frame, angular part first, in the base's axes; rad/s, m/s.
base_acceleration : array_like, (..., 6), optional
    Acceleration of the base's origin in the same form; rad/s^2, m/s^2. The linear part is the classical one:
    the reading of an accelerometer at the origin plus gravity.
link : str
    Name of a link or frame, one of ``frame_names``.
reference_frame : {'local_world_aligned', 'local', 'world'}
    How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the
    origin of the link in its own axes, or at the origin of the base in its axes.
out : ndarray, optional
    Writable float64 array of the shape of the result. It is overwritten and returned.
gravity : array_like, (3,)
    Gravity in the base frame, m/s^2.
source : str or Path
    Path of the description, or its text; an actuator file may also be a mapping.
base_link : str, optional
    Link whose frame becomes the base frame. Default: the base of the robot.
tip_link : str, optional
    Last link of the chain. Default: the whole subtree of ``base_link``.
mimic : {'ignore', 'couple'}
    Whether joints with <mimic> are coupled with the joints that they mimic.
loops_file : str or Path, optional
    Path of a loops file: YAML with the section ``loops`` of ``to_yaml``, see ``formats.yaml_files.loops_yaml``. Its
    loops are added to those of the description. ModelError names a joint that both couple.
quantities : str
    Names of methods, for instance ``inverse_dynamics``.
program : str
    Name of a quantity, for instance ``inverse_dynamics``.
""")


def documented(own: str = '') -> Callable[[type[Methods]], type[Methods]]:
    """Return a decorator that completes the docstrings of a class's methods; ``own`` has descriptions for it alone."""
    described = {**SHARED, **descriptions(own)}

    def completed(methods: type[Methods]) -> type[Methods]:
        for member in vars(methods).values():
            method = getattr(member, '__func__', member)  # of a class method
            if isinstance(method, FunctionType) and method.__doc__:  # python -OO leaves none
                method.__doc__ = re.sub(r'^( *)(\w+)$', description, method.__doc__, flags=re.MULTILINE)
        return methods

    def description(line: re.Match) -> str:
        return line[1] + described.get(line[2], line[2]).replace('\n', '\n' + line[1])

    return completed


def meaning(parameter: str) -> str:
    """Return what a shared parameter is, without its first line, in one line."""
    return ' '.join(SHARED[parameter].split('\n    ')[1:])
