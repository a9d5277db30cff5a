"""Changed copies of a robot: parts of it, other parameters, loops, gravity and payloads."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.formats.yaml_files.actuators import Source, with_actuators
from robot_dynamics_ros.model.closed_loops.loop_types import GAIN, TOLERANCE, Coupling, LoopClosure
from robot_dynamics_ros.model.closed_loops.loops import with_loops
from robot_dynamics_ros.model.consistent_inertias import with_consistent_inertias
from robot_dynamics_ros.model.digest import robot_digest
from robot_dynamics_ros.model.editing import chain, with_attached, with_locked_joints
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import GRAVITY, JointLimits, Model
from robot_dynamics_ros.model.replaced_parameters import (
    with_friction,
    with_inertial_parameters,
    with_limits,
    with_rotor_inertia,
)
from robot_dynamics_ros.model.residual import ResidualModel
from robot_dynamics_ros.payload import Payload, carrying_frame
from robot_dynamics_ros.robot.compiled_code import CompiledCode
from robot_dynamics_ros.robot.described_robot import DescribedRobot
from robot_dynamics_ros.robot.shared_parameters import documented

Copied = TypeVar('Copied', bound='ChangedCopies')


@documented()
class ChangedCopies(CompiledCode):
    """Methods that return a changed copy of a robot; the robot itself never changes."""

    def chain(
        self: Copied, base_link: str | None = None, tip_link: str | None = None, gravity: ArrayLike | None = None
    ) -> Copied:
        """Return the chain from ``base_link`` to ``tip_link``.

        Links beside the chain or beyond its tip are dropped with their mass, their payloads and their closed loops; a
        finding says which mass moved with the chain. Gravity stays the same vector, now expressed in the frame of
        ``base_link``; ``gravity``, in that frame, replaces it. Raises ModelError naming a loop between the chain and
        what is dropped, and, unless ``gravity`` is given, ArgumentError naming a joint between the base and
        ``base_link`` that turns gravity: a lift or a vertical turntable does not.

        Parameters
        ----------
        base_link
        tip_link
        gravity

        Returns
        -------
        Robot
        """
        whole, payloads = self._setting.model, self._setting.payloads
        masses = self._model.arrays.I[:, 0]
        model, turned = chain(whole, self._setting.gravity, base_link, tip_link, gravity, masses)
        kept = {name: payload for name, payload in payloads.items() if name in model.frames}
        return self._with_model(model, gravity=turned, payloads=kept)

    def with_locked_joints(self: Copied, positions: Mapping[str, ArrayLike]) -> Copied:
        """Return this robot with joints locked at positions; their links are lumped into the parent links.

        Payloads stay on their frames. A joint that is coupled to a locked one is locked, too, where that puts it;
        mimic joints are coupled in a robot that is read with ``mimic='couple'``. Raises ModelError naming a loop that
        cannot be closed at these positions, or a coupling that does not determine the other joint.

        Parameters
        ----------
        positions : mapping
            Position of each locked joint by its name, in rad (m); a list for a joint of several coordinates.

        Returns
        -------
        Robot
        """
        return self._with_model(with_locked_joints(self._setting.model, positions))

    def with_attached(
        self: Copied, other: DescribedRobot, link: str, pose: ArrayLike | None = None, prefix: str = ''
    ) -> Copied:
        """Return this robot with the base of another robot fixed to ``link``.

        Payloads of both stay on their frames, those of the other robot by their new names. Gravity is that of this
        robot.

        Parameters
        ----------
        other : Robot
            The robot to attach.
        link
        pose : array_like, (4, 4), optional
            The other base's pose in the frame of ``link``, in m. Default: identity.
        prefix : str
            Prefix of the other robot's names.

        Returns
        -------
        Robot
        """
        if not isinstance(other, DescribedRobot):
            raise ArgumentError(f'other: expected a Robot, got {other!r:.80}')
        model = with_attached(self._setting.model, other._setting.model, link, pose, prefix)
        attached = {prefix + name: payload for name, payload in other._setting.payloads.items()}
        return self._with_model(model, payloads={**self._setting.payloads, **attached})

    def with_actuators(self: Copied, source: Source) -> Copied:
        """Return this robot with the rotors, gears and friction of an actuator file such as ``config/aubo_i5.yaml``.

        Parameters
        ----------
        source

        Returns
        -------
        Robot
        """
        return self._with_model(with_actuators(self._setting.model, source))

    def with_inertial_parameters(self: Copied, parameters: ArrayLike) -> Copied:
        """Return this robot with other inertial parameters of its links, and without payloads on links that move.

        ``robot.with_inertial_parameters(robot.inertial_parameters)`` has the torques of ``robot``. Findings on
        masses and inertias are those of the new parameters. Raises ArgumentError.

        Parameters
        ----------
        parameters : array_like, (n, 10) or (10 n,)
            As ``inertial_parameters``, payloads included (kg, kg m, kg m^2).

        Returns
        -------
        Robot
        """
        rows = validation.numbers('parameters', parameters)
        count = len(self.link_names) - 1
        if rows.shape == (10 * count,):
            rows = rows.reshape(count, 10)
        rows = validation.finite('parameters', rows, (count, 10))
        frames, payloads = self._model.frames, self._setting.payloads
        on_base = {name: payload for name, payload in payloads.items() if frames[name].link == 0}
        return self._with_model(with_inertial_parameters(self._setting.model, rows), payloads=on_base)

    def with_friction(self: Copied, **terms: ArrayLike) -> Copied:
        """Return this robot with other friction; terms that are not given stay.

        Raises ArgumentError naming the term and joint: transition velocities must be above 0, all other terms but the
        offset at least 0.

        Parameters
        ----------
        terms : float or array_like, (nv,)
            Any of ``viscous``, ``coulomb``, ``offset``, ``transition``, ``stribeck``, ``stribeck_velocity``, ``load``
            and ``quadratic``, by name, in the unit of ``friction``.

        Returns
        -------
        Robot
        """
        columns = {}
        for name, value in terms.items():
            array = validation.numbers(name, value)
            columns[name] = np.full(self.nv, array) if array.ndim == 0 else array.copy()
            validation.finite(name, columns[name], (self.nv,))
        return self._with_model(with_friction(self._setting.model, columns))

    def with_limits(self: Copied, **limits: ArrayLike) -> Copied:
        """Return this robot with other limits of its joints; those that are not given stay.

        Raises ArgumentError naming the limit and joint: upper limits must not be below lower ones, and those of
        velocities and efforts must be above 0. An infinite number is no limit.

        Parameters
        ----------
        limits : float or array_like, (nq,) or (nv,)
            Any of ``lower`` and ``upper`` (nq; rad, m), ``velocity`` (nv; rad/s, m/s) and ``effort`` (nv; N m, N).

        Returns
        -------
        Robot
        """
        columns = {}
        for name, value in limits.items():
            validation.choice('limits', name, JointLimits._fields)
            array, size = validation.numbers(name, value), self.nq if name in ('lower', 'upper') else self.nv
            if array.shape not in ((), (size,)) or np.isnan(array).any():
                raise ArgumentError(f'{name}: expected a number or ({size},) of them, got {value!r:.80}')
            columns[name] = np.full(size, array) if array.ndim == 0 else array.copy()
        return self._with_model(with_limits(self._setting.model, columns))

    def with_residual(self: Copied, residual: ResidualModel | None) -> Copied:
        """Return this robot with learnt torques of its joints, which count in ``torque`` and ``acceleration``.

        Raises ArgumentError for the residual of other joints or another model, and for a bound above 30 % of an effort
        limit; likewise methods that return a robot with another model: remove it before.

        Parameters
        ----------
        residual : ResidualModel or None
            As ``identification.fit_residual`` returns it in ``model``, or ``residual_yaml.read_residual``; None for
            none.

        Returns
        -------
        Robot
        """
        return self._changed(residual=residual)

    def with_rotor_inertia(self: Copied, rotor_inertia: ArrayLike) -> Copied:
        """Return this robot with other rotor inertias, reflected to the joints.

        ``rotor_spin`` changes in the same proportion: a rotor that had no inertia has no spin. Raises ArgumentError.

        Parameters
        ----------
        rotor_inertia : array_like, (nv,)
            kg m^2, or kg for prismatic joints.

        Returns
        -------
        Robot
        """
        rotor = validation.not_negative('rotor_inertia', rotor_inertia, (self.nv,), 'kg m^2')
        return self._with_model(with_rotor_inertia(self._setting.model, rotor))

    def with_consistent_inertias(self: Copied) -> Copied:
        """Return this robot with the nearest inertia that a body can have in place of each that no body has.

        Nearest are second moments about the centre in the Frobenius norm, by their positive semidefinite part; mass and
        centre are kept, so gravity torques are the same. ``findings`` says by how much each link was corrected, and
        which number to look at where that is much. Raises ModelError naming a link with a negative mass.

        Returns
        -------
        Robot
        """
        return self._with_model(with_consistent_inertias(self._setting.model))

    def with_loops(
        self: Copied,
        loops: Iterable[LoopClosure | Coupling],
        gain: float = GAIN,
        tolerance: float = TOLERANCE,
        actuated: Iterable[str] = (),
        near: Mapping[str, float] | None = None,
    ) -> Copied:
        """Return this robot with these closed loops in place of its own; an empty list opens all.

        ``forward_dynamics`` and the methods that begin with ``loop`` take them into account; all other quantities are
        those of the tree of joints. ``findings`` tells which constraints depend on others only up to rounding of axes.
        Raises ArgumentError, UnknownNameError and ModelError naming a loop.

        Parameters
        ----------
        loops : list of LoopClosure and Coupling
            Closures of loops and couplings of joints; see ``model.closed_loops.loop_types``.
        gain : float
            Rate in 1/s at which errors e of the loops decay in ``forward_dynamics``: d^2e/dt^2 + 2 gain de/dt + gain^2
            e is zero. With 0 they grow.
        tolerance : float
            Part, without unit, of its effect on all joints below which what a constraint adds to those before it counts
            as rounding.
        actuated : iterable of str
            Joints with a motor, each of one coordinate; nodes and exported controllers speak of these alone.
        near : mapping of str to float, optional
            Positions near which the loops are closed, by joint, rad or m; 0 for other joints.

        Returns
        -------
        Robot
        """
        return self._with_model(with_loops(self._setting.model, loops, gain, tolerance, actuated, near))

    def with_gravity(self: Copied, gravity: ArrayLike) -> Copied:
        """Return this robot under another gravity, for wall and ceiling mounting.

        Parameters
        ----------
        gravity

        Returns
        -------
        Robot
        """
        return self._changed(gravity=gravity)

    def with_base_orientation(self: Copied, rotation: ArrayLike) -> Copied:
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

    def with_payload(self: Copied, payload: Payload, link: str | None = None) -> Copied:
        """Return this robot with ``payload`` added to the payload of ``link``.

        By default that is the last link, or the one with the fingers of a gripper.

        Nothing is compiled. A payload on the last link is a run-time input of specialised code; with one on another
        link generic kernels are used. Raises ArgumentError and UnknownNameError.

        Parameters
        ----------
        payload : Payload
            Mass (kg), centre of mass (m) and inertia (kg m^2), expressed in the frame of ``link``.
        link

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

    def without_payload(self: Copied, link: str | None = None) -> Copied:
        """Return this robot without the payload of ``link``, or by default without all payloads.

        Results then have the same bits as before. Raises UnknownNameError for a link without payload.

        Parameters
        ----------
        link

        Returns
        -------
        Robot
        """
        payloads = self._setting.payloads
        if link is not None and link not in payloads:
            raise UnknownNameError(f'no payload on {link!r}; there are some on: {", ".join(payloads) or "none"}')
        return self._changed(payloads={name: it for name, it in payloads.items() if link not in (None, name)})

    def _with_model(self: Copied, model: Model, **changes) -> Copied:
        """Return this robot with another model, with the same code of its own if that fits."""
        robot, compiled = self._changed(model=model, compiled=None, **changes), self._setting.compiled
        if compiled is None or robot_digest(compiled) != robot_digest(robot._evaluator.arrays):
            return robot
        return robot._changed(compiled=compiled)
