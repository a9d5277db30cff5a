"""MuJoCo's model of a robot, made of the library's model, not of a description that MuJoCo reads itself.

MuJoCo refuses inertias that no body has, needs files of meshes, and some of its versions misplace rotated inertials of
a URDF. Here it compiles bodies and joints alone, and the numbers are then set.
"""

from collections.abc import Iterable

import mujoco
import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.audit import audit_model, refusals
from robot_dynamics_ros.model.closed_loops.loop_audit import characteristic_length
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
from robot_dynamics_ros.model.closed_loops.loops import LARGEST_POLYNOMIAL, check_tree
from robot_dynamics_ros.model.consistent_inertias import eigenvalues
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.linear_algebra import cross
from robot_dynamics_ros.model.model import WITH_SPRING, Model
from robot_dynamics_ros.simulation.plant.surfaces import Surfaces

TYPES = {
    'revolute': mujoco.mjtJoint.mjJNT_HINGE,
    'prismatic': mujoco.mjtJoint.mjJNT_SLIDE,
    'spherical': mujoco.mjtJoint.mjJNT_BALL,
    'free': mujoco.mjtJoint.mjJNT_FREE,
}
EQUALITIES = {
    'point': mujoco.mjtEq.mjEQ_CONNECT,
    'planar_point': mujoco.mjtEq.mjEQ_CONNECT,  # ``MujocoMechanism`` leaves z free
    'revolute': mujoco.mjtEq.mjEQ_CONNECT,
    'weld': mujoco.mjtEq.mjEQ_WELD,
}
FARTHEST = 1e10
"""rad, m: MuJoCo's largest number, in place of a position limit that is infinite on one side."""
RADIUS = 1e-3
"""m, of the sphere that touches surfaces; it does where its centre is in the plane."""
TIME_CONSTANT, DAMPING_RATIO, FRICTION = 0.004, 1.0, 0.3
"""s, and 1, of the motion by which MuJoCo pushes the sphere out of a surface; Coulomb's coefficient along it."""
# A compiled body has shortcuts if its inertial is nearly that of its frame; this one has none.
COMPILED = {'mass': 1.0, 'inertia': (1.0, 1.1, 1.2), 'ipos': (1.0, 1.0, 1.0), 'iquat': (0.5, 0.5, 0.5, 0.5)}


def mujoco_plant(
    model: Model, loops: Iterable[LoopClosure | Coupling] = (), surfaces: Surfaces | None = None, site: str = ''
) -> mujoco.MjModel:
    """Return MuJoCo's model of a tree of joints, which have the names of the model's.

    It has the inertias, rotor inertias, viscous and Coulomb friction, springs and position limits of ``model``, and no
    shapes but that of the frame that touches ``surfaces``. Its gravity is that of MuJoCo. Each of ``loops`` becomes
    soft constraints, two points of its axis for a hinge, and the link or frame ``site`` a site of this name, '': none.
    Raises ModelError naming a closed loop of ``model``, a loop or joint that MuJoCo lacks, or a joint that moves no
    inertia.
    """
    check_tree(model, 'a plant in MuJoCo')
    for finding in refusals(audit_model(model), ('masses', 'forward dynamics')):
        raise ModelError(f'{finding.where}: {finding.message}')
    spec = mujoco.MjSpec()
    bodies = {model.link_names[0]: spec.worldbody}
    for joint in model.joints:
        if joint.kind not in TYPES:
            raise ModelError(f'joint {joint.name!r}: MuJoCo has no {joint.kind} joint')
        if joint.kind == 'free' and joint.parent != model.link_names[0]:
            raise ModelError(f'joint {joint.name!r}: MuJoCo has free joints on the base alone, not on {joint.parent!r}')
        place = {'pos': joint.origin, 'quat': _quaternion(joint.rotation)}
        body = bodies[joint.link] = bodies[joint.parent].add_body(**place, explicitinertial=True, **COMPILED)
        body.add_joint(name=joint.name, type=TYPES[joint.kind], axis=joint.axis)
    for loop in loops:
        if isinstance(loop, Coupling):
            _add_coupling(spec, loop)
        else:
            _add_closure(spec, bodies, model, loop)
    if surfaces is not None:
        _add_surfaces(spec, bodies, model, surfaces)
    if site:
        _add_site(bodies, model, site, site, np.eye(4))
    plant = spec.compile()
    for joint in model.joints:
        _set_numbers(plant, joint)
    mujoco.mj_setConst(plant, mujoco.MjData(plant))
    return plant


