"""The robots of the benchmarks, arms and humanoids, and their models in Pinocchio.

Pinocchio orders joints by itself, and the velocity of a free joint has its linear part first there.
"""

from collections.abc import Iterator
from importlib.metadata import files
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf

FREE_BASE = """
<robot name="free_base"><link name="surroundings"/><link name="floating_base"/>
  <joint name="root_joint" type="floating"><parent link="surroundings"/><child link="floating_base"/></joint></robot>
"""


class Known(NamedTuple):
    """A robot, its model in Pinocchio, a frame at the tip of a limb and a link within the tree."""

    name: str
    robot: Robot
    model: pin.Model
    tip: str
    inner_link: str

    @property
    def order(self) -> np.ndarray:
        """Places of the robot's velocities (nv,) in Pinocchio's."""
        places: list[int] = []
        for joint in self._joints():
            own = joint.idx_v + np.arange(joint.nv)
            places.extend(np.roll(own, 3) if joint.nv == 6 else own)
        return np.array(places)

    @property
    def links(self) -> np.ndarray:
        """Places of the robot's moving links in Pinocchio's regressors, which have no base."""
        return np.array([self.model.getJointId(joint) for joint in self.robot.joint_names]) - 1

    def state(self, seed: int = 0) -> list[np.ndarray]:
        """Return a random position (nq,), and a velocity and an acceleration or torque (nv,)."""
        random = np.random.default_rng(seed)
        q = self.robot.integrate(self.robot.neutral(), random.uniform(-2.0, 2.0, self.robot.nv))
        return [q, *random.normal(size=(2, self.robot.nv))]

    def pinocchio_state(self, q, *velocities) -> list[np.ndarray]:
        """Return a state as Pinocchio orders it."""
        theirs, begin = np.empty(self.model.nq), 0
        for joint in self._joints():
            theirs[joint.idx_q : joint.idx_q + joint.nq] = q[begin : begin + joint.nq]
            begin += joint.nq
        places = np.argsort(self.order)
        return [theirs, *(velocity[places] for velocity in velocities)]

    def _joints(self) -> Iterator:
        """Yield the joints of the model in the robot's order."""
        return (self.model.joints[self.model.getJointId(joint)] for joint in self.robot.joint_names)


def example_urdf(end: str) -> str:
    """Return the path of a URDF of the package ``example-robot-data``, by the end of it."""
    (path,) = [path for path in files('example-robot-data') or () if str(path).endswith(end)]
    return str(path.locate())


def aubo_i5() -> Known:
    robot = Robot.named('aubo_i5')
    model = pin.buildModelFromXML(named_urdf('aubo_i5').read_text())
    model.armature[:] = robot.rotor_inertia
    return Known('AUBO-i5', robot, model, 'ee_link', robot.link_names[3])


def of_example(name: str, end: str, tip: str, inner_link: str) -> Known:
    path = example_urdf(end)
    return Known(name, Robot.from_urdf(path), pin.buildModelFromUrdf(path), tip, inner_link)


def panda() -> Known:
    return of_example('Panda', 'panda_description/urdf/panda.urdf', 'panda_hand', 'panda_link4')


def talos_reduced() -> Known:
    return of_example('Talos reduced', '/talos_reduced.urdf', 'leg_right_6_link', 'torso_2_link')


def g1_on_free_base() -> Known:
    path = example_urdf('/g1_29dof_rev_1_0.urdf')
    robot = Robot.from_urdf(FREE_BASE).with_attached(Robot.from_urdf(path), 'floating_base')
    model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    return Known('G1, free base', robot, model, 'right_wrist_yaw_link', 'torso_link')


KNOWN = (aubo_i5, panda, talos_reduced, g1_on_free_base)
