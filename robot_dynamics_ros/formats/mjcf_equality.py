"""Import of MJCF's equality constraints as closed loops.

A connect becomes a closure of kind 'point', a weld one of kind 'weld', a joint constraint a coupling. Frame A is on
the first body or is the first site, frame B on the second; a weld without torque (torquescale 0) is a point. MuJoCo
holds constraints softly (solref, solimp) and counts a joint's polynomial from the position qpos0; closed loops are
rigid here, and polynomials those of the coordinates themselves. Joints with a motor are those of actuators.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.compiled_mjcf import called, joint_kind, mujoco_module, name_of, rotation_of
from robot_dynamics_ros.formats.mjcf_elements import is_off
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
from robot_dynamics_ros.model.closed_loops.loops import LARGEST_POLYNOMIAL, with_loops
from robot_dynamics_ros.model.model import Finding, Model

_TORQUE_SCALE = 10
"""Place in eq_data; before it a weld has the anchor on body 2, that on body 1, and the quaternion of body 2 in it."""


def with_equalities(model: Model, plant) -> Model:
    """Return the model with the equality constraints of MuJoCo's model.

    Findings tell which ones are off and left out, and that those of a model are rigid. Raises ModelError naming a
    constraint of tendons or deformable bodies, or one that is no closed loop.
    """
    mujoco = mujoco_module()
    loops: list[LoopClosure | Coupling] = []
    findings: list[Finding] = []
    all_off = is_off(plant, 'mjDSBL_EQUALITY', 'mjDSBL_CONSTRAINT')
    for i in range(plant.neq):
        where, kind = called('equality', plant.equality(i)), mujoco.mjtEq(int(plant.eq_type[i])).name
        if all_off or not plant.eq_active0[i]:
            findings.append(Finding('warning', where, 'it is not active and left out'))
        elif kind == 'mjEQ_JOINT':
            loops.append(_coupling(plant, i))
        elif kind in ('mjEQ_CONNECT', 'mjEQ_WELD'):
            loops.append(_closure(plant, i, is_weld=kind == 'mjEQ_WELD'))
        else:
            what = kind.removeprefix('mjEQ_').lower()
            raise ModelError(f'{where}: a constraint of the type {what} is not supported')
    if loops:
        message = 'they are rigid here, while MuJoCo holds them softly (solref, solimp)'
        findings.append(Finding('warning', 'equality constraints', message))
    followers = {it.joint for it in loops if isinstance(it, Coupling)}
    actuated = _actuated(plant, followers) if loops else []
    return replace(with_loops(model, loops, actuated=actuated), findings=(*model.findings, *findings))


def _actuated(plant, followers: Collection[str]) -> list[str]:
    """Return the hinges and slides that an actuator acts on, by joint or by a tendon of joints.

    A tendon moves the joint that its others follow, as those of a gripper do; without such a one it moves none alone.
    """
    transmission = mujoco_module().mjtTrn
    of_joints = (int(transmission.mjTRN_JOINT), int(transmission.mjTRN_JOINTINPARENT))
    joints: set[int] = set()
    for target, kind in zip(plant.actuator_trnid[:, 0], plant.actuator_trntype, strict=True):
        if kind in of_joints:
            joints.add(int(target))
        elif kind == int(transmission.mjTRN_TENDON):
            leading = [i for i in _joints_of(plant, int(target)) if name_of('joint', plant.joint(i)) not in followers]
            joints.update(leading if len(leading) == 1 else ())
    return [
        name_of('joint', plant.joint(i)) for i in sorted(joints) if joint_kind(plant, i) in ('revolute', 'prismatic')
    ]


def _joints_of(plant, tendon: int) -> list[int]:
    """Return the joints of a fixed tendon; none of one that runs through space."""
    wraps = range(plant.tendon_adr[tendon], plant.tendon_adr[tendon] + plant.tendon_num[tendon])
    of_joints = int(mujoco_module().mjtWrap.mjWRAP_JOINT)
    return [int(plant.wrap_objid[wrap]) for wrap in wraps if plant.wrap_type[wrap] == of_joints]


def _closure(plant, number: int, is_weld: bool) -> LoopClosure:
    """Return the closure of a connect or weld."""
    data, sides = plant.eq_data[number], []
    of_sites = plant.eq_objtype[number] == int(mujoco_module().mjtObj.mjOBJ_SITE)
    for side, i in enumerate((int(plant.eq_obj1id[number]), int(plant.eq_obj2id[number]))):
        body, pose = plant.site_bodyid[i] if of_sites else i, np.eye(4)
        if of_sites:
            pose[:3, :3], pose[:3, 3] = rotation_of(plant.site_quat[i]), plant.site_pos[i]
        elif is_weld:
            pose[:3, 3] = data[:3] if side else data[3:6]
            pose[:3, :3] = np.eye(3) if side else rotation_of(data[6:10])
        else:
            pose[:3, 3] = data[3:6] if side else data[:3]
        sides.append((name_of('body', plant.body(int(body))), pose))
    kind = 'weld' if is_weld and data[_TORQUE_SCALE] else 'point'
    return LoopClosure(name_of('equality', plant.equality(number)), *sides[0], *sides[1], kind)


def _coupling(plant, number: int) -> Coupling:
    """Return the coupling of a joint constraint: q1 - r1 is the polynomial of q2 - r2, with r the position qpos0."""
    joints = int(plant.eq_obj1id[number]), int(plant.eq_obj2id[number])
    names = [name_of('joint', plant.joint(i)) if i >= 0 else None for i in joints]
    r1, r2 = (float(plant.qpos0[plant.jnt_qposadr[i]]) if i >= 0 else 0.0 for i in joints)
    coefficients = plant.eq_data[number, :LARGEST_POLYNOMIAL] if joints[1] >= 0 else plant.eq_data[number, :1]
    polynomial = coefficients.tolist()
    # p(x - r2) by repeated division (Horner's scheme)
    for first in range(len(polynomial) - 1):
        for k in range(len(polynomial) - 2, first - 1, -1):
            polynomial[k] -= r2 * polynomial[k + 1]
    polynomial[0] += r1
    return Coupling(str(names[0]), names[1], (polynomial[0], *np.trim_zeros(polynomial[1:], 'b')))
