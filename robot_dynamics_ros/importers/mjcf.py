"""MJCF in, model out, by way of MuJoCo's own compiler: what can't be represented is refused by name, never ignored.

MuJoCo puts a body at its place on the parent and then moves it by its joints, one after the other, in the body's own
axes: a slide by axis (q - ref), a hinge about an axis through the joint's pos. A joint that is not a body's last, or
whose pos is not the body's origin, moves a link of its own, <body>/<joint>, which the body is on.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.dynamics.bodies import ten_parameters
from robot_dynamics_ros.dynamics.errors import ModelError
from robot_dynamics_ros.dynamics.kinds import Joint
from robot_dynamics_ros.dynamics.model import Finding, Model
from robot_dynamics_ros.importers.audit import audit_inertial, audit_model
from robot_dynamics_ros.importers.merging import fixed, merged
from robot_dynamics_ros.importers.reading import parsed, read_text
from robot_dynamics_ros.importers.rotations import about, exact

# Fields of MjModel that have to be zero, for a model has no place for them: kind of element, what it is.
_NO_PLACE = {
    'jnt_stiffness': ('joint', 'a spring'),
    'jnt_stiffnesspoly': ('joint', 'a spring'),
    'dof_dampingpoly': ('joint', 'a damping that is not linear'),
    'body_gravcomp': ('body', 'gravity compensation'),
    'eq_active0': ('equality', 'an equality constraint'),
    'tendon_stiffness': ('tendon', 'a spring'),
    'tendon_stiffnesspoly': ('tendon', 'a spring'),
    'tendon_damping': ('tendon', 'damping'),
    'tendon_dampingpoly': ('tendon', 'damping'),
    'tendon_frictionloss': ('tendon', 'friction'),
    'tendon_armature': ('tendon', 'rotor inertia'),
    'tendon_limited': ('tendon', 'a limit'),
    'actuator_armature': ('actuator', 'a rotor inertia of its own'),
    'actuator_damping': ('actuator', 'a damping of its own'),
    'actuator_dampingpoly': ('actuator', 'a damping of its own'),
}


def model_from_mjcf(source: str | Path) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2) of an MJCF: a path, or the text itself if it contains '<'.

    Hinges and slides in MuJoCo's order, their armature as rotor inertia, damping and frictionloss as viscous and
    Coulomb friction, range and symmetric force limits; bodies are links or frames, a mocap body one of the base.
    Actuators and contacts are no part of a model. Raises ModelError naming what can't be represented, and where
    MuJoCo is not installed.
    """
    is_text = isinstance(source, str) and '<' in source
    try:
        return _model(_compiled(str(source), str(source) if is_text else read_text(source), is_text))
    except ModelError as error:
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error


def _compiled(source: str, text: str, is_text: bool):
    """Return MuJoCo's model of the text; of the path where it is a file's, which may name others beside it."""
    mujoco = _mujoco()
    root = parsed(text).tag
    if root != 'mujoco':
        raise ModelError(f'<{root}>: expected <mujoco>')
    try:
        return mujoco.MjModel.from_xml_string(text) if is_text else mujoco.MjModel.from_xml_path(source)
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f'MuJoCo does not load it: {error}') from error


def _model(plant) -> tuple[Model, np.ndarray]:
    """Return model and gravity of MuJoCo's model."""
    _refuse(plant)
    parts: list[Joint] = []
    findings: list[Finding] = []
    for i in range(1, plant.nbody):
        name, mass, turned = (
            _name('body', plant.body(i)),
            float(plant.body_mass[i]),
            _rotation(plant.body_iquat[i]),
        )
        about_com = turned @ np.diag(plant.body_inertia[i]) @ turned.T
        findings += audit_inertial(name, mass, about_com)
        parts += _parts(plant, i, name, ten_parameters(mass, plant.body_ipos[i], about_com))
    robot = plant.names.split(b'\0')[0].decode() or 'mjcf'
    model = merged(robot, _name('body', plant.body(0)), parts)
    off = plant.opt.disableflags & int(_mujoco().mjtDisableBit.mjDSBL_GRAVITY)
    return replace(model, findings=(*findings, *audit_model(model))), np.zeros(3) if off else plant.opt.gravity.copy()


