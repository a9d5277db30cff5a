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


def closed_at(robot: Robot, q, name, link_a, pose_a, link_b, kind, **forces) -> LoopClosure:
    """Return a closure that is closed at q (nq)."""
    pose_b = np.linalg.solve(robot.link_pose(q, link_b), robot.link_pose(q, link_a) @ pose_a)
    return LoopClosure(name, link_a, pose_a, link_b, pose_b, kind, **forces)


def closures_at(model: Model, q, seed, kinds=('point', 'weld', 'revolute', 'planar_point')) -> list[LoopClosure]:
    """Return a closure of each kind between random bodies of a model, closed at q (nq), the hinge with a spring."""
    rng, robot = np.random.default_rng(seed), Robot(model)
    links = list(model.frames)
    closures = []
    for kind in kinds:
        a, b = map(str, rng.choice(links, 2))
        while model.frames[a].link == model.frames[b].link:
            a, b = map(str, rng.choice(links, 2))
        forces = dict(zip(('stiffness', 'damping', 'rest'), rng.uniform(0.1, 3.0, 3).tolist(), strict=True))
        more = forces if kind == 'revolute' else {}
        closures.append(closed_at(robot, q, f'{kind} of {a}', a, random_pose(rng), b, kind, **more))
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
