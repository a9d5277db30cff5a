"""Sections Parameters and Returns of methods in numpydoc format; each argument is described once, here."""

from collections.abc import Sequence
from inspect import cleandoc, signature
from types import FunctionType

Links = str | Sequence[str]
"""Name of a link or frame, or names of several."""

ARGUMENTS = {
    'q': ('array_like, (..., nq)', 'Joint positions in rad (prismatic: m).'),
    'qd': ('array_like, (..., nv)', 'Joint velocities in rad/s (m/s).'),
    'qdd': ('array_like, (..., nv)', 'Joint accelerations in rad/s^2 (m/s^2).'),
    'tau': ('array_like, (..., nv)', 'Joint torques in N m (N).'),
    'current': ('array_like, (..., nv)', 'Motor currents in A.'),
    'step': ('array_like, (..., nv)', 'Displacement: velocity times time, in rad (m).'),
    'start': ('array_like, (..., nq)', 'Joint positions in rad (m).'),
    'end': ('array_like, (..., nq)', 'Joint positions in rad (m).'),
    'out': ('ndarray, optional', 'Writable float64 array of the shape of the result. It is overwritten and returned.'),
    'link': ('str', 'Name of a link or frame, one of ``frame_names``.'),
    'link or links': (
        'str or sequence of str',
        'Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns '
        'of several frames are in the order of their names.',
    ),
    'wrenches': (
        'dict or array_like, optional',
        'External wrenches on links, moment first (N m, N): a mapping from names among ``frame_names`` to (..., 6), or '
        'an array (..., n + 1, 6) in the order of ``link_names``. For a wrench F that the robot exerts on its '
        "environment pass -F: tau = M qdd + c + g + J' F.",
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
        "Acceleration of the base's origin in the same form; rad/s^2, m/s^2. The linear part is the classical one: the "
        'reading of an accelerometer at the origin plus gravity.',
    ),
    'method': (
        "{None, 'articulated', 'mass_matrix', 'divide_and_conquer'}",
        'By articulated bodies, by the factorised mass matrix, or by divide and conquer, which uses several cores for '
        'large robots. Default: the first or the second, what takes less time for its tree.',
    ),
    'generator': ('numpy.random.Generator, optional', 'Source of the random numbers, without unit.'),
    'tolerance': (
        'float',
        'Threshold without unit below which a vector counts as linearly dependent on those before it: relative to the '
        'largest value; of a constraint of closed loops, relative to the effect that it would have on all joints.',
    ),
    'change': (
        'array_like, (..., m)',
        'Change of the residuals of the constraints, in rad or m; or of their rates.',
    ),
    'torques': ('mapping', 'Torque in N m, (...), by the name of a closure.'),
    'actuated': (
        'list of str, optional',
        'Names of the joints with a motor; the result is zero for all others. Default: every joint, as if the '
        'loops were open.',
    ),
    'loops': (
        'list of LoopClosure and Coupling',
        'Closures of loops and couplings of joints; see ``model.loop_types``.',
    ),
    'gain': (
        'float',
        'Rate in 1/s at which errors e of the loops decay in ``forward_dynamics``: d^2e/dt^2 + 2 gain de/dt + gain^2 e '
        'is zero. With 0 they grow.',
    ),
    'name': ('str', 'Name of the robot, without ``.urdf``.'),
    'source': ('str or Path', 'Path of the description, or its text; an actuator file may also be a mapping.'),
    'base_link': ('str, optional', 'Link whose frame becomes the base frame. Default: the base of the robot.'),
    'tip_link': ('str, optional', 'Last link of the chain. Default: the whole subtree of ``base_link``.'),
    'mimic': ("{'ignore', 'couple'}", 'Whether joints with <mimic> are coupled with the joints that they mimic.'),
    'springs': ('bool', 'Whether springs of joints become part of the robot. Without them, a finding names each.'),
    'rows': ('list of DHRow or mapping', 'Rows of the table: a (m), alpha (rad), d (m), theta (rad) and other fields.'),
    'convention': ("{'standard', 'modified'}", 'Distal (Siciliano) or proximal (Craig) Denavit-Hartenberg parameters.'),
    'more': ('optional', 'Other keyword arguments of ``model_from_dh``.'),
    'positions': (
        'mapping',
        'Position of each locked joint by its name, in rad (m); a list for a joint of several coordinates.',
    ),
    'other': ('Robot', 'The robot to attach.'),
    'pose': (
        'array_like, (4, 4), optional',
        "The other base's pose in the frame of ``link``, in m. Default: identity.",
    ),
    'prefix': ('str', "Prefix of the other robot's names."),
    'gravity': ('array_like, (3,)', 'Gravity in the base frame, m/s^2.'),
    'rotation': ('array_like, (3, 3)', 'Rotation matrix R from the base to a world whose z axis points up.'),
    'payload': ('Payload', 'Mass (kg), centre of mass (m) and inertia (kg m^2), expressed in the frame of ``link``.'),
    'binding': ("{'generic', 'adaptive', 'specialised'}", 'How code is chosen.'),
    'quantities': ('str', 'Names of methods, for instance ``inverse_dynamics``.'),
    'threads': ('int, optional', 'Number of cores that a large batch may use. Default: all.'),
    'folder': ('str or Path', 'Folder of the files. It is created if it does not exist.'),
    'programs': (
        'list of str or tuple',
        'Quantities: names such as ``inverse_dynamics``, and for one of a frame tuples such as '
        "``('link_pose', 'tool0')`` and ``('jacobian', 'tool0', 'local')``.",
    ),
    'program': ('str', 'Name of a quantity, for instance ``inverse_dynamics``.'),
}
"""Type with shape, and description with unit, of each argument."""


def documented(cls):
    """Add sections Parameters and Returns to the docstring of each public method of a class."""
    for name, member in vars(cls).items():
        method = getattr(member, '__func__', member)
        if isinstance(method, FunctionType) and not name.startswith('_') and method.__doc__:  # none with python -OO
            method.__doc__ = _completed(method)
    return cls


def _completed(method: FunctionType) -> str:
    """Return the docstring of a method with both sections."""
    parameters = [name for name in signature(method).parameters if name not in ('self', 'cls')]
    several = method.__annotations__.get('link') == Links
    sections = [_section('Parameters', *(_parameter(name, several) for name in parameters))]
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


def _parameter(name: str, several: bool) -> str:
    """Return the lines of a parameter; ``several`` says whether ``link`` may be the names of several."""
    kind, meaning = ARGUMENTS['link or links' if several and name == 'link' else name]
    return f'{name} : {kind}\n    {meaning}'
