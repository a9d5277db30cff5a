"""``Robot``, the one class that a user of the library needs.

It checks input once, picks the kernels and handles batches, payload and mounting. It never changes: ``with_payload``,
``with_gravity`` and ``with_actuators`` return another robot.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.codegen.programs import PROGRAMS
from robot_dynamics_ros.codegen.specialise import MOST_JOINTS, Specialised, is_possible
from robot_dynamics_ros.dynamics import batch
from robot_dynamics_ros.dynamics.base_parameters import TOLERANCE, BaseParameters, base_parameters
from robot_dynamics_ros.dynamics.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.dynamics.generic import Generic, NoSingle
from robot_dynamics_ros.dynamics.model import Finding, Friction, JointLimits, Model, ModelArrays
from robot_dynamics_ros.dynamics.regrouping import regrouped
from robot_dynamics_ros.importers.actuators import with_actuators
from robot_dynamics_ros.importers.library import named_model
from robot_dynamics_ros.importers.urdf import model_from_urdf
from robot_dynamics_ros.payload import Payload, loaded

BINDINGS = ('generic', 'specialised')
GRAVITY = (0.0, 0.0, -9.81)  # m/s^2, where z is up


class Robot:
    """The dynamics of one robot.

    Joint vectors are in the order of ``joint_names``, in SI units (rad, N m; m, N for prismatic joints). Every method
    takes one state (n,) or any batch (..., n), broadcasts its arguments, writes into ``out`` where given, and raises
    ArgumentError naming the argument for a wrong shape, NaN or inf.
    """

    def __init__(
        self,
        model: Model,
        gravity=GRAVITY,
        specialised: Specialised | None = None,
        threads: int | None = None,
        payloads: Mapping[str, Payload] | tuple[()] = (),
    ):
        """Make the robot of ``model`` with ``gravity`` (3, m/s^2) in the base frame and ``payloads`` on its frames.

        ``specialised`` is code for this robot, whatever its last link weighs; the generic kernels answer without it and
        while a payload elsewhere makes another robot of this one.
        ``threads`` is what that code was asked to keep to; a copy and a pickle pass it on (None: all, there too).
        """
        self._bare = model
        self._payloads = dict(payloads)
        self._model = model = loaded(model, self._payloads)
        self._gravity = arguments.finite('gravity', gravity, (3,)).copy()
        self._arrays = regrouped(model.arrays)
        self._generic = Generic(self._arrays)
        self._code = specialised
        if specialised is not None and not specialised.fits(self._arrays):
            specialised = None
        self._specialised = specialised
        self._threads = threads
        self._single = specialised.single if specialised else NoSingle()
        self._batch = specialised.batch if specialised else self._generic
        n = self.nv
        self._rest = np.zeros(n)
        self._shapes = {name: program.shape(n) for name, program in PROGRAMS.items()}
        last_link, no_wrench = model.arrays.I[-1], np.zeros(6)
        self._load = np.concatenate([self._gravity, last_link, no_wrench])
        self._weightless = np.concatenate([np.zeros(3), last_link, no_wrench])

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
    def from_urdf(cls, source: str | Path) -> 'Robot':
        """Return the robot of a URDF, given as path or as text; ModelError names what can't be represented."""
        return cls(model_from_urdf(source)).with_binding('specialised')

    def with_actuators(self, source) -> 'Robot':
        """Return this robot with the figures of an actuator file (path or mapping; ``config/aubo_i5.yaml``)."""
        model = with_actuators(self._bare, source)
        robot = Robot(model, self._gravity, payloads=self._payloads)
        return robot.with_binding(self.binding, self._threads, most_joints=self.nv)

    def with_gravity(self, gravity) -> 'Robot':
        """Return this robot under ``gravity`` (3, m/s^2) in the base frame: wall and ceiling mounting."""
        return Robot(self._bare, gravity, self._code, self._threads, self._payloads)

    def with_base_orientation(self, rotation) -> 'Robot':
        """Return this robot with its base turned by ``rotation`` R (3, 3; base to a world whose z is up).

        That is ``with_gravity`` R' (0, 0, -9.81). ArgumentError where R'R is not the identity to 1e-6, or R reflects.
        """
        return self.with_gravity(arguments.rotation('rotation', rotation).T @ GRAVITY)

    def with_payload(self, payload: Payload, link: str | None = None) -> 'Robot':
        """Return this robot with ``payload`` added to what ``link`` carries, in whose frame the payload's figures are.

        ``link`` is any of ``frame_names``; the last link is the default where the robot has one tip. Nothing is
        compiled: specialised code takes a payload of the last link as it comes, and while another link carries one
        the generic kernels answer. Raises ArgumentError and UnknownNameError.
        """
        if not isinstance(payload, Payload):
            raise ArgumentError(f'payload: expected a Payload, got {payload!r:.80}')
        if link is None:
            parents = self._model.arrays.parent[1:]
            tips = [name for i, name in enumerate(self.link_names) if i not in parents]
            if len(tips) > 1:
                raise ArgumentError(f'link: needed, for {self.name} has several tips: {", ".join(tips)}')
            link = self.link_names[-1]
        self._frame(link)
        carried = self._payloads.get(link)
        return self._carrying({**self._payloads, link: carried + payload if carried else payload})

    def without_payload(self, link: str | None = None) -> 'Robot':
        """Return this robot without what ``link`` carries, or without any payload: bit by bit as it was before.

        UnknownNameError for a link that carries none.
        """
        if link is not None and link not in self._payloads:
            raise UnknownNameError(f'no payload on {link!r}; there are some on: {", ".join(self._payloads) or "none"}')
        return self._carrying({name: it for name, it in self._payloads.items() if link not in (None, name)})

    def with_binding(self, binding: str, threads: int | None = None, most_joints: int = MOST_JOINTS) -> 'Robot':
        """Return this robot answered by ``'generic'`` kernels, or by code ``'specialised'`` for it.

        Specialised code is compiled when it is first needed and kept on disk; gravity and a payload on the last link
        change without compiling. Robots of more than ``most_joints`` joints stay generic, for compiling them takes
        minutes; ``binding`` tells. Payloads on other links become part of the code; it serves as long as they stay.
        ``threads`` is how many cores a large batch may take (None: all).
        """
        if binding not in BINDINGS:
            raise ArgumentError(f'binding: expected one of {", ".join(BINDINGS)}, got {binding!r:.80}')
        possible = 0 < self.nv <= most_joints and is_possible()
        wanted = binding == 'specialised' and possible
        specialised = Specialised(self._arrays, threads) if wanted else None
        return Robot(self._bare, self._gravity, specialised, threads, self._payloads)

    @property
    def binding(self) -> str:
        """What answers: ``'specialised'`` or ``'generic'``."""
        return 'specialised' if self._specialised else 'generic'

    def kernel(self, program: str):
        """Return a program as a function for your own Numba code, compiled into whatever calls it.

        ``program`` is among ``'inverse_dynamics'``, ``'forward_dynamics'``, ``'mass_matrix'``, ``'gravity_torque'``,
        ``'bias_torque'`` and ``'torque_regressor'``. The function takes joint vectors (n,) in the order of that
        method, ``robot.load`` and the result, a matrix flat; it returns whether all numbers are finite and checks
        nothing else. ArgumentError for another name or a robot of generic binding.
        """
        if program not in PROGRAMS:
            raise ArgumentError(f'program: expected one of {", ".join(PROGRAMS)}, got {program!r:.80}')
        if self._specialised is None:
            raise ArgumentError(f'kernel: {self.name} is answered by generic kernels; see with_binding')
        return getattr(self._specialised.inline, program)

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
    def payloads(self) -> dict[str, Payload]:
        """What the robot carries, by the name of the link or frame that ``with_payload`` was given."""
        return dict(self._payloads)

    @property
    def limits(self) -> JointLimits:
        """Limits in joint order; NaN where the description states none."""
        return self._model.limits

    @property
    def rotor_inertia(self) -> np.ndarray:
        """Rotor inertia reflected to the joints, (n,) kg m^2 or kg."""
        return self._model.arrays.rotor[1:]

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
        return self._looped(batch.kinetic_energy_batch, (), out, q=q, qd=qd)

    def potential_energy(self, q, out=None) -> np.ndarray:
        """Return the potential energy (...) in J; zero where all mass is at the base frame's origin."""
        return self._looped(batch.potential_energy_batch, (), out, self._gravity, q=q)

    def torque_regressor(self, q, qd, qdd, out=None) -> np.ndarray:
        """Return Y (..., n, 10 n): ``inverse_dynamics`` less ``rotor_inertia`` qdd is Y ``inertial_parameters``.

        It depends on geometry and gravity only. Siciliano et al. 2009, section 7.2.2.
        """
        return self._answer(self._single.torque_regressor, 'torque_regressor', self._load, out, q, qd, qdd)

    def kinetic_energy_regressor(self, q, qd, out=None) -> np.ndarray:
        """Return y (..., 10 n): the kinetic energy less the rotors' is y ``inertial_parameters`` (J)."""
        return self._looped(batch.kinetic_energy_regressor_batch, (10 * self.nv,), out, q=q, qd=qd)

    def potential_energy_regressor(self, q, out=None) -> np.ndarray:
        """Return y (..., 10 n): the potential energy is y ``inertial_parameters`` (J)."""
        return self._looped(batch.potential_energy_regressor_batch, (10 * self.nv,), out, self._gravity, q=q)

    def base_parameters(self, tolerance: float = TOLERANCE) -> BaseParameters:
        """Return the fewest combinations of ``inertial_parameters`` that torques depend on, under this gravity.

        A description that turns axes by 1.5708 needs a ``tolerance`` of 1e-4. Gautier & Khalil 1990.
        """
        return base_parameters(self._model.arrays, self._gravity, tolerance)

    def _carrying(self, payloads: dict[str, Payload]) -> 'Robot':
        """Return this robot with these payloads and no others."""
        return Robot(self._bare, self._gravity, self._code, self._threads, payloads)

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

    def _looped(self, loop, item: tuple[int, ...], out, *more, **vectors) -> np.ndarray:
        """Return what a loop of ``batch`` makes of joint vectors (..., n) and ``more``: (..., *item)."""
        rows, shape = self._states(**vectors)
        given, result = arguments.result(out, (*shape, *item))
        flat = result.reshape(len(rows[0]), math.prod(item))
        loop(self._model.arrays, self._generic.workspace, *rows, *more, flat)
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
            joint = self._generic.joint_without_inertia(rows[0])
            if joint is not None:
                raise ModelError(f'forward dynamics: joint {self.joint_names[joint]!r} has no inertia to accelerate')
        large = ', '.join(vectors)
        raise ArgumentError(f'{name}: the result is not finite; some of {large} or the wrenches are too large')

    def _frame(self, link: str):
        """Return the frame of a link's name."""
        if not isinstance(link, str) or link not in self._model.frames:
            raise UnknownNameError(f'no link {link!r}; there are {", ".join(self._model.frames)}')
        return self._model.frames[link]


def _unpickled(model: Model, gravity, coded: ModelArrays | None, threads: int | None, payloads) -> Robot:
    """Return a robot from its pickle; ``coded`` is what there was code for."""
    specialised = Specialised(coded, threads) if coded and is_possible() else None
    return Robot(model, gravity, specialised, threads, payloads)


def _filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Return the caller's array, holding what a kernel wrote."""
    if written is not given:
        given[...] = written
    return given
