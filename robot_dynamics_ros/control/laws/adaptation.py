"""Adaptation of an arm's tip link and friction to the error of its reference motion; when it adapts, and when it waits.

The error s = qd_r - qd is that of ``adaptive``, whose laws use what is adapted. The tip link is the last one.
"""

import time
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.joints.joint_friction import frictionless
from robot_dynamics_ros.control.law import INTERRUPTION, MeasuredState
from robot_dynamics_ros.control.laws.gain_limits import configurations
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.control.laws.tip_estimate import MEAN, RADIUS, TipEstimate
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, PayloadRamp, carrying
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.pseudo_inertia import violation

ADAPTIVE = 'adaptive'
"""Name of the law."""
WEIGHT = 9.81
"""Acceleration by which the leverage of the tip's mass on a joint is judged, m/s^2."""
LARGEST_STEP = 0.5
"""Of the adaptation, relative to the one that corrects the whole error: longer pauses between states count less."""
FRICTION_SHARE = 0.25
"""Largest magnitude of each adapted friction term, of the effort limit."""
HOLDS, FITS, LIMITED, RAMPS, SILENT, ADAPTS = (
    'paused: no motion is followed',
    'paused: no moving joint has an error beyond the dead zone',
    'paused: another torque than the computed one was sent',
    'paused: payload ramp',
    'paused: no joint states',
    'adapting',
)
ROWS = ('viscous', 'Coulomb', 'offset')


class AdaptiveSettings(NamedTuple):
    """Largest payload (kg), rates of the adaptation of the tip link and of friction (1/s), dead zone (rad/s or m/s).

    A wrong mass of the tip link decays with about ``rate`` where it matters most to a joint, less elsewhere;
    ``friction_rate`` of 0 leaves friction as it is. Errors s within ``dead_zone`` change nothing.
    """

    payload_limit: float
    rate: float
    friction_rate: float
    dead_zone: float


class _Goal(NamedTuple):
    """A payload, and the tip link's parameters (10,) before and after its ramp; the latter with their matrix."""

    ramp: PayloadRamp
    before: np.ndarray
    after: tuple[np.ndarray, np.ndarray]


@compiled(given='columns error h')
def _adapt_friction(
    gain: Matrix, lowest: Matrix, highest: Matrix, friction: Matrix, columns: Matrix, error: Vector, h: float
) -> None:
    """Write the first rows of friction (7, n) after ``h`` s, with gains and within bounds (3, n each)."""
    for i in range(error.shape[0]):
        for k in range(3):
            changed = friction[k, i] + h * gain[k, i] * columns[k, i] * error[i]
            friction[k, i] = min(max(changed, lowest[k, i]), highest[k, i])


@compiled(given='sent')
def _equal(computed: Vector, sent: Vector) -> bool:
    """Return whether two torques (n) are the same; one that is not finite is not."""
    equal = True
    for i in range(sent.shape[0]):
        equal = equal and computed[i] == sent[i]
    return equal


