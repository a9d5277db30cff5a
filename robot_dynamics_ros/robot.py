"""``Robot``: creation and changed copies of a robot; its quantities are in the classes that it is derived from."""

from pathlib import Path

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.evaluation.closed_loops import ClosedLoops
from robot_dynamics_ros.evaluation.compiled_code import CompiledCode
from robot_dynamics_ros.evaluation.derivatives import Derivatives
from robot_dynamics_ros.evaluation.dynamics import Dynamics
from robot_dynamics_ros.evaluation.kinematics import Kinematics
from robot_dynamics_ros.evaluation.operational_space import OperationalSpace
from robot_dynamics_ros.evaluation.torque_terms import TorqueTerms
from robot_dynamics_ros.evaluation.whole_robot import WholeRobot
from robot_dynamics_ros.formats.actuators import with_actuators
from robot_dynamics_ros.formats.dh import model_from_dh
from robot_dynamics_ros.formats.library import named_model
from robot_dynamics_ros.formats.mjcf import model_from_mjcf
from robot_dynamics_ros.formats.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_export import urdf_of
from robot_dynamics_ros.model.consistent_inertias import with_consistent_inertias
from robot_dynamics_ros.model.editing import cut, turned_gravity, with_attached, with_locked_joints
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.loop_types import GAIN, TOLERANCE
from robot_dynamics_ros.model.loops import with_loops
from robot_dynamics_ros.model.model import GRAVITY, Model
from robot_dynamics_ros.payload import Payload, carrying_frame

MIMIC = ('ignore', 'couple')


