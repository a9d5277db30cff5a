"""Docstrings in numpydoc's form: each argument is described once, here, for all methods that have it."""

from inspect import cleandoc, signature
from types import FunctionType

ARGUMENTS = {
    'q': ('array_like, (..., nq)', 'Joint positions in rad (prismatic: m).'),
    'qd': ('array_like, (..., nv)', 'Joint velocities in rad/s (m/s).'),
    'qdd': ('array_like, (..., nv)', 'Joint accelerations in rad/s^2 (m/s^2).'),
    'tau': ('array_like, (..., nv)', 'Joint torques in N m (N).'),
    'current': ('array_like, (..., nv)', 'Motor currents in A.'),
    'step': ('array_like, (..., nv)', 'Velocity times time, in rad (m).'),
    'start': ('array_like, (..., nq)', 'Joint positions in rad (m).'),
    'end': ('array_like, (..., nq)', 'Joint positions in rad (m).'),
    'out': ('ndarray, optional', 'Writable float64 array of the shape of the result, which is written and returned.'),
    'link': ('str', 'Name of a link or frame, one of ``frame_names``.'),
    'wrenches': (
        'dict or array_like, optional',
        'External wrenches that act on links, moment first (N m, N): a mapping from names among ``frame_names`` to '
        '(..., 6), or an array (..., n + 1, 6) in the order of ``link_names``. A wrench F that the robot exerts on its '
        "environment acts on the link as -F: tau = M qdd + c + g + J' F.",
    ),
    'reference_frame': (
        "{'local_world_aligned', 'local', 'world'}",
        'How 6-vectors (angular, linear) are expressed: at the origin of the link in the axes of the base, at the '
        'origin of the link in its own axes, or at the origin of the base in its axes.',
    ),
    'base_velocity': (
        'array_like, (..., 6), optional',
        "Velocity of the base's origin against an inertial frame, angular part first, in the base's axes; rad/s, m/s.",
    ),
    'base_acceleration': (
        'array_like, (..., 6), optional',
        'Its acceleration; rad/s^2, m/s^2. The linear part is the classical one: what an accelerometer at the origin '
        'reads plus gravity.',
    ),
    'generator': ('numpy.random.Generator, optional', 'Source of the random numbers, without unit.'),
    'tolerance': ('float', 'Relative to the largest singular value, without unit: below, combinations count as zero.'),
    'name': ('str', 'Name of the robot, without ``.urdf``.'),
    'source': ('str, Path or mapping', 'The description: its path, or what it contains.'),
    'base_link': ('str, optional', 'Link whose frame becomes the base frame. Default: the base of the description.'),
    'tip_link': ('str, optional', 'Last link of the chain. Default: everything that moves on ``base_link``.'),
    'rows': ('array_like, (n, 4)', 'Rows of the table: a (m), alpha (rad), d (m), theta (rad).'),
    'convention': ("{'standard', 'modified'}", 'How link frames are placed.'),
    'more': ('optional', 'Keyword arguments of ``model_from_dh``, with their shapes and units.'),
    'positions': ('mapping', 'Position of each locked joint by its name, in rad (m).'),
    'other': ('Robot', 'The robot to attach.'),
    'pose': (
        'array_like, (4, 4), optional',
        "The other base's pose in the frame of ``link``, in m. Default: identity.",
    ),
    'prefix': ('str', "Put before the other robot's names."),
    'gravity': ('array_like, (3,)', 'Gravity in the base frame, m/s^2.'),
    'rotation': ('array_like, (3, 3)', 'Rotation matrix R from the base to a world whose z axis points up.'),
    'payload': ('Payload', 'Mass (kg), centre of mass (m) and inertia (kg m^2), expressed in the frame of ``link``.'),
    'binding': ("{'generic', 'specialised'}", 'Kernels for any robot, or code compiled for this one.'),
    'threads': ('int, optional', 'Number of cores that a large batch may use. Default: all.'),
    'most_joints': ('int', 'Robots of more joints stay generic, since compiling them takes minutes.'),
    'program': ('str', 'Name of a quantity, for instance ``inverse_dynamics``.'),
}
"""Type with shape, and meaning with unit, of each argument."""


def documented(cls):
    """Complete the docstrings of a class: sections Parameters and Returns for each public method."""
    for name, member in vars(cls).items():
        method = getattr(member, '__func__', member)
        if isinstance(method, FunctionType) and not name.startswith('_') and method.__doc__:  # none with python -OO
            method.__doc__ = _completed(method)
    return cls


def _completed(method: FunctionType) -> str:
    """Return a method's docstring with all sections."""
    parameters = [name for name in signature(method).parameters if name not in ('self', 'cls')]
    sections = [_section('Parameters', *(_parameter(name) for name in parameters))]
    result = method.__annotations__['return']
    shape_and_unit = getattr(result, '__metadata__', None)
    if shape_and_unit:
        shape, unit = shape_and_unit
        sections.append(_section('Returns', f'ndarray, {shape}\n    {unit}'))
    else:
        sections.append(_section('Returns', getattr(result, '__name__', str(result))))
    return '\n\n'.join((cleandoc(method.__doc__ or ''), *sections[0 if parameters else 1 :]))


def _section(title: str, *entries: str) -> str:
    """Return a section of a docstring."""
    return '\n'.join((title, '-' * len(title), *entries))


def _parameter(name: str) -> str:
    """Return the lines of a parameter."""
    kind, meaning = ARGUMENTS[name]
    return f'{name} : {kind}\n    {meaning}'
