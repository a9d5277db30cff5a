"""Libraries of arms with a law of a frame, and the law of the nodes with the same numbers, for tests."""

import functools
from pathlib import Path
from typing import NamedTuple

from support.controllers.controllers_core import exported
from support.robots.small_robots import mixed, seven_joints

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.c.library import Library
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import Impedance
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.frame_law_code import impedance_code, operational_space_code
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpace
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.control.terms.compensation_policy import PRESETS, CompensationPolicy
from robot_dynamics_ros.robot.export.c_library_export import controller_library

START = 1_700_000_000_000_000_000
STEP = 1_000_000
LENGTH = 500_000_000
Q = np.array([0.1, -0.7, 0.9, -0.1, 0.8, 0.0])
FREE = {'effort_limit': [np.inf], 'fade_in_time': 0.0}
"""Settings with which the efforts are those of the law."""
TAKING = [name for name in PRESETS if CompensationPolicy(name, '', ()).takes_commands and name != 'motor_pd']
FRICTION = {'stribeck': 0.5, 'stribeck_velocity': 0.2, 'load': 0.02, 'quadratic': 0.6}


class Kind(NamedTuple):
    """An arm, and the numbers of its impedance."""

    robot: Robot
    stiffness: tuple
    damping: tuple
    posture: tuple[float, float]
    frame: str
    reference_frame: str
    rest_friction: float = 0.0
    soft_limit: tuple[float, float] = (0.0, 0.0)
    wrench: tuple[float, float] = (0.0, 0.0)

    def made(self) -> tuple[Impedance, Stiffness]:
        """Return an impedance, and the stiffness that its laws share, as they are at first."""
        Kp, Kd = np.full((2, self.robot.nv), np.transpose([self.posture]))
        soft = SoftLimits(self.robot, [self.soft_limit[0]], [self.soft_limit[1]])
        free = [d > 0.0 for d in self.damping]
        wrench = CommandedWrench(self.wrench, (0.5, 0.1), 0.1, (any(free[:3]), any(free[3:])))
        numbers = self.stiffness, Kp, Kd, 0.7, self.damping, self.frame, self.reference_frame, (0.4, 0.1), soft, wrench
        return Impedance(*numbers, self.rest_friction), Stiffness(self.stiffness, 1.0, 0.2, free)

    def operational_space(self) -> OperationalSpace:
        """Return what operational-space control of the same frame and posture is led by."""
        Kp, Kd = np.full((2, self.robot.nv), np.transpose([self.posture]))
        return OperationalSpace(12.0, Kp, Kd, 0.7, self.frame, (0.4, 0.1), 60.0)


@functools.cache
def kinds() -> dict[str, Kind]:
    """Arms of six, seven and three joints, one without friction; the last has a continuous and a sliding one."""
    aubo = Robot.named('aubo_i5').with_friction(coulomb=5.0, **FRICTION).compiled()
    return {
        'aubo_i5': Kind(
            aubo, (30.0, 30.0, 20.0, 800.0, 800.0, 300.0), (0.0,) * 3 + (60.0,) * 3, (0.0, 0.0), 'ee_link', 'local',
            0.5, (0.3, 15.0), (5.0, 40.0),
        ),
        'plain': Kind(
            Robot.named('aubo_i5').with_friction(viscous=0.0, coulomb=0.0, offset=0.0).compiled(),
            (30.0,) * 3 + (800.0,) * 3, (0.0,) * 6, (0.0, 0.0), 'ee_link', 'local',
        ),
        'seven': Kind(
            seven_joints().with_friction(viscous=0.5, coulomb=1.0).compiled(), (20.0,) * 3 + (400.0, 0.0, 400.0),
            (0.0,) * 4 + (20.0, 0.0), (5.0, 1.0), '', 'local_world_aligned',
            wrench=(3.0, 20.0),
        ),
        'three': Kind(
            mixed().with_friction(viscous=1.0, coulomb=2.0, offset=-0.3, transition=0.05, **FRICTION).compiled(),
            (0.0,) * 3 + (300.0,) * 3, (1.0,) * 3 + (0.0,) * 3, (10.0, 2.0), 'sledge', 'local', 0.0, (0.2, 10.0),
        ),
    }  # fmt: skip


@functools.cache
def content(name: str) -> Library:
    """Return what the library of one of these arms holds."""
    kind = kinds()[name]
    return controller_library(kind.robot, impedance_code(kind.robot, *kind.made(), TERMS, 1000.0))


@functools.cache
def operational_space_library(name: str) -> Path:
    """Return the shared library of one of these arms with operational-space control."""
    kind = kinds()[name]
    code = operational_space_code(kind.robot, kind.operational_space(), TERMS, 1000.0)
    return exported(kind.robot, f'operational_space_{name}', code)


@functools.cache
def library(name: str) -> Path:
    """Return the shared library of one of these arms."""
    return exported(kinds()[name].robot, f'impedance_{name}', content(name).frame_law)


def states_and_references(random, count: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return states (count, 2, n) at random, and references (count, 4, n) near them, some of which stand."""
    states = random.uniform(-2.5, 2.5, (count, 2, n)) * np.array([1.0, 0.4])[:, None]
    references = random.normal(size=(count, 4, n)) * np.array([0.2, 0.3, 2.0, 3.0])[:, None]
    references[:, :2] += states
    references[::3, 1:3] = 0.0
    return states, references


def held(q, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return states and references (count, ...) that stand at q."""
    rest = np.zeros_like(q)
    return np.tile([q, rest], (count, 1, 1)), np.tile([q, rest, rest, rest], (count, 1, 1))


def same(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Assert that two arrays (count, n) have the same bits."""
    wrong = np.flatnonzero((ours.view(np.uint64) != theirs.view(np.uint64)).any(axis=-1))
    assert not len(wrong), (len(wrong), wrong[0], ours[wrong[0]], theirs[wrong[0]])
