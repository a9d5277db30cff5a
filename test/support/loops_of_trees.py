"""Closed loops of random trees, closed at a position that is given."""

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.model import Model


def random_pose(rng) -> np.ndarray:
    """Return a pose (4, 4) up to half a metre away."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.uniform(-0.5, 0.5, 3)
    return pose


def closures_at(model: Model, q, seed, kinds=('point', 'weld', 'revolute', 'planar_point')) -> list[LoopClosure]:
    """Return a closure of each kind between random bodies of a model, closed at q (nq)."""
    rng, robot = np.random.default_rng(seed), Robot(model).with_binding('generic')
    bodies = {name: frame.link for name, frame in model.frames.items()}
    closures = []
    for kind in kinds:
        a, b = rng.choice(list(bodies), 2)
        while bodies[a] == bodies[b]:
            a, b = rng.choice(list(bodies), 2)
        pose_a = random_pose(rng)
        pose_b = np.linalg.solve(robot.link_pose(q, b), robot.link_pose(q, a) @ pose_a)
        forces = dict(zip(('stiffness', 'damping', 'rest'), rng.uniform(0.1, 3.0, 3), strict=True))
        more = forces if kind == 'revolute' else {}
        closures.append(LoopClosure(f'{kind} of {a}', str(a), pose_a, str(b), pose_b, kind, **more))
    return closures


def couplings_of(model: Model, seed) -> list[Coupling]:
    """Return couplings of some joints of one coordinate, of all degrees and one constant."""
    rng = np.random.default_rng(seed)
    kinds = zip(model.joint_names, model.joint_kinds, strict=True)
    joints = [name for name, kind in kinds if KINDS[kind].coordinates == 1]
    chosen = [Coupling(joints[0], None, (float(rng.normal()),))] if joints else []
    chosen += [
        Coupling(joint, joints[0], tuple(rng.normal(size=1 + k % 5).tolist())) for k, joint in enumerate(joints[1:6])
    ]
    return chosen
