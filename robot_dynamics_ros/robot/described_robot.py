"""Base class of ``Robot``: its model with payloads, gravity, names and limits, and the evaluator of its quantities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.audit import judged
from robot_dynamics_ros.model.closed_loops.loop_types import Loops
from robot_dynamics_ros.model.digest import model_digest
from robot_dynamics_ros.model.limbs import end_link
from robot_dynamics_ros.model.model import GRAVITY, Actuators, Finding, Friction, JointLimits, Model
from robot_dynamics_ros.model.residual import ResidualModel, check_residual
from robot_dynamics_ros.payload import Payload, loaded
from robot_dynamics_ros.robot.evaluator import Evaluator
from robot_dynamics_ros.robot.frames_evaluator import FramesEvaluator
from robot_dynamics_ros.robot.summary.robot_table import html_of, text_of

ALIGNED = 'local_world_aligned'
Program = str | tuple[str, str] | tuple[str, str, str]
"""Name of a quantity; for one of a frame: name, link and (unless it is a pose) the reference frame."""
Described = TypeVar('Described', bound='DescribedRobot')


@dataclass(frozen=True, eq=False)
class Setting:
    """What a robot is made from."""

    model: Model  # without payloads
    gravity: np.ndarray  # (3,) m/s^2, base frame
    payloads: Mapping[str, Payload] = field(default_factory=dict)  # by the frames that carry them
    compiled: ModelArrays | None = None  # of the robot for which code of its own was asked for; None: generic code
    threads: int | None = None  # number of cores for batches; None: all
    residual: ResidualModel | None = None  # learnt difference between measured torques and those of the model


class DescribedRobot:
    """The description of a robot; its groups of methods are derived from this class."""

    def __init__(self, model: Model, gravity: ArrayLike = GRAVITY):
        """Store ``model`` under ``gravity`` (3, m/s^2, base frame); code is generic, see ``compiled``."""
        if not isinstance(model, Model):
            raise ArgumentError(
                f'model: expected a Model, got {model!r:.80}; Robot.from_description reads files and names of robots'
            )
        self._begin(Setting(model, validation.numbers('gravity', gravity)))

    def _begin(self, setting: Setting) -> None:
        """Store what methods read; ArgumentError for a gravity that is not three finite numbers."""
        gravity = validation.finite('gravity', setting.gravity, (3,)).copy()
        self._setting = replace(setting, gravity=gravity)
        self._model = loaded(setting.model, setting.payloads)
        if setting.residual is not None:
            check_residual(setting.residual, self._model)
        parts = self._model, gravity, setting.compiled, setting.threads, setting.residual
        self._evaluator = FramesEvaluator(*parts)
        self._evaluate = self._evaluator.evaluate
        self._evaluate_of_frame = self._evaluator.evaluate_of_frame
        self._evaluate_under_wrenches = self._evaluator.evaluate_under_wrenches
        self._inputs, self._weightless = self._evaluator.inputs, self._evaluator.weightless
        self._zeros = np.zeros(self.nv)

    def _changed(self: Described, **changes) -> Described:
        """Return this robot with fields of its ``Setting`` replaced."""
        robot = object.__new__(type(self))
        robot._begin(replace(self._setting, **changes))
        return robot

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the setting; compiled code and workspaces are created again."""
        return _unpickled, (type(self), self._setting)

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self._model.arrays.nq

    @property
    def nv(self) -> int:
        """Number of velocities, accelerations and torques."""
        return self._model.arrays.nv

    @property
    def model(self) -> Model:
        """Model: joints, links, limits and frames, payload included."""
        return self._model

    @property
    def loops(self) -> Loops:
        """Loops: closures, couplings, their gain (1/s) and their tolerance."""
        return self._model.loops

    @property
    def name(self) -> str:
        """Name of the robot, from its description."""
        return self._model.name

    @property
    def limits(self) -> JointLimits:
        """Limits in joint order; NaN where unknown."""
        return self._model.limits

    @property
    def friction(self) -> Friction:
        """Friction parameters in joint order."""
        return self._model.friction

    @property
    def actuators(self) -> Actuators:
        """Gear ratios and torque constants; NaN where unknown."""
        return self._model.actuators

    @property
    def residual(self) -> ResidualModel | None:
        """Learnt torques of the joints; None for none."""
        return self._setting.residual

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the model check, links on fixed joints lumped."""
        return judged(self._setting.model)

    def __repr__(self) -> str:
        """Return name, joints, number of loops and gravity."""
        count = len(self.loops.all)
        loops = f'; {count} closed loop{"s" if count > 1 else ""}' if count else ''
        gravity = self._setting.gravity.tolist()
        return f'<Robot {self.name}: {", ".join(self.joint_names)}{loops}; gravity {gravity} m/s^2>'

    def __str__(self) -> str:
        """Return a table of the joints."""
        return text_of(self)

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return html_of(self)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of joint vectors."""
        return self._model.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the base and of the link that each joint moves, n + 1."""
        return self._model.link_names

    @property
    def end_link(self) -> str:
        """Name of the link with the fingers of a gripper; of other robots that of the last link."""
        return end_link(self._model) or self.link_names[-1]

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: links, and links on fixed joints."""
        return tuple(self._model.frames)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in the base frame, (3,) m/s^2."""
        return self._setting.gravity.copy()

    @property
    def payloads(self) -> dict[str, Payload]:
        """Payloads by the link or frame of ``with_payload``."""
        return dict(self._setting.payloads)

    @property
    def continuous_joints(self) -> np.ndarray:
        """Whether joints are revolute without position limits or springs, (nv,) bool: q and q + 2 pi are the same.

        All False for a robot with joints of several coordinates. Closed loops do not count: a joint that a coupling
        turns by another amount tells both apart.
        """
        kinds, (lower, upper) = np.array(self._model.joint_kinds), self.limits[:2]
        if len(kinds) != len(lower):
            return np.zeros(self.nv, bool)
        return (
            (kinds == 'revolute') & (lower == -np.inf) & (upper == np.inf) & (self._model.arrays.stiffness[1:] == 0.0)
        )

    @property
    def rotor_inertia(self) -> np.ndarray:
        """Rotor inertia reflected to the joints, (nv,) kg m^2 or kg."""
        return self._model.arrays.rotor[1:]

    @property
    def rotor_spin(self) -> np.ndarray:
        """Angular momentum of rotors on their parent links per joint velocity, (nv,) kg m^2; see ``kernels.rotors``."""
        return self._model.arrays.spin[1:]

    @property
    def inertial_parameters(self) -> np.ndarray:
        """Inertial parameters pi of the regressors, (10 n,): ten for each moving link, payload included.

        For each link m (kg), m c (3, kg m) and J about its frame's origin (xx, xy, xz, yy, yz, zz; kg m^2), in the
        order of ``link_names``.
        """
        return self._model.arrays.I[1:].ravel()

    @property
    def digest(self) -> str:
        """Hash (16 hex digits) of what torques without friction depend on, but gravity and the last link's inertia.

        Arrays of the model, and of closed loops the actuated joints and the positions near which they are closed.
        """
        return model_digest(self._model)


def _unpickled(kind: type[Described], setting: Setting) -> Described:
    """Return a robot from its pickle."""
    robot = object.__new__(kind)
    robot._begin(setting)
    return robot


def evaluator_of(robot: DescribedRobot) -> Evaluator:
    """Return the evaluator of a robot, for code that calls machine code for states in rows itself."""
    return robot._evaluator