class Adaptation:
    """Estimate that the laws of an arm share: the tip link's parameters, and friction on request.

    The estimate begins at the model with the payload in force, at an activation and after an ``INTERRUPTION``. Another
    payload becomes the estimate over its ramp, in which nothing is adapted: the torque makes no step, and the estimate
    stays one of a body as a mean of two bodies. A step of the adaptation follows a state whose computed torque was
    sent, and sent unchanged: neither an effort or rate limit nor a fade-in, a fallback or a missing state winds it up.

    Parameters
    ----------
    robot : Robot or DrivenRobot
        Without payload.
    stiffness, damping : array_like, (n,)
        Kp, at least 0, and Kd, above 0, in N m/rad and N m s/rad (prismatic joints: N/m and N s/m).
    settings : AdaptiveSettings
    effort_limit : array_like, (n,)
        N m or N; inf: none.
    terms : sequence of str
        Terms that the robot does not compensate itself.

    Raises
    ------
    ArgumentError
        Where the robot compensates gravity, or friction that is to be adapted, for a joint without damping, and without
        a payload limit.
    """

    def __init__(self, robot, stiffness, damping, settings: AdaptiveSettings, effort_limit, terms=TERMS):
        n, Kp, Kd = robot.nv, gains('stiffness', stiffness, robot.nv), gains('damping', damping, robot.nv)
        _check(robot, Kd, settings, terms)
        self._robot, self.settings, self.rate = robot, settings, Kp / Kd
        self.terms: tuple[str, ...] = tuple(terms)
        self._bare = tip_row(robot)
        largest, fastest = self._bare[0] + settings.payload_limit, np.nan_to_num(robot.limits.velocity, posinf=0.0)
        self.estimate = TipEstimate(largest, n, settings.rate / (largest**2 * _leverage(robot, Kd)))
        # a viscous friction counts at half of the largest velocity
        speed = np.where(fastest > 0.0, 0.5 * fastest, 1.0)
        self._unit = np.stack([1.0 / speed, np.ones(n), np.ones(n)])
        largest_change = FRICTION_SHARE * np.asarray(effort_limit, float) * self._unit
        self._given = np.array(robot.friction if 'friction' in terms else frictionless(robot.friction))
        self.friction, model = self._given.copy(), self._given[:3]
        lowest = np.array([0.0 * speed, 0.0 * speed, model[2] - largest_change[2]])
        gain, example = settings.friction_rate * Kd * self._unit**2, (np.zeros((3, n)), np.zeros(n), 0.0)
        self._adapt_friction = bound(_adapt_friction, gain, lowest, model + largest_change, self.friction, then=example)
        self._longest = LARGEST_STEP / max(settings.rate, 6.0 * settings.friction_rate)
        self.computed, self._anchor, self._from = np.zeros(n), np.zeros(10), 0.0
        self._equal = bound(_equal, self.computed, then=(np.zeros(n),))
        self._laws, self._ramps, self._continues = 0, False, False
        self._reaction: tuple[np.ndarray, ...] = ()  # of the last state
        self._goal = self._used = _Goal(PayloadRamp(), self._bare, self.estimate.nearest(self._bare))
        self.estimate.restart(*self._goal.after)
        self.doing, self._seen = HOLDS, -np.inf

    def take(self, payload_gravity: PayloadGravity) -> None:
        """Follow the ramp of another payload, which becomes the estimate; any thread may call it."""
        ramp, goal = payload_gravity.payload, self._goal
        if ramp is goal.ramp:
            return
        after = goal.after if ramp.after is goal.ramp.after else self.estimate.nearest(self._row(ramp.after))
        self._goal = _Goal(ramp, self.estimate.nearest(self._row(ramp.before))[0], after)

    def begin(self, state: MeasuredState) -> None:
        """Adapt to the last state, or follow the ramp of a payload to ``state``."""
        goal, is_first, self._seen = self._goal, self._seen == -np.inf, time.monotonic()
        if is_first or (state.pause > INTERRUPTION and not self._continues):
            self._follow(goal.before, 0.0)
            self.friction[:] = self._given
        elif goal.after is not self._used.after:
            self._follow(self.estimate.parameters, goal.ramp.share(state.time))
        self._used = goal
        if self._ramps:
            self._move(goal, goal.ramp.share(state.time))
        elif self._laws == 1 and not state.resumed:
            self._adapt(state)
        else:
            self.doing = HOLDS
        self._laws, self._continues = 0, False

    def react_to(self, regressor: np.ndarray, error: np.ndarray, columns: np.ndarray) -> None:
        """Keep the arrays of a law that has computed a torque; in a ramp of gravity, of several.

        ``regressor`` (n, 10) is Y of the tip link, ``error`` (n) in rad/s or m/s, ``columns`` (3, n) are those of
        viscous and Coulomb friction and offset.
        """
        self._laws, self._reaction = self._laws + 1, (regressor, error, columns)

    def drop(self, continues: bool = False) -> None:
        """Adapt to nothing that was before; the estimate ``continues`` where only the clock was set back."""
        self._laws, self._continues = 0, continues

    def report(self) -> dict[str, str]:
        """Return the estimate, whether a body has it, and what is adapted, as fields of the diagnostics."""
        now, mean = self.estimate.parameters.copy(), self.estimate.mean.copy()
        mass, com, _ = central_parameters(mean - self._bare)
        change, doing = (self.friction - self._given)[:3] / self._unit, self.doing
        if doing == ADAPTS and not any(self._reaction[1]):
            doing = FITS
        friction = {f'friction adapted, {name}': _numbers(row) for name, row in zip(ROWS, change, strict=True)}
        return {
            'adaptation': doing if time.monotonic() - self._seen < INTERRUPTION else SILENT,
            'payload estimate, kg': f'{now[0] - self._bare[0]:.3f}',
            f'payload estimate, mean of {MEAN:g} s, kg': f'{mass:.3f}',
            f'center of the payload, mean of {MEAN:g} s, m': _numbers(com) if mass > 1e-3 else '',
            'estimate is physically consistent': violation(now) or 'yes',
            **(friction if self.settings.friction_rate else {}),
        }

    def warnings(self) -> list[str]:
        """Return that the estimate is at its bound."""
        limit = self.settings.payload_limit
        if self.estimate.parameters[0] - self._bare[0] < 0.999 * limit:
            return []
        return [
            f'the estimated payload is at adaptation_payload_limit, {limit:g} kg: see what the arm carries or touches'
        ]

    def _row(self, payloads) -> np.ndarray:
        return tip_row(carrying(self._robot, payloads))

    def _follow(self, start: np.ndarray, share: float) -> None:
        """Begin to follow a ramp at its ``share``, with the parameters ``start``."""
        self._anchor[:], self._from, self._ramps = start, share, True

    def _move(self, goal: _Goal, share: float) -> None:
        """Write the parameters at the ``share`` of a ramp."""
        self._ramps = share < 1.0
        self.doing = RAMPS if self._ramps else HOLDS
        if not self._ramps:
            self.estimate.restart(*goal.after)
            return
        parameters = self.estimate.parameters
        np.subtract(goal.after[0], self._anchor, out=parameters)
        parameters *= max(0.0, share - self._from) / (1.0 - self._from)
        parameters += self._anchor

    def _adapt(self, state: MeasuredState) -> None:
        """Adapt to the last state, unless another torque was sent."""
        if not self._equal(state.sent):
            self.doing = LIMITED
            return
        self.doing, (regressor, error, columns), h = ADAPTS, self._reaction, min(state.elapsed, self._longest)
        self.estimate.step(regressor, error, h)
        if self.settings.friction_rate:
            self._adapt_friction(columns, error, h)


