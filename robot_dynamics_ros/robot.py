"""``Robot``, the one class that a user of the library needs.

It checks input once, picks the kernels and handles batches, payload and mounting. It never changes: ``with_payload``,
``with_gravity`` and ``with_actuators`` return another robot.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.codegen.programs import PROGRAMS
from robot_dynamics_ros.codegen.specialise import MOST_JOINTS, Specialised, is_possible
from robot_dynamics_ros.dynamics import batch
from robot_dynamics_ros.dynamics.bodies import ten_parameters
from robot_dynamics_ros.dynamics.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.dynamics.generic import Generic
from robot_dynamics_ros.dynamics.model import Finding, Friction, JointLimits, Model
from robot_dynamics_ros.dynamics.regrouping import regrouped
from robot_dynamics_ros.importers.actuators import with_actuators
from robot_dynamics_ros.importers.dh import model_from_dh
from robot_dynamics_ros.importers.library import named_model
from robot_dynamics_ros.importers.mjcf import model_from_mjcf
from robot_dynamics_ros.importers.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.importers.surgery import cut, with_attached, with_locked_joints
from robot_dynamics_ros.importers.urdf import model_from_urdf
from robot_dynamics_ros.importers.urdf_text import urdf_of

BINDINGS = ('generic', 'specialised')


@dataclass(frozen=True, eq=False)
class Payload:
    """A body that the arm carries: mass (kg), centre (3, m) in the link's frame, inertia about the centre.

    The axes of the inertia (3, 3; kg m^2) are parallel to the link's frame; left out, the payload is a point mass.
    """

    mass: float
    com: tuple[float, float, float]
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self):
        """Refuse what no body can be."""
        if arguments.finite('mass', self.mass, ()) < 0.0:
            raise ArgumentError(f'mass: expected at least 0 kg, got {self.mass}')
        arguments.finite('com', self.com, (3,))
        inertia = arguments.finite('inertia', self.inertia, (3, 3))
        rounding = 1e-12 * np.abs(inertia).max()  # R J R' is symmetric and semidefinite up to rounding only
        if np.abs(inertia - inertia.T).max() > rounding or np.linalg.eigvalsh(inertia)[0] < -rounding:
            raise ArgumentError('inertia: expected a symmetric positive semidefinite matrix (3, 3)')
        inertia = 0.5 * (inertia + inertia.T)  # a copy: what was checked stays
        inertia.flags.writeable = False
        object.__setattr__(self, 'inertia', inertia)


class Robot:
    """The dynamics of one robot.

    Joint vectors are in the order of ``joint_names``, in SI units (rad, N m; m, N for prismatic joints). Every method
    takes one state (n,) or any batch (..., n), broadcasts its arguments, writes into ``out`` where given, and raises
    ArgumentError naming the argument for a wrong shape, NaN or inf.
    """

    def __init__(
        self,
        model: Model,
        gravity=(0.0, 0.0, -9.81),
        specialised: Specialised | None = None,
        threads: int | None = None,
    ):
        """Make the robot of ``model`` with ``gravity`` (3, m/s^2) in the base frame.

        ``specialised`` is code for this robot, whatever its last link weighs; without it the generic kernels answer.
        ``threads`` is what that code was asked to keep to; a copy and a pickle pass it on (None: all, there too).
        """
        self._model = model
        self._gravity = arguments.finite('gravity', gravity, (3,)).copy()
        self._arrays = regrouped(model.arrays)
        self._generic = Generic(self._arrays)
        self._specialised = specialised
        self._threads = threads
        self._single = specialised.single if specialised else _NoSingle()
        self._batch = specialised.batch if specialised else self._generic
        n = self.nv
        self._rest = np.zeros(n)
        self._shapes = {name: (n,) * program.axes for name, program in PROGRAMS.items()}
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self._load = np.concatenate([self._gravity, last_link, no_wrench])
        self._weightless = np.concatenate([np.zeros(3), last_link, no_wrench])

    def __reduce__(self):
        """Pickle what the robot is made of; compiled code and workspaces belong to a process."""
        return _unpickled, (self._model, self._gravity, self.binding, self._threads)

    def __repr__(self):
        """Return name, joints and gravity."""
        return f'<Robot {self.name}: {", ".join(self.joint_names)}; gravity {self._gravity.tolist()} m/s^2>'

    @classmethod
    def named(cls, name: str) -> 'Robot':
        """Return a robot that comes with the package, for instance ``'aubo_i5'``; UnknownNameError lists them."""
        return cls(named_model(name)).with_binding('specialised')

    @classmethod
    def from_urdf(cls, source: str | Path, base_link: str | None = None, tip_link: str | None = None) -> 'Robot':
        """Return the robot of a URDF, given as path or as text; ModelError names what can't be represented.

        ``base_link`` and ``tip_link`` cut a chain or a subtree out of it, as ``chain`` does.
        """
        return cls(cut(model_from_urdf(source), base_link, tip_link)).with_binding('specialised')

    @classmethod
    def from_dh(cls, rows, convention: str = 'standard', **more) -> 'Robot':
        """Return the robot of a Denavit-Hartenberg table, ``'standard'`` or ``'modified'``; see ``model_from_dh``."""
        return cls(model_from_dh(rows, convention, **more)).with_binding('specialised')

    @classmethod
    def from_mjcf(cls, source: str | Path) -> 'Robot':
        """Return the robot of an MJCF under its gravity, given as path or as text; needs MuJoCo."""
        return cls(*model_from_mjcf(source)).with_binding('specialised')

    @classmethod
    def from_yaml(cls, source: str | Path) -> 'Robot':
        """Return the robot that ``to_yaml`` wrote, given as path or as text."""
        return cls(*model_from_yaml(source)).with_binding('specialised')

    def to_urdf(self) -> str:
        """Return this robot as URDF text; ``urdf_of`` says what is lost."""
        return urdf_of(self._model)

    def to_yaml(self) -> str:
        """Return this robot as YAML text, gravity included; nothing is lost but what the audit found."""
        return yaml_of(self._model, self._gravity)

    def chain(self, base_link: str | None = None, tip_link: str | None = None) -> 'Robot':
        """Return what moves on ``base_link``: the chain to ``tip_link``, or all where that is left out.

        What is beside the chain or beyond its tip is dropped with its mass. Gravity is in the new base's frame.
        """
        return Robot(cut(self._model, base_link, tip_link), self._gravity)._bound_as(self.binding, self._threads)

    def with_locked_joints(self, positions) -> 'Robot':
        """Return this robot with joints held at positions: a mapping from names to rad or m."""
        model = with_locked_joints(self._model, positions)
        return Robot(model, self._gravity)._bound_as(self.binding, self._threads)

    def with_attached(self, other: 'Robot', link: str, pose=None, prefix: str = '') -> 'Robot':
        """Return this robot with another's base fixed to ``link`` at ``pose`` (4, 4), its names after ``prefix``."""
        if not isinstance(other, Robot):
            raise ArgumentError(f'other: expected a Robot, got {other!r:.80}')
        model = with_attached(self._model, other._model, link, pose, prefix)
        return Robot(model, self._gravity).with_binding(self.binding, self._threads)

    def with_actuators(self, source) -> 'Robot':
        """Return this robot with the figures of an actuator file (path or mapping; ``config/aubo_i5.yaml``)."""
        return Robot(with_actuators(self._model, source), self._gravity)._bound_as(self.binding, self._threads)

    def with_gravity(self, gravity) -> 'Robot':
        """Return this robot under ``gravity`` (3, m/s^2) in the base frame: wall and ceiling mounting."""
        return Robot(self._model, gravity, self._specialised, self._threads)

    def with_payload(self, payload: Payload, link: str | None = None) -> 'Robot':
        """Return this robot with ``payload`` added to ``link``, whose frame the payload's figures are in.

        The last link is the default where the robot has one tip. Raises ArgumentError and UnknownNameError.
        """
        if not isinstance(payload, Payload):
            raise ArgumentError(f'payload: expected a Payload, got {payload!r:.80}')
        parents = self._model.arrays.parent[1:]
        if link is None:
            tips = [name for i, name in enumerate(self.link_names) if i not in parents]
            if len(tips) > 1:
                raise ArgumentError(f'link: needed, for {self.name} has several tips: {", ".join(tips)}')
            link = self.link_names[-1]
        frame = self._frame(link)
        com = frame.rotation @ np.asarray(payload.com, float) + frame.origin
        inertia = np.array(self._model.arrays.I)
        turned = frame.rotation @ np.asarray(payload.inertia, float) @ frame.rotation.T
        inertia[frame.link] += ten_parameters(payload.mass, com, turned)
        model = replace(self._model, arrays=self._model.arrays._replace(I=inertia))
        # specialised code takes the last link's parameters as they come; a payload elsewhere is another robot to it
        specialised = self._specialised if frame.link == self.nv else None
        return Robot(model, self._gravity, specialised, self._threads)

    def with_binding(self, binding: str, threads: int | None = None, most_joints: int = MOST_JOINTS) -> 'Robot':
        """Return this robot answered by ``'generic'`` kernels, or by code ``'specialised'`` for it.

        Specialised code is compiled when it is first needed and kept on disk; gravity and a payload on the last link
        change without compiling. Robots of more than ``most_joints`` joints stay generic, for compiling them takes
        minutes; ``binding`` tells. ``threads`` is how many cores a large batch may take (None: all).
        """
        if binding not in BINDINGS:
            raise ArgumentError(f'binding: expected one of {", ".join(BINDINGS)}, got {binding!r:.80}')
        possible = 0 < self.nv <= most_joints and is_possible()
        wanted = binding == 'specialised' and possible
        specialised = Specialised(self._arrays, threads) if wanted else None
        return Robot(self._model, self._gravity, specialised, threads)

    @property
    def binding(self) -> str:
        """What answers: ``'specialised'`` or ``'generic'``."""
        return 'specialised' if self._specialised else 'generic'

    def kernel(self, program: str):
        """Return a program as a function for your own Numba code, compiled into whatever calls it.

        ``program`` is among ``'inverse_dynamics'``, ``'forward_dynamics'``, ``'mass_matrix'``, ``'gravity_torque'`` and
        ``'bias_torque'``. The function takes joint vectors (n,) in the order of that method, ``robot.load`` and the
        result (n,) or, for the mass matrix, (n * n,); it returns whether all numbers are finite and checks nothing
        else. ArgumentError for another name or a robot of generic binding.
        """
        return self._program(program, 'inline')

    def address(self, program: str) -> int:
        """Return where a program is in memory, for compiled code of any language in this process.

        In C: ``bool f(const double *q, ..., const double *load, double *result)``, arguments and result as those of
        ``kernel``. It holds as long as the robot lives. Raises ArgumentError as ``kernel`` does.
        """
        return self._program(program, 'address')

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
    def nq(self) -> int:
        """Number of position coordinates."""
        return len(self._model.joint_names)

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self._model.joint_names)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in the base frame, (3,) m/s^2."""
        return self._gravity.copy()

    @property
    def limits(self) -> JointLimits:
        """Limits in joint order; NaN where the description states none."""
        return self._model.limits

    @property
    def rotor_inertia(self) -> np.ndarray:
        """Rotor inertia reflected to the joints, (n,) kg m^2 or kg."""
        return self._model.arrays.rotor[1:]

    @property
    def friction(self) -> Friction:
        """Friction parameters in joint order."""
        return self._model.friction

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the audit at load had to say of the description."""
        return self._model.findings

    def inverse_dynamics(self, q, qd, qdd, wrenches=None, out=None) -> np.ndarray:
        """Return the joint torques (..., n) of a motion q, qd, qdd: rigid body and rotor inertia, no friction.

        ``wrenches`` act on the links, in the link's frame at its origin (N m, N): a mapping from link names to
        (..., 6) or an array (..., n + 1, 6). Featherstone & Orin 2000, eq. 3 to 5.
        """
        if wrenches is None:
            return self._answer(self._single.inverse_dynamics, 'inverse_dynamics', self._load, out, q, qd, qdd)
        return self._answer_with(wrenches, 'inverse_dynamics', out, q=q, qd=qd, qdd=qdd)

    def forward_dynamics(self, q, qd, tau, wrenches=None, out=None) -> np.ndarray:
        """Return the joint accelerations (..., n) under the joint torques tau; friction is the caller's to subtract.

        ``wrenches`` as in ``inverse_dynamics``. Raises ModelError where a joint has no inertia to move.
        By mass matrix for few joints (Featherstone & Orin 2000, section 4), else eq. 8 there.
        """
        if wrenches is None:
            return self._answer(self._single.forward_dynamics, 'forward_dynamics', self._load, out, q, qd, tau)
        return self._answer_with(wrenches, 'forward_dynamics', out, q=q, qd=qd, tau=tau)

    def mass_matrix(self, q, out=None) -> np.ndarray:
        """Return the joint-space mass matrix (..., n, n), rotor inertia included. Featherstone & Orin 2000, eq. 7."""
        return self._answer(self._single.mass_matrix, 'mass_matrix', self._load, out, q)

    def gravity_torque(self, q, out=None) -> np.ndarray:
        """Return the torques (..., n) that hold the arm at q against gravity."""
        return self._answer(self._single.gravity_torque, 'gravity_torque', self._load, out, q)

    def bias_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the torques (..., n) at zero acceleration: Coriolis, centrifugal and gravity."""
        return self._answer(self._single.bias_torque, 'bias_torque', self._load, out, q, qd)

    def coriolis_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the Coriolis and centrifugal torques (..., n)."""
        return self._answer(self._single.bias_torque, 'bias_torque', self._weightless, out, q, qd)

    def inertia_torque(self, q, qdd, out=None) -> np.ndarray:
        """Return the torques (..., n) that accelerate the arm from rest without gravity: M(q) qdd."""
        return self._answer(
            self._single.inverse_dynamics, 'inverse_dynamics', self._weightless, out, q, self._rest, qdd
        )

    def friction_torque(self, qd, out=None) -> np.ndarray:
        """Return the torques (..., n) that overcome joint friction: viscous, Coulomb with a smooth sign, offset."""
        (qd,), shape = self._states(qd=qd)
        given, tau = arguments.result(out, (*shape, self.nv))
        batch.friction_torque_batch(self._model.friction, qd, tau.reshape(qd.shape))
        return _filled(given, tau)

    def link_pose(self, q, link: str, out=None) -> np.ndarray:
        """Return the pose (..., 4, 4; m) of a link's frame in the base frame; UnknownNameError for an unknown link."""
        frame = self._frame(link)
        (q,), shape = self._states(q=q)
        given, pose = arguments.result(out, (*shape, 4, 4))
        T = np.empty((len(q), len(self.link_names), 4, 4))
        batch.link_poses_batch(self._model.arrays, self._generic.workspace, q, T)
        in_link = np.eye(4)
        in_link[:3, :3], in_link[:3, 3] = frame.rotation, frame.origin
        pose[...] = (T[:, frame.link] @ in_link).reshape(pose.shape)
        return _filled(given, pose)

    def kinetic_energy(self, q, qd, out=None) -> np.ndarray:
        """Return the kinetic energy (...) in J, rotors included."""
        (q, qd), shape = self._states(q=q, qd=qd)
        given, T = arguments.result(out, shape)
        batch.kinetic_energy_batch(self._model.arrays, self._generic.workspace, q, qd, T.reshape(len(q), 1))
        return _filled(given, T)

    def potential_energy(self, q, out=None) -> np.ndarray:
        """Return the potential energy (...) in J; zero where all mass is at the base frame's origin."""
        (q,), shape = self._states(q=q)
        given, V = arguments.result(out, shape)
        batch.potential_energy_batch(
            self._model.arrays, self._generic.workspace, q, self._gravity, V.reshape(len(q), 1)
        )
        return _filled(given, V)

    def _bound_as(self, binding: str, threads: int | None) -> 'Robot':
        """Return this robot in the binding that a robot of as many joints has."""
        return self.with_binding(binding, threads, self.nv)

    def _program(self, name: str, form: str):
        """Return specialised code of a program in one of its forms."""
        if name not in PROGRAMS:
            raise ArgumentError(f'program: expected one of {", ".join(PROGRAMS)}, got {name!r:.80}')
        if self._specialised is None:
            raise ArgumentError(f'{name}: {self.name} is answered by generic kernels; see with_binding')
        return getattr(getattr(self._specialised, form), name)

    def _answer(self, single, name: str, load, out, *vectors) -> np.ndarray:
        """Return a program's result at joint vectors (..., n) under ``load``; ``single`` is its code for one state."""
        # compiled code looks at types, shapes and numbers itself: what fits it is answered with nothing in between
        try:
            result = np.empty(self._shapes[name]) if out is None else out
            if single(*vectors, load, result):
                return result
        except TypeError:
            pass  # anything else goes the way that converts it, or says what is wrong with it
        named = dict(zip(PROGRAMS[name].inputs, vectors, strict=True))
        rows, shape = arguments.states(self.nv, **named)
        given, result = arguments.result(out, (*shape, *self._shapes[name]))
        if not getattr(self._batch, name)(*rows, load, result.reshape(len(rows[0]), *self._shapes[name])):
            self._explain_not_finite(name, rows, **named)
        return _filled(given, result)

    def _answer_with(self, wrenches, name: str, out, **vectors) -> np.ndarray:
        """Return the result of a program at joint vectors (..., n) with wrenches on the links."""
        rows, shape = arguments.states(self.nv, **vectors)
        f_ext = arguments.wrenches(self._model, wrenches, shape)
        given, result = arguments.result(out, (*shape, self.nv))
        if not getattr(self._generic, name)(*rows, self._load, result.reshape(rows[0].shape), f_ext):
            self._explain_not_finite(name, rows, **vectors)
        return _filled(given, result)

    def _states(self, **vectors) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Return joint vectors as rows (count, n), all finite, and the batch's shape."""
        rows, shape = arguments.states(self.nv, **vectors)
        for name, vector in vectors.items():
            arguments.check_finite(name, np.asarray(vector, float))
        return rows, shape

    def _explain_not_finite(self, name: str, rows, **vectors) -> None:
        """Raise what kept a program from a finite result: an argument, a joint without inertia, or the numbers."""
        for argument, vector in vectors.items():
            arguments.check_finite(argument, np.asarray(vector, float))
        if name == 'forward_dynamics':
            self._find_joint_without_inertia(rows[0])
        large = ', '.join(vectors)
        raise ArgumentError(f'{name}: the result is not finite; some of {large} or the wrenches are too large')

    def _find_joint_without_inertia(self, q) -> None:
        """Raise ModelError where a joint has no inertia to accelerate at one of the positions q (count, n)."""
        rest, qdd = np.zeros((1, self.nv)), np.empty((1, self.nv))
        no_wrench = np.zeros((1, len(self.link_names), 6))
        for state in q[:, None]:
            work = self._generic.workspace
            batch.aba_batch(self._model.arrays, work, state, rest, rest, rest[0, :3], no_wrench, qdd)
            (still,) = np.nonzero(~(work.d[1:] > 0.0))
            if len(still):  # the outermost: NaN goes on from it towards the base
                raise ModelError(
                    f'forward dynamics: joint {self.joint_names[still[-1]]!r} has no inertia to accelerate'
                )

    def _frame(self, link: str):
        """Return the frame of a link's name."""
        if not isinstance(link, str) or link not in self._model.frames:
            raise UnknownNameError(f'no link {link!r}; there are {", ".join(self._model.frames)}')
        return self._model.frames[link]


class _NoSingle:
    """Stands where a robot has no specialised code: every program refuses, and the batch answers."""

    def __getattr__(self, name: str):
        """Return what refuses as compiled code refuses an argument that does not fit."""
        return self._refuse

    def _refuse(self, *arguments):
        raise TypeError


def _unpickled(model: Model, gravity, binding: str, threads: int | None) -> Robot:
    """Return a robot from its pickle."""
    return Robot(model, gravity)._bound_as(binding, threads)


def _filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Return the caller's array, holding what a kernel wrote."""
    if written is not given:
        given[...] = written
    return given
