"""``Robot``, the one class that a user of the library needs.

It checks input once, picks the kernels and handles batches, payload and mounting. It never changes: ``with_payload``,
``with_gravity`` and ``with_actuators`` return another robot.
"""

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.dynamics import batch
from robot_dynamics_ros.dynamics.bodies import ten_parameters
from robot_dynamics_ros.dynamics.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.dynamics.model import Finding, Friction, JointLimits, Model, Workspace
from robot_dynamics_ros.importers.actuators import with_actuators
from robot_dynamics_ros.importers.library import named_model
from robot_dynamics_ros.importers.urdf import model_from_urdf


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


class _Scratch(threading.local):
    """One workspace a thread: kernels run without the GIL."""

    def __init__(self, joints: int):
        self.workspace = Workspace.of(joints)


class Robot:
    """The dynamics of one robot.

    Joint vectors are in the order of ``joint_names``, in SI units (rad, N m; m, N for prismatic joints). Every method
    takes one state (n,) or any batch (..., n), broadcasts its arguments, writes into ``out`` where given, and raises
    ArgumentError naming the argument for a wrong shape, NaN or inf.
    """

    def __init__(self, model: Model, gravity=(0.0, 0.0, -9.81)):
        """Make the robot of ``model`` with ``gravity`` (3, m/s^2) in the base frame."""
        self._model = model
        self._gravity = arguments.finite('gravity', gravity, (3,)).copy()
        self._gravity_free = np.zeros(3)
        self._scratch = _Scratch(self.nv)

    def __reduce__(self):
        """Pickle the model and gravity; the workspace belongs to a process."""
        return Robot, (self._model, self._gravity)

    def __repr__(self):
        """Return name, joints and gravity."""
        return f'<Robot {self.name}: {", ".join(self.joint_names)}; gravity {self._gravity.tolist()} m/s^2>'

    @classmethod
    def named(cls, name: str) -> 'Robot':
        """Return a robot that comes with the package, for instance ``'aubo_i5'``; UnknownNameError lists them."""
        return cls(named_model(name))

    @classmethod
    def from_urdf(cls, source: str | Path) -> 'Robot':
        """Return the robot of a URDF, given as path or as text; ModelError names what can't be represented."""
        return cls(model_from_urdf(source))

    def with_actuators(self, source) -> 'Robot':
        """Return this robot with the figures of an actuator file (path or mapping; ``config/aubo_i5.yaml``)."""
        return Robot(with_actuators(self._model, source), self._gravity)

    def with_gravity(self, gravity) -> 'Robot':
        """Return this robot under ``gravity`` (3, m/s^2) in the base frame: wall and ceiling mounting."""
        return Robot(self._model, gravity)

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
        return Robot(model, self._gravity)

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
        return self._torque(self._gravity, wrenches, out, q=q, qd=qd, qdd=qdd)

    def forward_dynamics(self, q, qd, tau, wrenches=None, out=None) -> np.ndarray:
        """Return the joint accelerations (..., n) under the joint torques tau; friction is the caller's to subtract.

        ``wrenches`` as in ``inverse_dynamics``. Raises ModelError where a joint has no inertia to move.
        Featherstone & Orin 2000, eq. 8.
        """
        (q, qd, tau), shape = arguments.states(self.nv, q=q, qd=qd, tau=tau)
        f_ext = arguments.wrenches(self._model, wrenches, shape)
        given, qdd = arguments.result(out, (*shape, self.nv))
        rows = qdd.reshape(q.shape)
        batch.aba_batch(self._model.arrays, self._scratch.workspace, q, qd, tau, self._gravity, f_ext, rows)
        if not np.isfinite(rows).all():
            self._explain_not_finite(q[~np.isfinite(rows).all(axis=1)][:1])
        return _filled(given, qdd)

    def mass_matrix(self, q, out=None) -> np.ndarray:
        """Return the joint-space mass matrix (..., n, n), rotor inertia included. Featherstone & Orin 2000, eq. 7."""
        (q,), shape = arguments.states(self.nv, q=q)
        given, M = arguments.result(out, (*shape, self.nv, self.nv))
        batch.crba_batch(self._model.arrays, self._scratch.workspace, q, M.reshape(len(q), self.nv, self.nv))
        return _filled(given, M)

    def gravity_torque(self, q, out=None) -> np.ndarray:
        """Return the torques (..., n) that hold the arm at q against gravity."""
        return self._torque(self._gravity, None, out, q=q)

    def bias_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the torques (..., n) at zero acceleration: Coriolis, centrifugal and gravity."""
        return self._torque(self._gravity, None, out, q=q, qd=qd)

    def coriolis_torque(self, q, qd, out=None) -> np.ndarray:
        """Return the Coriolis and centrifugal torques (..., n)."""
        return self._torque(self._gravity_free, None, out, q=q, qd=qd)

    def inertia_torque(self, q, qdd, out=None) -> np.ndarray:
        """Return the torques (..., n) that accelerate the arm from rest without gravity: M(q) qdd."""
        (q, qdd), shape = arguments.states(self.nv, q=q, qdd=qdd)
        return self._run_rnea(q, np.zeros_like(q), qdd, self._gravity_free, None, out, shape)

    def friction_torque(self, qd, out=None) -> np.ndarray:
        """Return the torques (..., n) that overcome joint friction: viscous, Coulomb with a smooth sign, offset."""
        (qd,), shape = arguments.states(self.nv, qd=qd)
        given, tau = arguments.result(out, (*shape, self.nv))
        batch.friction_torque_batch(self._model.friction, qd, tau.reshape(qd.shape))
        return _filled(given, tau)

    def link_pose(self, q, link: str, out=None) -> np.ndarray:
        """Return the pose (..., 4, 4; m) of a link's frame in the base frame; UnknownNameError for an unknown link."""
        frame = self._frame(link)
        (q,), shape = arguments.states(self.nv, q=q)
        given, pose = arguments.result(out, (*shape, 4, 4))
        T = np.empty((len(q), len(self.link_names), 4, 4))
        batch.link_poses_batch(self._model.arrays, self._scratch.workspace, q, T)
        in_link = np.eye(4)
        in_link[:3, :3], in_link[:3, 3] = frame.rotation, frame.origin
        pose[...] = (T[:, frame.link] @ in_link).reshape(pose.shape)
        return _filled(given, pose)

    def kinetic_energy(self, q, qd, out=None) -> np.ndarray:
        """Return the kinetic energy (...) in J, rotors included."""
        (q, qd), shape = arguments.states(self.nv, q=q, qd=qd)
        given, T = arguments.result(out, shape)
        batch.kinetic_energy_batch(self._model.arrays, self._scratch.workspace, q, qd, T.reshape(len(q), 1))
        return _filled(given, T)

    def potential_energy(self, q, out=None) -> np.ndarray:
        """Return the potential energy (...) in J; zero where all mass is at the base frame's origin."""
        (q,), shape = arguments.states(self.nv, q=q)
        given, V = arguments.result(out, shape)
        batch.potential_energy_batch(
            self._model.arrays, self._scratch.workspace, q, self._gravity, V.reshape(len(q), 1)
        )
        return _filled(given, V)

    def _torque(self, gravity, wrenches, out, **motion) -> np.ndarray:
        """Return RNEA's torques; velocity and acceleration are zero where ``motion`` leaves them out."""
        (q, *rates), shape = arguments.states(self.nv, **motion)
        qd, qdd = [*rates, *[np.zeros_like(q)] * (2 - len(rates))]
        return self._run_rnea(q, qd, qdd, gravity, wrenches, out, shape)

    def _run_rnea(self, q, qd, qdd, gravity, wrenches, out, shape) -> np.ndarray:
        """Return RNEA's torques for checked rows q, qd, qdd (count, n)."""
        f_ext = arguments.wrenches(self._model, wrenches, shape)
        given, tau = arguments.result(out, (*shape, self.nv))
        rows = tau.reshape(q.shape)
        batch.rnea_batch(self._model.arrays, self._scratch.workspace, q, qd, qdd, gravity, f_ext, rows)
        return _filled(given, tau)

    def _explain_not_finite(self, q) -> None:
        """Raise what kept forward dynamics at q (1, n) from a result: a joint without inertia, or the numbers."""
        work, rest = self._scratch.workspace, np.zeros_like(q)
        no_wrench = np.zeros((1, len(self.link_names), 6))
        batch.aba_batch(self._model.arrays, work, q, rest, rest, self._gravity_free, no_wrench, np.empty_like(q))
        (still,) = np.nonzero(~(work.d[1:] > 0.0))
        if len(still):  # the outermost: NaN goes on from it towards the base
            raise ModelError(f'forward dynamics: joint {self.joint_names[still[-1]]!r} has no inertia to accelerate')
        raise ArgumentError('forward dynamics: the accelerations are not finite; qd, tau or wrenches are too large')

    def _frame(self, link: str):
        """Return the frame of a link's name."""
        if not isinstance(link, str) or link not in self._model.frames:
            raise UnknownNameError(f'no link {link!r}; there are {", ".join(self._model.frames)}')
        return self._model.frames[link]


def _filled(given: np.ndarray, written: np.ndarray) -> np.ndarray:
    """Return the caller's array, holding what a kernel wrote."""
    if written is not given:
        given[...] = written
    return given
