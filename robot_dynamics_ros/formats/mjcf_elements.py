"""Elements of MJCF that a model cannot represent: rejected, or left out with a finding.

An element that changes the mass matrix or gravity torques is refused. One that only adds a passive torque, such as a
spring of a tendon or a medium, leaves mass matrix, Coriolis and gravity torques as they are: forward dynamics goes
without that torque.
"""

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.compiled_mjcf import called, joint_kind
from robot_dynamics_ros.formats.untrusted_text import MAX_ELEMENTS
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.model.untrusted_values import LARGEST_NUMBER

# Fields of MjModel that must be zero: element, meaning.
_REFUSED = {
    'jnt_stiffnesspoly': ('joint', 'a spring that is not linear'),
    'dof_dampingpoly': ('joint', 'a damping that is not linear'),
    'body_gravcomp': ('body', 'gravity compensation'),
    'tendon_armature': ('tendon', 'rotor inertia'),
    'actuator_armature': ('actuator', 'a rotor inertia of its own'),
}
# Fields of MjModel whose effect is left out where they are not zero.
_LEFT_OUT = {
    'tendon_stiffness': ('tendon', 'its spring'),
    'tendon_stiffnesspoly': ('tendon', 'its spring'),
    'tendon_damping': ('tendon', 'its damping'),
    'tendon_dampingpoly': ('tendon', 'its damping'),
    'tendon_frictionloss': ('tendon', 'its friction'),
    'tendon_limited': ('tendon', 'its limit'),
    'actuator_damping': ('actuator', 'its damping'),
    'actuator_dampingpoly': ('actuator', 'its damping'),
}
# MuJoCo applies these along the axes of the world, a model would along the link's.
_REFUSED_ON_FREE = {'dof_armature': 'rotor inertia', 'dof_frictionloss': 'dry friction'}
# Fields of MjModel whose numbers become those of the model: element, meaning.
_NUMBERS = {
    'body_mass': ('body', 'mass'),
    'body_inertia': ('body', 'inertia'),
    'body_ipos': ('body', 'centre of mass'),
    'body_pos': ('body', 'position'),
    'jnt_pos': ('joint', 'position'),
    'jnt_range': ('joint', 'range'),
    'jnt_stiffness': ('joint', 'stiffness'),
    'dof_armature': ('joint', 'armature'),
    'dof_damping': ('joint', 'damping'),
    'dof_frictionloss': ('joint', 'friction'),
    'site_pos': ('site', 'position'),
    'eq_data': ('equality', 'data'),
}
# Attributes that multiply what MuJoCo allocates for an element, which it does not limit.
_COUNTED = ('replicate', 'composite', 'flexcomp')
_CELLS = {'texture': ('width', 'height'), 'hfield': ('nrow', 'ncol')}
MOST_CELLS = 50_000_000
"""Cells of all textures and height fields, together; 150 MB."""


def check_sizes(root: Element) -> None:
    """Raise ModelError where MuJoCo would create too many elements, or cells of textures and height fields."""
    if _elements(root) > MAX_ELEMENTS:
        raise ModelError(f'its counts and sizes make more than {MAX_ELEMENTS} elements')
    cells = sum(
        math.prod(_counts(element.get(key, '') for key in _CELLS[element.tag]))
        for element in root.iter()
        if element.tag in _CELLS
    )
    if cells > MOST_CELLS:
        raise ModelError(f'its textures and height fields have more than {MOST_CELLS} cells')


def _elements(element: Element) -> float:
    """Return about how many elements MuJoCo creates for one: itself and its children, times its count.

    Keyframes and the numbers of user data are counted, the sizes of work memory (nstack, njmax) are not.
    """
    within = 1.0 + sum(map(_elements, element))
    if element.tag == 'size':
        sizes = (value for key, value in element.attrib.items() if key == 'nkey' or key.startswith('nuser'))
        return within + sum(_counts(sizes))
    return within * math.prod(_counts([element.get('count', '')])) if element.tag in _COUNTED else within


def _counts(texts) -> list[float]:
    """Return the positive integers in texts."""
    return [max(1.0, float(part)) for text in texts for part in text.split() if part.isdecimal()]


def check_elements(plant) -> None:
    """Raise ModelError for the first element of MuJoCo's model that cannot be represented, and for huge numbers."""
    for field, (element, what) in _REFUSED.items():
        for name in _with(plant, field, element):
            raise ModelError(f'{name}: {what} is not supported')
    for i in range(plant.njnt):
        name, kind = called('joint', plant.joint(i)), joint_kind(plant, i)
        for field, what in _REFUSED_ON_FREE.items():
            if kind == 'free' and getattr(plant, field)[plant.jnt_dofadr[i]]:
                raise ModelError(f'{name}: {what} of a free joint is not supported')
        if kind in ('free', 'spherical') and plant.jnt_stiffness[i]:
            raise ModelError(f'{name}: a spring of a {"free" if kind == "free" else "ball"} joint is not supported')
    for what, present in (('a deformable body (flex)', plant.nflex), ('a plugin', plant.nplugin)):
        if present:
            raise ModelError(f'{what} is not supported')
    for field, (element, what) in _NUMBERS.items():
        for i, numbers in enumerate(getattr(plant, field)):
            if not np.all(np.abs(numbers) <= LARGEST_NUMBER):
                where = called(element, getattr(plant, element)(_number(plant, field, i)))
                raise ModelError(f'{where}: {what}: expected finite numbers up to {LARGEST_NUMBER:g}')


def left_out(plant) -> Iterator[Finding]:
    """Yield findings on what MuJoCo's model has that the model goes without."""
    for field, (element, what) in _LEFT_OUT.items():
        for name in _with(plant, field, element):
            yield Finding('warning', name, f'{what} is left out')
    if plant.opt.density or plant.opt.viscosity:
        yield Finding('warning', 'option', 'its medium (density, viscosity) is left out: bodies move without drag')


def _with(plant, field: str, element: str) -> Iterator[str]:
    """Yield the elements whose number, or numbers, in a field of MuJoCo's model are not zero."""
    # an older MuJoCo lacks some of the fields
    for i, value in enumerate(getattr(plant, field, ())):
        if np.any(value):
            yield called(element, getattr(plant, element)(_number(plant, field, i)))


def _number(plant, field: str, i) -> int:
    """Return the number of the element of entry i of a field."""
    return int(plant.dof_jntid[i] if field.startswith('dof_') else i)