def tip_row(robot) -> np.ndarray:
    """Return the ten parameters (10,) of the last link, payload included."""
    return np.array(robot.model.arrays.I[-1])


def _leverage(robot, damping: np.ndarray) -> float:
    """Return the largest rate in 1/s, times 1/kg, by which an error of the tip link is felt through the damping (n).

    Where the tip link has its reference body and the weight of it acts in the worst direction.
    """
    J = within_reach(robot).jacobian(configurations(robot), robot.link_names[-1], 'local_world_aligned')
    arm = (J[:, 3:] ** 2).sum(axis=1) + RADIUS**2 * (J[:, :3] ** 2).sum(axis=1)
    return float((WEIGHT**2 * arm.max(axis=0) / damping).max())


def _check(robot, damping: np.ndarray, settings: AdaptiveSettings, terms) -> None:
    """Raise ArgumentError for what adaptation cannot do."""
    if 'gravity' not in terms:
        raise ArgumentError(
            f'control law {ADAPTIVE}: the robot compensates gravity itself, with the payload that is set on it, and a '
            'payload cannot be estimated beside that; choose pd_feedforward'
        )
    if settings.friction_rate and 'friction' not in terms:
        raise ArgumentError('friction_adaptation_rate: the robot compensates friction itself; set it to 0')
    if not settings.payload_limit > 0.0:
        raise ArgumentError(
            f'adaptation_payload_limit: control law {ADAPTIVE} needs the largest payload of the arm, in kg'
        )
    if not (damping > 0.0).all():
        name = robot.joint_names[int(np.argmin(damping))]
        raise ArgumentError(f'damping: joint {name!r}: control law {ADAPTIVE} needs a damping above 0')


def _numbers(values) -> str:
    return ' '.join(f'{value:.3f}' for value in values)
