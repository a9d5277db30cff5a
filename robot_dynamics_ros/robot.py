"""``Robot``: creation, changed copies and description of a robot."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.codegen.specialised import code_of, robot_digest
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.evaluation.c_export import PROGRAMS, Program, write_c
from robot_dynamics_ros.evaluation.constrained_dynamics import ConstrainedDynamics
from robot_dynamics_ros.evaluation.documented import documented
from robot_dynamics_ros.evaluation.dynamics import ALIGNED
from robot_dynamics_ros.formats.actuators import with_actuators
from robot_dynamics_ros.formats.dh import model_from_dh
from robot_dynamics_ros.formats.library import named_model
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.formats.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_export import urdf_of
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.audit import judged
from robot_dynamics_ros.model.consistent_inertias import with_consistent_inertias
from robot_dynamics_ros.model.editing import cut, turned_gravity, with_attached, with_locked_joints
from robot_dynamics_ros.model.loop_types import GAIN, TOLERANCE
from robot_dynamics_ros.model.loops import with_loops
from robot_dynamics_ros.model.model import GRAVITY, Model
from robot_dynamics_ros.model.products import product
from robot_dynamics_ros.payload import Payload

COMPILED = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'bias_torque', 'gravity_torque')
BINDINGS = ('generic', 'adaptive', 'specialised')
MIMIC = ('ignore', 'couple')


@documented
class Robot(ConstrainedDynamics):
    """An immutable robot with the dynamics quantities of ``Dynamics`` and ``ConstrainedDynamics``.

    ``named`` and ``from_...`` create a robot; ``with_...``, ``without_payload`` and ``chain`` return a changed copy.
    """

    def __reduce__(self):
        """Pickle the model and its settings; compiled code and workspaces are created again."""
        compiled = self._code.arrays if self._code else None
        return _unpickled, (self._bare, self._gravity, compiled, self._threads, self._payloads, self._adaptive)

    def __repr__(self):
        """Return name, joints, number of loops and gravity."""
        count = len(self.loops.all)
        loops = f'; {count} closed loop{"s" if count > 1 else ""}' if count else ''
        return f'<Robot {self.name}: {", ".join(self.joint_names)}{loops}; gravity {self._gravity.tolist()} m/s^2>'

    @classmethod
    def named(cls, name: str) -> 'Robot':
        """Return a robot of the package, for instance ``'aubo_i5'``; UnknownNameError lists the names."""
        return cls(named_model(name)).with_binding('adaptive')

    @classmethod
    def from_urdf(
        cls,
        source: str | Path,
        base_link: str | None = None,
        tip_link: str | None = None,
        mimic: str = 'ignore',
        gravity=None,
    ) -> 'Robot':
        """Return the robot of a URDF, or its ``chain``; ModelError names an unsupported element.

        A joint with <mimic> is a joint of its own, and a finding says so; with ``mimic='couple'`` it has a ``Coupling``
        with the joint that it mimics. Gravity is (0, 0, -9.81) in the frame of the URDF's root, unless it is given.
        Raises ArgumentError.
        """
        validation.choice('mimic', mimic, MIMIC)
        model = model_from_urdf(source, couple_mimics=mimic == 'couple')
        return cls(*_chain(model, GRAVITY, base_link, tip_link, gravity)).with_binding('adaptive')

    @classmethod
    def from_dh(cls, rows, convention: str = 'standard', **more) -> 'Robot':
        """Return the robot of a Denavit-Hartenberg table; see ``formats.dh.model_from_dh``."""
        return cls(model_from_dh(rows, convention, **more)).with_binding('adaptive')

    @classmethod
    def from_mjcf(cls, source: str | Path, springs: bool = True) -> 'Robot':
        """Return the robot of an MJCF with the gravity of that file, with or without springs of joints; needs MuJoCo.

        ``findings`` say what is left out, such as limits of tendons and a medium.
        """
        return cls(*model_from_mjcf(source, springs)).with_binding('adaptive')

    @classmethod
    def from_yaml(cls, source: str | Path) -> 'Robot':
        """Return the robot of a YAML file or text by ``to_yaml``."""
        return cls(*model_from_yaml(source)).with_binding('adaptive')

    def to_urdf(self) -> str:
        """Return this robot as URDF text, without rotors, gears, torque constants and further friction terms.

        Couplings of degree one become <mimic>. Raises ModelError naming what a URDF cannot hold, such as a closure.
        """
        return urdf_of(self._model)

    def to_yaml(self) -> str:
        """Return this robot as YAML text with gravity and lumped payloads, without the findings of the model check."""
        return yaml_of(self._model, self._gravity)

    def chain(self, base_link: str | None = None, tip_link: str | None = None, gravity=None) -> 'Robot':
        """Return the chain from ``base_link`` to ``tip_link``.

        Links beside the chain or beyond its tip are dropped with their mass and their closed loops. Gravity stays the
        same vector, now expressed in the frame of ``base_link``; ``gravity``, in that frame, replaces it. Raises
        ModelError naming a loop between the chain and what is dropped, and ArgumentError naming a moving joint between
        the base and ``base_link``, unless ``gravity`` is given.
        """
        part = _chain(self._model, self._gravity, base_link, tip_link, gravity)
        return Robot(*part).with_binding(self.binding, self._threads)

    def with_locked_joints(self, positions) -> 'Robot':
        """Return this robot with joints locked at positions; their links are lumped into the parent links.

        A joint that is coupled to a locked one has a constant coupling. Raises ModelError naming a loop that cannot be
        closed at these positions, or a coupling that does not determine the other joint.
        """
        return self._of(with_locked_joints(self._model, positions))

    def with_attached(self, other: 'Robot', link: str, pose=None, prefix: str = '') -> 'Robot':
        """Return this robot with the base of another robot fixed to ``link``."""
        if not isinstance(other, Robot):
            raise ArgumentError(f'other: expected a Robot, got {other!r:.80}')
        model = with_attached(self._model, other._model, link, pose, prefix)
        return Robot(model, self._gravity).with_binding(self.binding, self._threads)

    def with_actuators(self, source) -> 'Robot':
        """Return this robot with the rotors, gears and friction of an actuator file such as ``config/aubo_i5.yaml``."""
        model = with_actuators(self._bare, source)
        return Robot(model, self._gravity, payloads=self._payloads).with_binding(self.binding, self._threads)

    def with_consistent_inertias(self) -> 'Robot':
        """Return this robot with the nearest inertia that a body can have in place of each that no body has.

        Nearest are second moments about the centre in the Frobenius norm, by their positive semidefinite part; mass and
        centre are kept, so gravity torques are the same. ``findings`` says by how much each link was corrected. Raises
        ModelError naming a link with a negative mass.
        """
        model = with_consistent_inertias(self._bare)
        return Robot(model, self._gravity, payloads=self._payloads).with_binding(self.binding, self._threads)

    def with_loops(self, loops, gain: float = GAIN, tolerance: float = TOLERANCE) -> 'Robot':
        """Return this robot with these closed loops in place of its own; an empty list opens all.

        ``forward_dynamics`` and the methods that begin with ``loop`` take them into account; all other quantities are
        those of the tree of joints. ``findings`` tells which constraints depend on others only up to rounding of axes.
        Raises ArgumentError, UnknownNameError and ModelError naming a loop.
        """
        model = with_loops(self._bare, loops, gain, tolerance)
        return Robot(model, self._gravity, payloads=self._payloads).with_binding(self.binding, self._threads)

    def with_gravity(self, gravity) -> 'Robot':
        """Return this robot under another gravity, for wall and ceiling mounting."""
        return Robot(self._bare, gravity, self._code, self._threads, self._payloads, self._adaptive)

    def with_base_orientation(self, rotation) -> 'Robot':
        """Return this robot with a rotated base: ``with_gravity`` R' (0, 0, -9.81).

        Raises ArgumentError unless R' R is the identity to 1e-6 and det R > 0.
        """
        return self.with_gravity(product(validation.rotation('rotation', rotation).T, GRAVITY))

    def with_payload(self, payload: Payload, link: str | None = None) -> 'Robot':
        """Return this robot with ``payload`` added to the payload of ``link``; the last link by default.

        Nothing is compiled. A payload on the last link is a run-time argument of specialised code; with one on another
        link generic kernels are used. Raises ArgumentError and UnknownNameError.
        """
        if not isinstance(payload, Payload):
            raise ArgumentError(f'payload: expected a Payload, got {payload!r:.80}')
        if link is None:
            parents = self._model.arrays.parent[1:]
            tips = [name for i, name in enumerate(self.link_names) if i not in parents]
            if len(tips) > 1:
                raise ArgumentError(f'link: required, since {self.name} has several tips: {", ".join(tips)}')
            link = self.link_names[-1]
        self._model.frame(link)
        present = self._payloads.get(link)
        return self._with_payloads({**self._payloads, link: present + payload if present else payload})

    def without_payload(self, link: str | None = None) -> 'Robot':
        """Return this robot without the payload of ``link``, or by default without all payloads.

        Results then have the same bits as before. Raises UnknownNameError for a link without payload.
        """
        if link is not None and link not in self._payloads:
            raise UnknownNameError(f'no payload on {link!r}; there are some on: {", ".join(self._payloads) or "none"}')
        return self._with_payloads({name: it for name, it in self._payloads.items() if link not in (None, name)})

    @property
    def digest(self) -> str:
        """Hash (16 hex digits) of all model parameters except gravity and the last link's inertia."""
        return robot_digest(self._model.arrays)

    def with_binding(self, binding: str, threads: int | None = None) -> 'Robot':
        """Return this robot with another way of choosing code; results are equal, up to the sign of a zero.

        ``'generic'`` uses the kernels that all robots share. ``'specialised'`` compiles code for this robot at the first
        use of each quantity. ``'adaptive'``, the default of new robots, uses such code where it was compiled before,
        and compiles it in the background once use shows that this pays. It is kept on disk. Gravity and a payload on
        the last link are run-time arguments; with changed payloads on other links generic kernels are used. Batches use
        ``threads`` cores (None: all).
        """  # noqa: E501
        validation.choice('binding', binding, BINDINGS)
        wanted = binding != 'generic' and self.nv > 0 and not numba_is_disabled()
        code = code_of(self._evaluator.arrays, threads) if wanted else None
        return Robot(self._bare, self._gravity, code, threads, self._payloads, binding == 'adaptive')

    def compiled(self, *quantities: str) -> 'Robot':
        """Return this robot with ``'specialised'`` binding, the code of ``quantities`` compiled now: names of methods.

        Without names, inverse and forward dynamics, mass matrix, bias and gravity torques. Raises ArgumentError.
        """
        robot = self.with_binding('specialised', self._threads)
        for name in quantities or COMPILED:
            validation.choice('quantities', name, ALGORITHMS)
            robot._evaluator.compile(name)
        return robot

    @property
    def binding(self) -> str:
        """The binding in use: ``'generic'``, ``'adaptive'`` or ``'specialised'``; see ``with_binding``."""
        if self._evaluator.specialised is None:
            return 'generic'
        return 'adaptive' if self._adaptive else 'specialised'

    def kernel(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> Callable:
        """Return a quantity, of the frame of ``link`` if given, as a function that Numba inlines in your code.

        Its arguments are the joint vectors of the method, ``robot.load`` and the result, with flat matrices. It returns
        whether all numbers are finite and does not check arguments otherwise. ArgumentError lists the names; it is also
        raised if generic kernels are in use.
        """
        return self._evaluator.code(program, 'inline', link, reference_frame)

    def address(self, program: str, link: str | None = None, reference_frame: str = ALIGNED) -> int:
        """Return the address of a quantity's compiled code, for any language in this process.

        In C: ``bool f(const double *q, ..., const double *load, double *result)``, with arguments and result as for
        ``kernel``. The address is valid as long as the robot exists. Raises ArgumentError as ``kernel`` does.
        """
        return self._evaluator.code(program, 'address', link, reference_frame)

    def export_c(self, folder: str | Path, programs: Sequence[Program] = PROGRAMS) -> list[Path]:
        """Write quantities of this robot as C99, and a CMakeLists.txt; return the paths of the files.

        The results have the same bits as those of specialised code. Gravity, the last link's inertia with its payload,
        and a wrench on that link are run-time arguments. Raises ArgumentError, before anything is written, for a
        program that does not exist and for a file in ``folder`` that is not of an earlier export of this robot.
        """
        return write_c(self._evaluator, self.digest, folder, programs)

    @property
    def load(self) -> np.ndarray:
        """Run-time argument of ``kernel`` and ``address``, (19,).

        Gravity (3, m/s^2), the ten inertial parameters of the last link with its payload (10), and a wrench on that
        link in its own frame (6; N m, N), zeros here.
        """
        return self._load.copy()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of joint vectors."""
        return self._model.joint_names

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the base and of the link that each joint moves, n + 1."""
        return self._model.link_names

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: links, and links on fixed joints."""
        return tuple(self._model.frames)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity in the base frame, (3,) m/s^2."""
        return self._gravity.copy()

    @property
    def payloads(self) -> dict[str, Payload]:
        """Payloads by the link or frame of ``with_payload``."""
        return dict(self._payloads)

    @property
    def continuous_joints(self) -> np.ndarray:
        """Whether joints are revolute without position limits, (nv,) bool: q and q + 2 pi are the same pose.

        All False for a robot with joints of several coordinates.
        """
        kinds, (lower, upper) = np.array(self._model.joint_kinds), self.limits[:2]
        if len(kinds) != len(lower):
            return np.zeros(self.nv, bool)
        return (kinds == 'revolute') & (lower == -np.inf) & (upper == np.inf)

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

    model = property(lambda self: self._model, doc='Model: joints, links, limits and frames, payload included.')
    loops = property(
        lambda self: self._model.loops, doc='Loops: closures, couplings, their gain (1/s) and their tolerance.'
    )
    name = property(lambda self: self._model.name, doc='Name of the robot, from its description.')
    limits = property(lambda self: self._model.limits, doc='Limits in joint order; NaN where unknown.')
    friction = property(lambda self: self._model.friction, doc='Friction parameters in joint order.')
    actuators = property(lambda self: self._model.actuators, doc='Gear ratios and torque constants; NaN where unknown.')
    findings = property(
        lambda self: judged(self._bare), doc='Findings of the model check, links on fixed joints lumped.'
    )

    def _of(self, part: Model) -> 'Robot':
        """Return the robot of a model derived from this one, with the same gravity and binding."""
        return Robot(part, self._gravity).with_binding(self.binding, self._threads)

    def _with_payloads(self, payloads: dict[str, Payload]) -> 'Robot':
        """Return this robot with ``payloads`` in place of its own."""
        return Robot(self._bare, self._gravity, self._code, self._threads, payloads, self._adaptive)


def _chain(model: Model, before, base_link: str | None, tip_link: str | None, gravity) -> tuple:
    """Return the model of ``Robot.chain`` and its gravity; ``before`` is that of ``model``."""
    part = cut(model, base_link, tip_link)
    return part, turned_gravity(model, part.link_names[0], before) if gravity is None else gravity


def _unpickled(
    model: Model, gravity, compiled: ModelArrays | None, threads: int | None, payloads, adaptive: bool
) -> Robot:
    """Return a robot from its pickle; ``compiled`` are the arrays of its specialised code."""
    code = code_of(compiled, threads) if compiled and not numba_is_disabled() else None
    return Robot(model, gravity, code, threads, payloads, adaptive)