class Robot(Dynamics, TorqueTerms, Kinematics, WholeRobot, Derivatives, OperationalSpace, ClosedLoops, CompiledCode):
    """An immutable robot and its dynamics, for one state or for batches of states (..., nq or nv), which broadcast.

    ``named`` and ``from_...`` create a robot; ``with_...``, ``without_payload`` and ``chain`` return a changed copy.
    Joint vectors are in the order of ``joint_names``, in SI units (rad, N m; m, N for prismatic joints); 6-vectors have
    their angular part first. ArgumentError names an argument of a wrong shape, or with NaN or inf.
    """

    @classmethod
    def named(cls, name: str) -> 'Robot':
        """Return a robot of the package, for instance ``'aubo_i5'``; UnknownNameError lists the names.

        Parameters
        ----------
        name : str
            Name of the robot, without ``.urdf``.

        Returns
        -------
        Robot
        """
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

        A joint with <mimic> is imported as an independent joint and reported as a finding; with ``mimic='couple'`` it
        has a ``Coupling`` with the joint that it mimics. Gravity is (0, 0, -9.81) in the frame of the URDF's root,
        unless it is given. Raises ArgumentError.

        Parameters
        ----------
        source : str or Path
            Path of the description, or its text; an actuator file may also be a mapping.
        base_link : str, optional
            Link whose frame becomes the base frame. Default: the base of the robot.
        tip_link : str, optional
            Last link of the chain. Default: the whole subtree of ``base_link``.
        mimic : {'ignore', 'couple'}
            Whether joints with <mimic> are coupled with the joints that they mimic.
        gravity : array_like, (3,)
            Gravity in the base frame, m/s^2.

        Returns
        -------
        Robot
        """
        validation.choice('mimic', mimic, MIMIC)
        model = model_from_urdf(source, couple_mimics=mimic == 'couple')
        return cls(*_chain(model, GRAVITY, base_link, tip_link, gravity)).with_binding('adaptive')

    @classmethod
    def from_dh(cls, rows, convention: str = 'standard', **more) -> 'Robot':
        """Return the robot of a Denavit-Hartenberg table; see ``formats.dh.model_from_dh``.

        Parameters
        ----------
        rows : list of DHRow or mapping
            Rows of the table: a (m), alpha (rad), d (m), theta (rad) and other fields.
        convention : {'standard', 'modified'}
            Distal (Siciliano) or proximal (Craig) Denavit-Hartenberg parameters.
        more : optional
            Other keyword arguments of ``model_from_dh``.

        Returns
        -------
        Robot
        """
        return cls(model_from_dh(rows, convention, **more)).with_binding('adaptive')

    @classmethod
    def from_mjcf(cls, source: str | Path, springs: bool = True) -> 'Robot':
        """Return the robot of an MJCF with the gravity of that file, with or without springs of joints; needs MuJoCo.

        ``findings`` say what is left out, such as limits of tendons and a medium.

        Parameters
        ----------
        source : str or Path
            Path of the description, or its text; an actuator file may also be a mapping.
        springs : bool
            Whether springs of joints become part of the robot. Without them, a finding names each.

        Returns
        -------
        Robot
        """
        return cls(*model_from_mjcf(source, springs)).with_binding('adaptive')

    @classmethod
    def from_yaml(cls, source: str | Path) -> 'Robot':
        """Return the robot of a YAML file or text by ``to_yaml``.

        Parameters
        ----------
        source : str or Path
            Path of the description, or its text; an actuator file may also be a mapping.

        Returns
        -------
        Robot
        """
        return cls(*model_from_yaml(source)).with_binding('adaptive')

    def to_urdf(self) -> str:
        """Return this robot as URDF text, without rotors, gears, torque constants and further friction terms.

        Couplings of degree one become <mimic>. Raises ModelError naming what a URDF cannot hold, such as a closure.

        Returns
        -------
        str
        """
        return urdf_of(self._model)

    def to_yaml(self) -> str:
        """Return this robot as YAML text with gravity and lumped payloads, without the findings of the model check.

        Returns
        -------
        str
        """
        return yaml_of(self._model, self._setting.gravity)

    def chain(self, base_link: str | None = None, tip_link: str | None = None, gravity=None) -> 'Robot':
        """Return the chain from ``base_link`` to ``tip_link``.

        Links beside the chain or beyond its tip are dropped with their mass and their closed loops. Gravity stays the
        same vector, now expressed in the frame of ``base_link``; ``gravity``, in that frame, replaces it. Raises
        ModelError naming a loop between the chain and what is dropped, and ArgumentError naming a moving joint between
        the base and ``base_link``, unless ``gravity`` is given.

        Parameters
        ----------
        base_link : str, optional
            Link whose frame becomes the base frame. Default: the base of the robot.
        tip_link : str, optional
            Last link of the chain. Default: the whole subtree of ``base_link``.
        gravity : array_like, (3,)
            Gravity in the base frame, m/s^2.

        Returns
        -------
        Robot
        """
        model, turned = _chain(self._model, self._setting.gravity, base_link, tip_link, gravity)
        return self._with_model(model, gravity=turned, payloads={})

    def with_locked_joints(self, positions) -> 'Robot':
        """Return this robot with joints locked at positions; their links are lumped into the parent links.

        A joint that is coupled to a locked one has a constant coupling. Raises ModelError naming a loop that cannot be
        closed at these positions, or a coupling that does not determine the other joint.

        Parameters
        ----------
        positions : mapping
            Position of each locked joint by its name, in rad (m); a list for a joint of several coordinates.

        Returns
        -------
        Robot
        """
        return self._with_model(with_locked_joints(self._model, positions), payloads={})

    def with_attached(self, other: 'Robot', link: str, pose=None, prefix: str = '') -> 'Robot':
        """Return this robot with the base of another robot fixed to ``link``.

        Parameters
        ----------
        other : Robot
            The robot to attach.
        link : str
            Name of a link or frame, one of ``frame_names``.
        pose : array_like, (4, 4), optional
            The other base's pose in the frame of ``link``, in m. Default: identity.
        prefix : str
            Prefix of the other robot's names.

        Returns
        -------
        Robot
        """
        if not isinstance(other, Robot):
            raise ArgumentError(f'other: expected a Robot, got {other!r:.80}')
        return self._with_model(with_attached(self._model, other._model, link, pose, prefix), payloads={})

    def with_actuators(self, source) -> 'Robot':
        """Return this robot with the rotors, gears and friction of an actuator file such as ``config/aubo_i5.yaml``.

        Parameters
        ----------
        source : str or Path
            Path of the description, or its text; an actuator file may also be a mapping.

        Returns
        -------
        Robot
        """
        return self._with_model(with_actuators(self._setting.model, source))

    def with_consistent_inertias(self) -> 'Robot':
        """Return this robot with the nearest inertia that a body can have in place of each that no body has.

        Nearest are second moments about the centre in the Frobenius norm, by their positive semidefinite part; mass and
        centre are kept, so gravity torques are the same. ``findings`` says by how much each link was corrected. Raises
        ModelError naming a link with a negative mass.

        Returns
        -------
        Robot
        """
        return self._with_model(with_consistent_inertias(self._setting.model))

    def with_loops(self, loops, gain: float = GAIN, tolerance: float = TOLERANCE) -> 'Robot':
        """Return this robot with these closed loops in place of its own; an empty list opens all.

        ``forward_dynamics`` and the methods that begin with ``loop`` take them into account; all other quantities are
        those of the tree of joints. ``findings`` tells which constraints depend on others only up to rounding of axes.
        Raises ArgumentError, UnknownNameError and ModelError naming a loop.

        Parameters
        ----------
        loops : list of LoopClosure and Coupling
            Closures of loops and couplings of joints; see ``model.loop_types``.
        gain : float
            Rate in 1/s at which errors e of the loops decay in ``forward_dynamics``: d^2e/dt^2 + 2 gain de/dt + gain^2
            e is zero. With 0 they grow.
        tolerance : float
            Part, without unit, of its effect on all joints below which what a constraint adds to those before it counts
            as rounding.

        Returns
        -------
        Robot
        """
        return self._with_model(with_loops(self._setting.model, loops, gain, tolerance))

    def with_gravity(self, gravity) -> 'Robot':
        """Return this robot under another gravity, for wall and ceiling mounting.

        Parameters
        ----------
        gravity : array_like, (3,)
            Gravity in the base frame, m/s^2.

        Returns
        -------
        Robot
        """
        return self._changed(gravity=gravity)

    def with_base_orientation(self, rotation) -> 'Robot':
        """Return this robot with a rotated base: ``with_gravity`` R' (0, 0, -9.81).

        Raises ArgumentError unless R' R is the identity to 1e-6 and det R > 0.

        Parameters
        ----------
        rotation : array_like, (3, 3)
            Rotation matrix R from the base to a world whose z axis points up.

        Returns
        -------
        Robot
        """
        return self.with_gravity(product(validation.rotation('rotation', rotation).T, GRAVITY))

    def with_payload(self, payload: Payload, link: str | None = None) -> 'Robot':
        """Return this robot with ``payload`` added to the payload of ``link``; the last link by default.

        Nothing is compiled. A payload on the last link is a run-time input of specialised code; with one on another
        link generic kernels are used. Raises ArgumentError and UnknownNameError.

        Parameters
        ----------
        payload : Payload
            Mass (kg), centre of mass (m) and inertia (kg m^2), expressed in the frame of ``link``.
        link : str
            Name of a link or frame, one of ``frame_names``.

        Returns
        -------
        Robot
        """
        if not isinstance(payload, Payload):
            raise ArgumentError(f'payload: expected a Payload, got {payload!r:.80}')
        link = carrying_frame(self._model, link)
        payloads = self._setting.payloads
        present = payloads.get(link)
        return self._changed(payloads={**payloads, link: present + payload if present else payload})

    def without_payload(self, link: str | None = None) -> 'Robot':
        """Return this robot without the payload of ``link``, or by default without all payloads.

        Results then have the same bits as before. Raises UnknownNameError for a link without payload.

        Parameters
        ----------
        link : str
            Name of a link or frame, one of ``frame_names``.

        Returns
        -------
        Robot
        """
        payloads = self._setting.payloads
        if link is not None and link not in payloads:
            raise UnknownNameError(f'no payload on {link!r}; there are some on: {", ".join(payloads) or "none"}')
        return self._changed(payloads={name: it for name, it in payloads.items() if link not in (None, name)})

    def _with_model(self, model: Model, **changes) -> 'Robot':
        """Return this robot with another model and the same binding."""
        return self._changed(model=model, code=None, **changes).with_binding(self.binding, self._setting.threads)


def _chain(model: Model, before, base_link: str | None, tip_link: str | None, gravity) -> tuple:
    """Return the model of ``Robot.chain`` and its gravity; ``before`` is that of ``model``."""
    part = cut(model, base_link, tip_link)
    return part, turned_gravity(model, part.link_names[0], before) if gravity is None else gravity