def _refuse(plant) -> None:
    """Raise ModelError for the first thing in MuJoCo's model that moves or resists and has no place in ours."""
    kinds = _mujoco().mjtJoint
    unsupported = {int(kinds.mjJNT_FREE): 'free', int(kinds.mjJNT_BALL): 'ball'}
    for i, kind in enumerate(plant.jnt_type.tolist()):
        if called := unsupported.get(kind):
            raise ModelError(f'{_called("joint", plant.joint(i))}: a {called} joint is not supported')
    for field, (element, what) in _NO_PLACE.items():
        # an older MuJoCo lacks some of the fields; with hinges and slides alone, dof i is joint i
        for i, figure in enumerate(getattr(plant, field, ())):
            if np.any(figure):
                raise ModelError(f'{_called(element, getattr(plant, element)(i))}: {what} is not supported')
    for what, present in (
        ('a deformable body (flex)', plant.nflex),
        ('a plugin', plant.nplugin),
        ('a medium (density, viscosity)', plant.opt.density or plant.opt.viscosity),
    ):
        if present:
            raise ModelError(f'{what} is not supported')


def _parts(plant, number: int, body: str, inertia: np.ndarray) -> Iterator[Joint]:
    """Yield the joints of a body, and what fixes it to its last joint's link or, where it has none, to its parent."""
    hinge = int(_mujoco().mjtJoint.mjJNT_HINGE)
    carrier = _name('body', plant.body(int(plant.body_parentid[number])))
    # of the body's axes and origin at rest, in the link that the joints before have moved
    rotation, origin = _rotation(plant.body_quat[number]), plant.body_pos[number].copy()
    first, count = int(plant.body_jntadr[number]), int(plant.body_jntnum[number])
    for i in range(first, first + count):
        name, axis, ref = _name('joint', plant.joint(i)), plant.jnt_axis[i], plant.qpos0[plant.jnt_qposadr[i]]
        is_hinge = plant.jnt_type[i] == hinge
        anchor = plant.jnt_pos[i] if is_hinge else np.zeros(3)
        is_body = i == first + count - 1 and not anchor.any()
        low, high = plant.jnt_range[i] if plant.jnt_limited[i] else (-math.inf, math.inf)
        link = body if is_body else f'{body}/{name}'
        yield Joint(
            name=name,
            link=link,
            parent=carrier,
            kind='revolute' if is_hinge else 'prismatic',
            axis=axis.copy(),
            rotation=rotation @ about(axis, -ref) if is_hinge else rotation,
            origin=origin + rotation @ (anchor if is_hinge else -ref * axis),
            inertia=inertia if is_body else np.zeros(10),
            rotor=float(plant.dof_armature[i]),
            lower=float(low),
            upper=float(high),
            effort=_effort(plant, i),
            viscous=float(plant.dof_damping[i]),
            coulomb=float(plant.dof_frictionloss[i]),
        )
        if is_body:
            return
        carrier, rotation, origin = link, np.eye(3), -anchor
    yield fixed(body, carrier, rotation, origin, inertia)


def _rotation(quat: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) of MuJoCo's four numbers for one."""
    R = np.empty(9)
    _mujoco().mju_quat2Mat(R, quat)
    return exact(R.reshape(3, 3))


def _effort(plant, joint: int) -> float:
    """Return the largest force (N m, N) that joint and actuator allow, the same both ways; NaN where none is stated."""
    ranges = [plant.jnt_actfrcrange[joint]] if plant.jnt_actfrclimited[joint] else []
    transmission = plant.actuator_trntype == int(_mujoco().mjtTrn.mjTRN_JOINT)
    actuators = np.flatnonzero(transmission & (plant.actuator_trnid[:, 0] == joint))
    if len(actuators) == 1 and plant.actuator_forcelimited[actuators[0]]:
        ranges.append(plant.actuator_gear[actuators[0], 0] * plant.actuator_forcerange[actuators[0]])
    known = [abs(float(high)) for low, high in ranges if low == -high]
    return min(known, default=math.nan)


def _name(element: str, view) -> str:
    """Return the name of a body or joint, or what stands for one: its kind and number."""
    return view.name or f'{element}_{view.id}'


def _called(element: str, view) -> str:
    """Return what an error calls an element of the model."""
    return f'{element} {_name(element, view)!r}'


def _mujoco():
    """Return MuJoCo's module; ModelError where it is not installed."""
    try:
        import mujoco  # noqa: PLC0415  (slow to start, and needed here alone)
    except ImportError as error:
        raise ModelError('MJCF is read by MuJoCo, which is not installed: pip install mujoco') from error
    return mujoco
