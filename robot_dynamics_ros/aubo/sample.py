"""Which quantities of the stream are asked for, and one sample of them as arrays."""

from collections.abc import Iterable, Sequence

import numpy as np

from robot_dynamics_ros.aubo.frames import shown
from robot_dynamics_ros.errors import ArgumentError, ControllerError
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

TIME = 'timestamp'
POSITION, VELOCITY = 'R1_actual_q', 'R1_actual_qd'
TORQUE, CURRENT = 'R1_joint_torque', 'R1_actual_current'
GRAVITY, TEMPERATURE = 'R1_joint_gravity_torque', 'R1_joint_temperatures'
ROBOT_MODE, SAFETY_MODE, SIMULATED = 'R1_robot_mode', 'R1_safety_mode', 'R1_is_simulation_enabled'
WITHOUT = {
    TIME: 'states are stamped when they arrive',
    VELOCITY: 'joint_states has no velocities',
    TORQUE: 'efforts are current times torque constant',
    GRAVITY: 'gravity torques are not compared',
    TEMPERATURE: 'joint_temperatures is not published',
    ROBOT_MODE: 'the robot mode is not known',
    SAFETY_MODE: 'the safety mode is not known',
    SIMULATED: 'a simulated arm is not recognised',
}
"""What an older controller may lack, and what follows from it."""

NUMBERS = frozenset({int, float, type(None)})
LONGEST = 1e9
"""s: 31 years, beyond any time since a controller's start."""


class Sample:
    """The newest sample of an arm with n joints.

    ``time`` is that of the controller in s, NaN where it streams none; ``position`` (n, rad), ``velocity`` (n, rad/s)
    and ``effort`` (n, N m) are finite; ``gravity`` (n, N m) and ``temperature`` (n, degrees Celsius) may hold NaN.
    """

    def __init__(self, n: int):
        """Allocate the arrays."""
        self.time = np.nan
        self.position, self.velocity, self.effort, self.gravity, self.temperature = np.full((5, n), np.nan)
        self.robot_mode = self.safety_mode = ''
        self.simulated = False


class Recipe:
    """The quantities to ask a controller for, chosen among those that it offers.

    ``names`` are in the order of the values of a sample. ``effort_source`` is ``joint_torque`` (the controller's
    calibrated joint torque), ``current`` (measured current times torque constant) or '' for neither. ``missing`` says,
    a line each, what the controller does not stream and what follows from it.
    """

    def __init__(self, outputs: Iterable[str], joint_names: Sequence[str], torque_constants: np.ndarray | None):
        """Choose among ``outputs``.

        ``torque_constants`` (n, N m/A) are None where the model has none. ControllerError where the controller streams
        no joint positions.
        """
        offered = set(outputs)
        if POSITION not in offered:
            raise ControllerError(f'the controller streams no {POSITION}: is this an AUBO arm?')
        self._joint_names, self._constants = joint_names, torque_constants
        if TORQUE in offered:
            self.effort_source, effort = 'joint_torque', TORQUE
        elif CURRENT in offered and torque_constants is not None:
            self.effort_source, effort = 'current', CURRENT
        else:
            self.effort_source, effort = '', ''
        wanted = (TIME, POSITION, VELOCITY, effort, GRAVITY, TEMPERATURE, ROBOT_MODE, SAFETY_MODE, SIMULATED)
        self.names = [name for name in wanted if name in offered]
        self.missing = [f'{name}: {self._without(name)}' for name in WITHOUT if name not in offered]

    def read(self, values: Sequence, sample: Sample) -> None:
        """Write the ``values`` of one message to ``sample``.

        ControllerError for another number of joints; ArgumentError names what else is wrong, and then the sample is not
        to be used.
        """
        if len(values) != len(self.names):
            raise ArgumentError(f'expected {len(self.names)} values, got {len(values)}')
        for name, value in zip(self.names, values, strict=True):
            if name == TIME:
                sample.time = self._number(name, value)
            elif name == ROBOT_MODE:
                sample.robot_mode = shown(value)
            elif name == SAFETY_MODE:
                sample.safety_mode = shown(value)
            elif name == SIMULATED:
                sample.simulated = bool(value)
            else:
                self._joints(name, value, sample)

    def _joints(self, name: str, value, sample: Sample) -> None:
        """Write the numbers of the joints to the array that holds ``name``."""
        n = len(self._joint_names)
        if not isinstance(value, list) or len(value) != n:
            if name == POSITION and isinstance(value, list) and value:
                raise ControllerError(f'the controller moves {len(value)} joints, the model has {n}: another robot')
            raise ArgumentError(f'{name}: expected {n} numbers, got {value!r:.60}')
        out = {
            POSITION: sample.position,
            VELOCITY: sample.velocity,
            GRAVITY: sample.gravity,
            TEMPERATURE: sample.temperature,
        }.get(name, sample.effort)
        try:
            if not NUMBERS.issuperset(map(type, value)):  # NumPy converts texts and truth values
                raise TypeError
            out[:] = value  # None, which stands for NaN in JSON, becomes NaN
        except (TypeError, ValueError, OverflowError):
            raise ArgumentError(f'{name}: expected {n} numbers, got {value!r:.60}') from None
        if name == CURRENT:
            with np.errstate(over='ignore'):  # it is refused below
                out *= self._constants
        if name in (GRAVITY, TEMPERATURE):
            return
        limit = LARGEST_ANGLE if name == POSITION else np.inf
        if not (np.abs(out) < limit).all():
            place = int(np.argmin(np.abs(out) < limit))
            reason = f'not below {limit:.2g} rad' if np.isfinite(out[place]) else 'not finite'
            raise ArgumentError(f'{name}: the number of joint {self._joint_names[place]!r} is {reason}')

    def _number(self, name: str, value) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LONGEST:
            raise ArgumentError(f'{name}: expected s below {LONGEST:g}, got {value!r:.60}')
        return float(value)

    def _without(self, name: str) -> str:
        if name == TORQUE and not self.effort_source:
            lacking = 'the model has no torque constants' if self._constants is None else f'{CURRENT} is missing, too'
            return f'joint_states has no efforts, since {lacking}'
        return WITHOUT[name]
