"""The whole torque as exported C in MuJoCo: with low gains, friction in the feedforward is most of the tracking."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm

PERIOD, DURATION = 0.001, 4.0
STIFFNESS, DAMPING = np.array([300.0, 300.0, 300.0, 60.0, 60.0, 60.0]), np.array([30.0, 30.0, 30.0, 3.0, 3.0, 3.0])
"""N m/rad, N m s/rad: little above what gravity takes of an upright arm."""
ERROR = 0.1
"""Of the friction that is known, as after an identification."""


@pytest.mark.skipif(not shutil.which('cc'), reason='no C compiler')
def test_friction_in_the_exported_torque_leaves_less_than_a_third_of_the_error(tmp_path):
    known = Robot.named('aubo_i5').with_friction(
        viscous=[8.0, 8.0, 6.0, 2.0, 2.0, 1.5], coulomb=[10.0, 12.0, 8.0, 3.0, 3.0, 2.0], offset=0.5
    )
    source = next(path for path in known.export_c(tmp_path, ['torque', 'inverse_dynamics']) if path.suffix == '.c')
    subprocess.run(
        ['cc', '-O2', '-ffp-contract=off', '-shared', '-fPIC', source, '-o', tmp_path / 'arm.so', '-lm'], check=True
    )
    exported = ctypes.CDLL(str(tmp_path / 'arm.so'))
    inputs, size = known.runtime_inputs, np.array([0.5, 0.4, 0.5, 0.6, 0.5, 0.6])

    def error(function: str) -> float:
        """Return the largest distance of a joint from a slow motion with low gains, rad."""
        feedforward = getattr(exported, f'aubo_i5_{function}')
        feedforward.restype = ctypes.c_bool
        arm, tau, worst = MujocoArm(known, PERIOD, np.zeros(6), friction_error=ERROR), np.empty(6), 0.0
        arm.brakes = False
        for k in range(round(DURATION / PERIOD)):
            t, w = PERIOD * k, 2.0
            # 1 - cos and its derivatives: the motion begins at rest
            motion = size * (1.0 - np.cos(w * t)), size * w * np.sin(w * t), size * w * w * np.cos(w * t)
            vectors = [np.ascontiguousarray(it) for it in (*motion, inputs, tau)]
            assert feedforward(*(it.ctypes.data_as(ctypes.c_void_p) for it in vectors))
            tau = vectors[-1]
            arm.torque[:] = tau + STIFFNESS * (motion[0] - arm.position) + DAMPING * (motion[1] - arm.velocity)
            arm.step()
            worst = max(worst, np.abs(motion[0] - arm.position).max())
        return worst

    with_friction, without = error('torque'), error('inverse_dynamics')
    assert without > 0.03
    assert with_friction < 0.3 * without, (with_friction, without)
