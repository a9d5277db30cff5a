"""Hand guiding of motors with a PD of their own: gravity torque, and a position command that follows the arm.

A motor of the MIT type applies kp (q_command - q) + kd (qd_command - qd) + the torque that it is sent. While the
position command stands still, kp holds the arm. Here it follows the measured position with a dead band: the motors
resist a hand with kp times the dead band at most, and hold an error of the gravity torque up to the same size without
a drift. It follows no faster than a stated speed, and not to where the arm can't have moved since the last state: one
wrong state must not throw the arm.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.law import MeasuredState, Result
from robot_dynamics_ros.control.laws.gravity_law import GravityLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.robot import Robot

JUMP = 1.5
"""Steps between two states that are longer than so much times what the velocity limit allows are no motion."""
PARTIAL, FOLLOWS, JUMPED = range(3)
"""What became of a position command: the torque is not whole, it followed, joint k jumped (JUMPED + k)."""


@compiled(given='torque elapsed')
def _follow(
    gravity: Vector,
    position: Vector,
    before: Vector,
    dead_band: Vector,
    speed: Vector,
    fastest: Vector,
    turn: Vector,
    command: Vector,
    torque: Vector,
    elapsed: float,
) -> int:
    """Move command (n) to within dead_band (n) of position (n) by at most speed (n) elapsed; return what became of it.

    It moves where torque == gravity (n), and unless a joint is further from its position before (n) than JUMP times
    fastest (n) elapsed. Differences are modulo a turn (n, rad; 0: none). A command that is NaN becomes the position.
    """
    if elapsed > 0.0:
        for k in range(torque.shape[0]):
            step = position[k] - before[k]
            if turn[k] > 0.0:
                step -= turn[k] * np.floor(step / turn[k] + 0.5)
            if abs(step) > JUMP * fastest[k] * elapsed:
                return JUMPED + k
    for k in range(torque.shape[0]):
        if torque[k] != gravity[k]:
            return PARTIAL
    for k in range(torque.shape[0]):
        if command[k] != command[k]:
            command[k] = position[k]
        goal = position[k]
        if turn[k] > 0.0:
            goal -= turn[k] * np.floor((goal - command[k]) / turn[k] + 0.5)
        if command[k] < goal - dead_band[k]:
            command[k] = min(goal - dead_band[k], command[k] + speed[k] * elapsed)
        elif command[k] > goal + dead_band[k]:
            command[k] = max(goal + dead_band[k], command[k] - speed[k] * elapsed)
    return FOLLOWS


class HandGuidingLaw(GravityLaw):
    """tau = g(q) at the measured positions, and the ``position_command`` (n, rad or m) that goes with it.

    ``follows`` is whether the last torque came with a position command. ``jumps`` is how many states since activation
    were further from the one before than the arm can move, and ``jumped`` the joint of the last one, '' for none.
    ``held`` is whether payload or gravity have changed since the first torque of the activation.
    """

    def __init__(self, gravity: PayloadBlender, robot: Robot, dead_band: np.ndarray, speed: np.ndarray):
        """Set the blended gravity torque, and of each joint the dead band (n, rad or m) and the largest speed (n).

        The speed of the command, rad/s or m/s, is at most the velocity limit of ``robot`` where that is known.
        """
        super().__init__(gravity)
        n = len(dead_band)
        self._names = robot.joint_names
        self.position_command = np.full(n, np.nan)
        self._gravity_torque, self._position, self._before = np.zeros((3, n))
        limit = robot.limits.velocity
        fastest = np.where(limit == limit, limit, speed)
        parts = self._gravity_torque, self._position, self._before, dead_band, np.fmin(speed, limit), fastest
        self._follow = bound(_follow, *parts, turns(robot), self.position_command, then=(np.zeros(n), 0.0))
        self._elapsed = 0.0
        self.stop_following()

    def stop_following(self) -> None:
        """Forget the position command, jumps and a change of payload or gravity, as at activation."""
        self.position_command.fill(np.nan)
        self._position.fill(np.nan)  # the first state is no jump
        self.follows = self.held = False
        self.jumps, self.jumped = 0, ''
        self._began = self._is_new = False

    def continue_from(self, before: 'HandGuidingLaw') -> None:
        """Go on with the position command of ``before``, of another description of the arm."""
        self.position_command[:], self._position[:] = before.position_command, before._position
        self.held, self._began = before.held, before._began

    def load_changed(self) -> None:
        """Hold the position command until ``stop_following``, if a torque was computed: another thread calls this.

        The arm falls or rises with a gravity torque that has become wrong, and the command would follow it.
        """
        self.held = self._began

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``."""
        self._began = True
        result = super().torque(state, out)
        self._gravity_torque[:] = out
        self._before[:] = self._position
        self._position[:] = state.q
        self._elapsed, self._is_new = state.elapsed, True
        return result

    def follow(self, torque: np.ndarray) -> bool:
        """Let the position command follow the arm; return whether it may be sent with ``torque`` (n, N m).

        It may where this is the whole gravity torque of a new state: while that fades in, is limited, decreases to zero
        or is one without a state, the arm would fall with its position command.
        """
        self.follows = False
        if self._is_new:
            self._is_new = False
            found = self._follow(torque, self._elapsed) if not self.held else PARTIAL
            self.follows = found == FOLLOWS
            if found >= JUMPED:
                self.jumps += 1
                self.jumped = self._names[found - JUMPED]
        return self.follows
