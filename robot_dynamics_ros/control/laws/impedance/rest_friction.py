"""Friction of joints that stand: the springs of a Cartesian impedance are stiffer near their rest, as far as it allows.

A joint that the springs pull with u = J' K e stands wherever |u| is below its Coulomb friction f. With

    K (1 + a),     a = c (1 - s) / sqrt(|u / f|^2 + 0.1^2),     s = max |qd_d| / sqrt(qd_d^2 + v_s^2)

in place of K, where |u / f|^2 is the sum over the joints, the frame comes nearer to where it is held. No measured
velocity is used, and nothing moves back and forth for it.

a u is 0 where the springs pull nothing, it has their direction, and is at most c f in each joint. Friction takes the
power f |qd|: so both together take power from joints whose friction is c f or more, however late a u acts. Where the
friction is less, the springs are stiffer, by up to 1 + 10 c: as much as that counts in the limit of sampling. s is 0
at rest; a u and the friction of the desired velocity, f qd_d / sqrt(qd_d^2 + v_s^2), are at most f.
"""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.robot import Robot

LARGEST_SHARE = 0.9
"""Of Coulomb friction: the rest is for a friction that has become less than the model's."""
WIDTH = 0.1
"""Share of the Coulomb friction from which on a pull gets most of c f."""


@kernel
def stiffer_at_rest(c, friction, u, qd_desired):
    """Return a for a pull u (n, N m) and desired velocities (n, rad/s); rows of friction (2, n): f and v_s."""
    pulled, s = WIDTH * WIDTH, 0.0
    for k in range(u.shape[0]):
        # |u / f|^2,  s = max |qd_d| / sqrt(qd_d^2 + v_s^2)
        share = u[k] / friction[0, k]
        pulled += share * share
        v = qd_desired[k]
        s = max(s, abs(v) / np.sqrt(v * v + friction[1, k] * friction[1, k]))
    return c * (1.0 - s) / np.sqrt(pulled)


def stiffest(share: float) -> float:
    """Return how many times as stiff springs are at rest with this ``share`` c."""
    return 1.0 + share / WIDTH


def friction_at_rest(robot: Robot, share: float, terms) -> np.ndarray:
    """Return Coulomb friction f and transition velocity v_s of each joint, (2, n), for a ``share`` c of f.

    ArgumentError for a share outside of 0 to ``LARGEST_SHARE``; and, unless it is 0, where friction is not among the
    ``terms`` of the compensation, for joints without Coulomb friction, and where one motor moves several joints.
    """
    friction = np.array([robot.friction.coulomb, robot.friction.transition])
    if not 0.0 <= share <= LARGEST_SHARE:
        raise ArgumentError(f'rest_friction_share: expected a number from 0 to {LARGEST_SHARE:g}, got {share:g}')
    without = ', '.join(repr(name) for name, f in zip(robot.joint_names, friction[0], strict=True) if not f > 0.0)
    reason = ''
    if 'friction' not in terms:
        reason = 'friction is no term of the compensation, the robot compensates it itself'
    elif robot.model.motor_coupling:
        reason = 'motors of this robot move several joints, and their friction is that of no joint'
    elif without:
        reason = f'no Coulomb friction is stated for {without}; a URDF has it in <dynamics friction="">'
    if share and reason:
        raise ArgumentError(f'rest_friction_share: {reason}; or leave it at 0')
    return friction
