"""Elements of MJCF that a model cannot represent: rejected, or left out with a finding.

An element that changes the mass matrix or gravity torques is refused. One that only adds a passive torque, such as a
spring of a tendon or a medium, leaves mass matrix, Coriolis and gravity torques as they are: forward dynamics goes
without that torque.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.compiled_mjcf import called, joint_kind, mujoco_module
from robot_dynamics_ros.formats.untrusted_text import MAX_ELEMENTS
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.model.untrusted_values import LARGEST_NUMBER

# Fields of MjModel that must be zero: element, meaning.
_REFUSED = {
    'jnt_stiffnesspoly': ('joint', 'a spring that is not linear'),
    'dof_dampingpoly': ('joint', 'a damping that is not linear'),
    'jnt_springyield': ('joint', 'a spring that yields'),
    'body_gravcomp': ('body', 'gravity compensation'),
    'tendon_armature': ('tendon', 'rotor inertia'),
    'actuator_armature': ('actuator', 'a rotor inertia of its own'),
}
# Fields of MjModel whose effect is left out where they are not zero.
_LEFT_OUT = {
    'tendon_stiffness': ('tendon', 'its spring'),
    'tendon_stiffnesspoly': ('tendon', 'its spring'),
    'tendon_springyield': ('tendon', 'its spring'),
    'tendon_damping': ('tendon', 'its damping'),
    'tendon_dampingpoly': ('tendon', 'its damping'),
    'tendon_frictionloss': ('tendon', 'its friction'),
    'tendon_limited': ('tendon', 'its limit'),
    'actuator_damping': ('actuator', 'its damping'),
    'actuator_dampingpoly': ('actuator', 'its damping'),
}
# Fields that become the model, or say what does: names, tree and flags.
_READ = frozenset({
    'body_iquat', 'body_jntadr', 'body_jntnum', 'body_mocapid', 'body_parentid', 'body_quat',
    'jnt_actfrclimited', 'jnt_actfrcrange', 'jnt_axis', 'jnt_bodyid', 'jnt_dofadr', 'jnt_limited', 'jnt_qposadr',
    'jnt_type', 'dof_bodyid', 'dof_jntid', 'eq_active0', 'eq_obj1id', 'eq_obj2id', 'eq_objtype', 'eq_type',
    'actuator_forcelimited', 'actuator_forcerange', 'actuator_gear', 'actuator_trnid', 'actuator_trntype',
    'opt_gravity', 'opt_density', 'opt_viscosity', 'opt_disableflags',
})  # fmt: skip
# Fields that change no torque of a robot without its actuators, contacts and medium, by the reason.
WITHOUT_EFFECT = {
    'computed by MuJoCo from other fields': (
        'body_bvhadr', 'body_bvhnum', 'body_dofadr', 'body_dofnum', 'body_geomadr', 'body_geomnum', 'body_invweight0',
        'body_rootid', 'body_sameframe', 'body_simple', 'body_subtreemass', 'body_treeid', 'body_weldid',
        'dof_M0', 'dof_Madr', 'dof_invweight0', 'dof_length', 'dof_parentid', 'dof_simplenum', 'dof_treeid',
        'tendon_adr', 'tendon_invweight0', 'tendon_length0', 'tendon_num', 'tendon_treeid', 'tendon_treenum',
        'actuator_acc0', 'actuator_length0', 'jnt_actuatorid', 'tendon_actuatorid', 'jnt_plasticadr',
        'tendon_plasticadr',
    ),
    'contacts, and softness of constraints and limits': (
        'body_conaffinity', 'body_contype', 'body_margin', 'jnt_margin', 'jnt_solimp', 'jnt_solref', 'dof_solimp',
        'dof_solref', 'eq_solimp', 'eq_solref', 'tendon_margin', 'tendon_solimp_fri', 'tendon_solimp_lim',
        'tendon_solref_fri', 'tendon_solref_lim', 'opt_o_friction', 'opt_o_margin', 'opt_o_solimp', 'opt_o_solref',
        'opt_cone', 'opt_impratio', 'opt_ccd_iterations', 'opt_ccd_tolerance', 'opt_sdf_initpoints',
        'opt_sdf_iterations', 'opt_noslip_iterations', 'opt_noslip_tolerance',
    ),
    'commands of actuators': (
        'actuator_actadr', 'actuator_actearly', 'actuator_actlimited', 'actuator_actnum', 'actuator_actrange',
        'actuator_biasprm', 'actuator_biastype', 'actuator_cranklength', 'actuator_ctrladr', 'actuator_ctrllimited',
        'actuator_ctrlnum', 'actuator_ctrlrange', 'actuator_ctrlspec', 'actuator_delay', 'actuator_dynprm',
        'actuator_dyntype', 'actuator_gainprm', 'actuator_gaintype', 'actuator_history', 'actuator_historyadr',
        'actuator_lengthrange', 'actuator_outadr', 'actuator_outnum', 'jnt_actgravcomp', 'tendon_actfrclimited',
        'tendon_actfrcrange', 'opt_disableactuator',
    ),
    'pictures, groups, data of users and plugins, which are refused': (
        'body_plugin', 'body_user', 'jnt_group', 'jnt_user', 'tendon_group', 'tendon_matid', 'tendon_rgba',
        'tendon_user', 'tendon_width', 'actuator_group', 'actuator_plugin', 'actuator_user', 'tendon_type',
    ),
    'integration, and a medium or magnetic field without bodies that feel it': (
        'opt_apirate', 'opt_enableflags', 'opt_integrator', 'opt_iterations', 'opt_jacobian', 'opt_ls_iterations',
        'opt_ls_tolerance',
        'opt_magnetic', 'opt_sleep_tolerance', 'opt_solver', 'opt_timestep', 'opt_tolerance', 'opt_wind',
    ),
    'stiffness and length of springs of tendons, which are left out': ('tendon_lengthspring', 'tendon_range'),
}  # fmt: skip
_AUDITED = ('body', 'jnt', 'dof', 'tendon', 'actuator', 'eq', 'opt')
"""Groups of fields of MjModel in which each field is in one of the tables."""
_ELEMENTS = {'jnt': 'joint', 'dof': 'joint', 'eq': 'equality'}
# Flags of <option> that leave out a part of each joint: field of the joint, element, flags of any version of MuJoCo.
_FLAGS = (
    ('stiffness', 'springs', ('mjDSBL_SPRING', 'mjDSBL_PASSIVE')),
    ('viscous', 'damping', ('mjDSBL_DAMPER', 'mjDSBL_PASSIVE')),
    ('coulomb', 'friction', ('mjDSBL_FRICTIONLOSS', 'mjDSBL_CONSTRAINT')),
)
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
    if is_off(plant, 'mjDSBL_LIMIT', 'mjDSBL_CONSTRAINT') and plant.jnt_limited.any():
        yield Finding('warning', 'option', 'a flag turns limits of joints off; they are limits here')
    yield from not_read(plant)


def is_off(plant, *flags: str) -> bool:
    """Return whether one of these flags of ``mjtDisableBit`` is set; an older or newer MuJoCo lacks some."""
    bits = mujoco_module().mjtDisableBit.__members__
    return any(plant.opt.disableflags & int(bits[flag]) for flag in flags if flag in bits)


def switched_off(plant) -> tuple[dict[str, Any], list[Finding]]:
    """Return the fields of joints that flags of <option> leave out, as zeros, and a finding on each."""
    off = [(field, what) for field, what, flags in _FLAGS if is_off(plant, *flags)]
    findings = [Finding('warning', 'option', f'a flag turns {what} of joints off: no joint has any') for _, what in off]
    return dict.fromkeys([field for field, _ in off], 0.0), findings


def unknown_fields(names: Iterable[str]) -> list[str]:
    """Return the fields among ``names``, of MjModel or as opt_<name> of its options, that no table has."""
    known = {*_READ, *_REFUSED, *_LEFT_OUT, *_NUMBERS, *chain.from_iterable(WITHOUT_EFFECT.values())}
    return [name for name in names if name.partition('_')[0] in _AUDITED and '_' in name and name not in known]


def not_read(plant) -> Iterator[Finding]:
    """Yield findings on fields of a newer MuJoCo that are not zero."""
    names = (name for name in dir(plant) if not name.startswith(('opt', '_')))
    for field in unknown_fields(names):
        element = _ELEMENTS.get(field.partition('_')[0], field.partition('_')[0])
        for name in _with(plant, field, element):
            yield Finding('warning', name, f'{field} of this MuJoCo is not read')


def _with(plant, field: str, element: str) -> Iterator[str]:
    """Yield the elements whose number, or numbers, in a field of MuJoCo's model are not zero."""
    # an older MuJoCo lacks some of the fields
    for i, value in enumerate(getattr(plant, field, ())):
        if np.any(value):
            yield called(element, getattr(plant, element)(_number(plant, field, i)))


def _number(plant, field: str, i) -> int:
    """Return the number of the element of entry i of a field."""
    return int(plant.dof_jntid[i] if field.startswith('dof_') else i)