def _add_coupling(spec: mujoco.MjSpec, coupling: Coupling) -> None:
    """Add the constraint of a coupling."""
    equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
    equality.name1, equality.name2 = coupling.joint, coupling.other or ''
    polynomial = np.zeros(LARGEST_POLYNOMIAL)
    polynomial[: len(coupling.polynomial)] = coupling.polynomial
    equality.data[:LARGEST_POLYNOMIAL] = polynomial


def _add_closure(spec: mujoco.MjSpec, bodies: dict, model: Model, closure: LoopClosure) -> None:
    """Add the constraints of a closure, between sites."""
    second = characteristic_length(model.arrays)
    for height in (0.0, second) if closure.kind == 'revolute' else (0.0,):
        equality = spec.add_equality(type=EQUALITIES[closure.kind], objtype=mujoco.mjtObj.mjOBJ_SITE)
        along = np.eye(4)
        along[2, 3] = height
        equality.name1, equality.name2 = (
            _add_site(bodies, model, f'loop {closure.name} {end} {height:g}', link or model.link_names[0], pose @ along)
            for end, link, pose in (('a', closure.link_a, closure.pose_a), ('b', closure.link_b, closure.pose_b))
        )
        if closure.kind == 'weld':
            equality.data[10] = second  # torquescale


def _add_site(bodies: dict, model: Model, name: str, link: str, pose: np.ndarray) -> str:
    """Add a site at a pose (4, 4) in a link or frame; return its name."""
    frame = model.frame(link)
    rotation, origin = frame.rotation @ pose[:3, :3], frame.origin + frame.rotation @ pose[:3, 3]
    bodies[model.link_names[frame.link]].add_site(name=name, pos=origin, quat=_quaternion(rotation))
    return name


def _add_surfaces(spec: mujoco.MjSpec, bodies: dict, model: Model, surfaces: Surfaces) -> None:
    """Add planes, and to the body that carries the frame what touches them: a sphere about its origin."""
    frame = model.frame(surfaces.frame)
    contact = {'solref': (TIME_CONSTANT, DAMPING_RATIO), 'friction': (FRICTION, 0.0, 0.0), 'condim': 3}
    sphere = {'type': mujoco.mjtGeom.mjGEOM_SPHERE, 'size': (RADIUS, 0.0, 0.0)}
    bodies[model.link_names[frame.link]].add_geom(pos=frame.origin, **sphere, **contact)
    for normal, distance in zip(surfaces.normals, surfaces.distances, strict=True):
        turn = np.empty(4)
        mujoco.mju_quatZ2Vec(turn, normal)
        plane = {'type': mujoco.mjtGeom.mjGEOM_PLANE, 'size': (0.0, 0.0, 1.0)}
        spec.worldbody.add_geom(pos=(distance - RADIUS) * normal, quat=turn, **plane, **contact)


def _set_numbers(plant: mujoco.MjModel, joint: Joint) -> None:
    """Set the numbers of a joint and of the body that it moves."""
    i = plant.joint(joint.name).id
    body, q, first = plant.jnt_bodyid[i], plant.jnt_qposadr[i], plant.jnt_dofadr[i]
    v = slice(first, first + len(KINDS[joint.kind].velocities))
    mass, com, inertia = central_parameters(joint.inertia)
    moments, (x, y, _) = eigenvalues(inertia)
    axes = np.column_stack([x, y, cross(x, y)])
    plant.body_mass[body], plant.body_ipos[body] = mass, com
    plant.body_inertia[body], plant.body_iquat[body] = moments, _quaternion(axes)
    plant.dof_armature[v], plant.dof_damping[v], plant.dof_frictionloss[v] = joint.rotor, joint.viscous, joint.coulomb
    if joint.kind in WITH_SPRING:
        plant.jnt_stiffness[i], plant.qpos_spring[q] = joint.stiffness, joint.rest
    limits = np.clip([joint.lower, joint.upper], -FARTHEST, FARTHEST)
    if np.abs(limits).min() < FARTHEST:  # False where they are unknown
        plant.jnt_limited[i], plant.jnt_range[i] = True, limits


def _quaternion(rotation: np.ndarray) -> np.ndarray:
    """Return MuJoCo's quaternion w, x, y, z of a rotation (3, 3)."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion
