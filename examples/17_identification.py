"""Masses and friction of an arm from a log of its motion: errors of the description, and the accuracy of the result.

The log is simulated: an AUBO-i5 with 10 % more mass and more friction than its description, and noise of 0.2 N m.
"""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.trajectories.motion_profiles import fourier_series
from robot_dynamics_ros.identification import Log, identify, validate

described = Robot.named('aubo_i5')
arm = described.with_inertial_parameters(1.1 * described.inertial_parameters)
arm = arm.with_friction(viscous=1.3 * described.friction.viscous, coulomb=1.2 * described.friction.coulomb)


def recorded(seed):
    """Return a log of 20 s at 100 Hz of a random periodic motion, by inverse dynamics with noise."""
    generator = np.random.default_rng(seed)
    sines, cosines = generator.normal(0.0, 0.35, (2, 5, 6))
    t = np.arange(0.0, 20.0, 0.01)
    motion = fourier_series(np.radians([0, -20, 60, 10, 50, 0]), sines, cosines, 0.1, t)
    torque = arm.torque(motion.q, motion.qd, motion.qdd) + generator.normal(0.0, 0.2, motion.q.shape)
    return Log(t, motion.q, motion.qd, motion.qdd, torque)


found = identify(described, recorded(0))
other = recorded(1)  # it judges the result
before, after = validate(described, other), validate(found.robot, other)

print(f'{"RMS of the residual, N m":26}{"described":>10}{"identified":>12}')
for name, worse, better in zip(described.joint_names, before.rms, after.rms, strict=True):
    print(f'{name:26}{worse:10.3f}{better:12.3f}')
ratio = found.robot.friction.viscous / described.friction.viscous
print('viscous friction over that of the description:', ' '.join(f'{it:.2f}' for it in ratio))
print(f'residuals are within 10 % of the noise: {bool((after.rms < 0.22).all())}')
