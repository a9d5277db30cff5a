"""How a robot is made, changed and described."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.compiler.compiled_robot import MOST_JOINTS, code_of, is_possible, robot_digest
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.evaluation.documented import documented
from robot_dynamics_ros.evaluation.dynamics import ALIGNED, GRAVITY, Dynamics
from robot_dynamics_ros.formats.actuators import with_actuators
from robot_dynamics_ros.formats.dh import model_from_dh
from robot_dynamics_ros.formats.library import named_model
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.formats.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_export import urdf_of
from robot_dynamics_ros.model.editing import cut, with_attached, with_locked_joints
from robot_dynamics_ros.model.model import Actuators, Finding, Friction, JointLimits, Model, ModelArrays
from robot_dynamics_ros.payload import Payload

BINDINGS = ('generic', 'specialised')


@documented
class Robot(Dynamics):
    """A robot: how it is made, changed and described; its quantities are those of ``Dynamics``.

    It never changes: ``with_payload``, ``with_gravity`` and the like return another robot.
    """

    def __reduce__(self):
        """Pickle what the robot is made of; compiled code and workspaces belong to a process."""
        coded = self._code.arrays if self._code else None
        return _unpickled, (self._bare, self._gravity, coded, self._threads, self._payloads)

    def __repr__(self):
        """Return name, joints and gravity."""
        return f'<Robot {self.name}: {", ".join(self.joint_names)}; gravity {self._gravity.tolist()} m/s^2>'

    @classmethod
    def named(cls, name: str) -> 'Robot':
        """Return a robot that comes with the package, for instance ``'aubo_i5'``; UnknownNameError lists them."""
        return cls(named_model(name)).with_binding('specialised')

    @classmethod
    def from_urdf(cls, source: str | Path, base_link: str | None = None, tip_link: str | None = None) -> 'Robot':
        """Return the robot of a URDF; ModelError names what cannot be represented."""
        return cls(cut(model_from_urdf(source), base_link, tip_link)).with_binding('specialised')

    @classmethod
    def from_dh(cls, rows, convention: str = 'standard', **more) -> 'Robot':
        """Return the robot of a Denavit-Hartenberg table; see ``model_from_dh``."""
        return cls(model_from_dh(rows, convention, **more)).with_binding('specialised')

    @classmethod
    def from_mjcf(cls, source: str | Path) -> 'Robot':
        """Return the robot of an MJCF under its gravity; needs MuJoCo."""
        return cls(*model_from_mjcf(source)).with_binding('specialised')

    @classmethod
    def from_yaml(cls, source: str | Path) -> 'Robot':
        """Return the robot that ``to_yaml`` wrote."""
        return cls(*model_from_yaml(source)).with_binding('specialised')

    def to_urdf(self) -> str:
        """Return this robot as URDF text; ``urdf_of`` says what is lost."""
        return urdf_of(self._model)

    def to_yaml(self) -> str:
        """Return this robot as YAML text, gravity included; only the findings of the model check are lost."""
        return yaml_of(self._model, self._gravity)

    def chain(self, base_link: str | None = None, tip_link: str | None = None) -> 'Robot':
        """Return what moves on ``base_link``, up to ``tip_link``.

        Links beside the chain or beyond its tip are dropped with their mass. Gravity is in the new base frame.
        """
        return self._of(cut(self._model, base_link, tip_link))

    def with_locked_joints(self, positions) -> 'Robot':
        """Return this robot with joints locked at positions; their links keep their mass and their names."""
        return self._of(with_locked_joints(self._model, positions))

    def with_attached(self, other: 'Robot', link: str, pose=None, prefix: str = '') -> 'Robot':
        """Return this robot with the base of another one fixed to ``link``."""
        if not isinstance(other, Robot):
            raise ArgumentError(f'other: expected a Robot, got {other!r:.80}')
        model = with_attached(self._model, other._model, link, pose, prefix)
        return Robot(model, self._gravity).with_binding(self.binding, self._threads)

    def with_actuators(self, source) -> 'Robot':
        """Return this robot with the figures of an actuator file (``config/aubo_i5.yaml``): rotors, gears, friction."""
        model = with_actuators(self._bare, source)
        robot = Robot(model, self._gravity, payloads=self._payloads)
        return robot.with_binding(self.binding, self._threads, most_joints=self.nv)

    def with_gravity(self, gravity) -> 'Robot':
        """Return this robot under another gravity, for wall and ceiling mounting."""
        return Robot(self._bare, gravity, self._code, self._threads, self._payloads)

    def with_base_orientation(self, rotation) -> 'Robot':
        """Return this robot with a turned base: ``with_gravity`` R' (0, 0, -9.81).

        ArgumentError where R'R is not the identity to 1e-6, or R reflects.
        """
        return self.with_gravity(validation.rotation('rotation', rotation).T @ GRAVITY)

    def with_payload(self, payload: Payload, link: str | None = None) -> 'Robot':
        """Return this robot with ``payload`` added to what ``link`` carries; the last link by default.

        Nothing is compiled: specialised code has the last link's payload as a run-time argument; with one on another
        link the generic kernels compute. Raises ArgumentError and UnknownNameError.
        """
        if not isinstance(payload, Payload):
            raise ArgumentError(f'payload: expected a Payload, got {payload!r:.80}')
        if link is None:
            parents = self._model.arrays.parent[1:]
            tips = [name for i, name in enumerate(self.link_names) if i not in parents]
            if len(tips) > 1:
                raise ArgumentError(f'link: needed, for {self.name} has several tips: {", ".join(tips)}')
            link = self.link_names[-1]
        self._model.frame(link)
        carried = self._payloads.get(link)
        return self._carrying({**self._payloads, link: carried + payload if carried else payload})

    def without_payload(self, link: str | None = None) -> 'Robot':
        """Return this robot without the payload of ``link``, or without any: the same bits as before.

        UnknownNameError for a link that carries none.
        """
        if link is not None and link not in self._payloads:
            raise UnknownNameError(f'no payload on {link!r}; there are some on: {", ".join(self._payloads) or "none"}')
        return self._carrying({name: it for name, it in self._payloads.items() if link not in (None, name)})

    @property
    def digest(self) -> str:
        """Hash (16 hex digits) of all model parameters except gravity and the last link's inertia."""
        return robot_digest(self._model.arrays)

    def with_binding(self, binding: str, threads: int | None = None, most_joints: int = MOST_JOINTS) -> 'Robot':
        """Return this robot with ``'generic'`` kernels, or with code ``'specialised'`` for it.

        Specialised code is compiled at its first use and kept on disk; gravity and a payload on the last link change
        without compiling. Payloads on other links become part of the code, which serves as long as they stay.
        ``binding`` tells which one computes.
        """
        validation.choice('binding', binding, BINDINGS)
        possible = 0 < self.nv <= most_joints and is_possible()
        wanted = binding == 'specialised' and possible
        code = code_of(self._evaluator.arrays, threads) if wanted else None
        return Robot(self._bare, self._gravity, code, threads, self._payloads)

    @property
    def binding(self) -> str:
        """What answers: ``'specialised'`` or ``'generic'``."""
        return 'specialised' if self._evaluator.specialised else 'generic'

    def kernel(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> Callable:
        """Return a quantity, of the frame of ``link`` where given, as a function that your Numba code inlines.

        The function takes joint vectors as the method does, ``robot.load`` and the result, matrices flat; it returns
        whether all numbers are finite and checks nothing else. ArgumentError lists the names; it is also raised where
        generic kernels compute.
        """
        return self._evaluator.code(program, 'inline', link, reference_frame)

    def address(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> int:
        """Return the address of a quantity's compiled code, for any language in this process.

        In C: ``bool f(const double *q, ..., const double *load, double *result)``, arguments and result as those of
        ``kernel``. It is valid as long as the robot lives. Raises ArgumentError as ``kernel`` does.
        """
        return self._evaluator.code(program, 'address', link, reference_frame)

    @property
    def load(self) -> np.ndarray:
        """What a ``kernel`` takes at run time, (19,).

        Gravity (3, m/s^2), the last link's mass, first moments and inertia with its payload (10; see ``inertia``), and
        a wrench on it in its own frame (6; N m, N), zeros here.
        """
        return self._load.copy()

    @property
    def name(self) -> str:
        """The robot's name, from its description."""
        return self._model.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints, in the order of every joint vector."""
        return self._model.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """The base and the link that each joint moves: n + 1 names."""
        return self._model.link_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Every name that a pose or wrench may refer to: links, those merged by a fixed joint included."""
        return tuple(self._model.frames)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in the base frame, (3,) m/s^2."""
        return self._gravity.copy()

    @property
    def payloads(self) -> dict[str, Payload]:
        """What the robot carries, by the name of the link or frame that ``with_payload`` was given."""
        return dict(self._payloads)

    @property
    def limits(self) -> JointLimits:
        """Limits in joint order; NaN where the description states none."""
        return self._model.limits

    @property
    def continuous_joints(self) -> np.ndarray:
        """Which joints are revolute without position limits, (nv,) bool: q and q + 2 pi are one pose."""
        kinds, (lower, upper) = np.array(self._model.joint_kinds), self.limits[:2]
        if len(kinds) != len(lower):
            return np.zeros(self.nv, bool)  # several coordinates a joint: not distinguished
        return (kinds == 'revolute') & (lower == -np.inf) & (upper == np.inf)

    @property
    def rotor_inertia(self) -> np.ndarray:
        """Rotor inertia reflected to the joints, (nv,) kg m^2 or kg."""
        return self._model.arrays.rotor[1:]

    @property
    def rotor_spin(self) -> np.ndarray:
        """Angular momentum that rotors have on their parent links per joint velocity, (nv,) kg m^2; see ``rotors``."""
        return self._model.arrays.spin[1:]

    @property
    def inertial_parameters(self) -> np.ndarray:
        """What the regressors are multiplied with, (10 n,): the ten parameters of every moving link, payload included.

        Of each link m, m c, J about its frame's origin (see ``inertia``), in the order of ``link_names``.
        """
        return self._model.arrays.I[1:].ravel()

    @property
    def friction(self) -> Friction:
        """Friction parameters in joint order."""
        return self._model.friction

    @property
    def actuators(self) -> Actuators:
        """Gear ratios and torque constants in joint order; NaN where nothing states them."""
        return self._model.actuators

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the audit at load had to say of the description."""
        return self._model.findings

    def _of(self, part: Model) -> 'Robot':
        """Return the robot of a part of this one, answered as this one is."""
        return Robot(part, self._gravity).with_binding(self.binding, self._threads, most_joints=self.nv)

    def _carrying(self, payloads: dict[str, Payload]) -> 'Robot':
        """Return this robot with these payloads and no others."""
        return Robot(self._bare, self._gravity, self._code, self._threads, payloads)


def _unpickled(model: Model, gravity, coded: ModelArrays | None, threads: int | None, payloads) -> Robot:
    """Return a robot from its pickle; ``coded`` is what there was code for."""
    code = code_of(coded, threads) if coded and is_possible() else None
    return Robot(model, gravity, code, threads, payloads)
