"""How far an arm may be from its desired motion, by NumPy, and who is named."""

from support.robots.small_robots import mixed

import numpy as np

from robot_dynamics_ros.control.trajectories.motion_tolerance import MotionTolerance

ROBOT = mixed()  # the first joint turns without end
POSITION, VELOCITY = np.array([0.3, 0.2, np.inf]), np.array([np.inf, 0.5, 0.7])


def test_the_first_joint_beyond_a_tolerance_is_named_with_its_error():
    rng, desired = np.random.default_rng(3), np.zeros((3, 3))
    tolerance = MotionTolerance('path', ROBOT, desired, POSITION, VELOCITY)
    faults = 0
    for _ in range(300):
        desired[:] = rng.uniform(-4.0, 4.0, (3, 3))
        error, of_velocity = rng.uniform(-0.5, 0.5, 3) * rng.choice([0.0, 0.5, 2.0], 3), rng.uniform(-1.0, 1.0, 3)
        turns = np.array([2.0 * np.pi * rng.integers(-3, 4), 0.0, 0.0])
        fault = tolerance.fault(desired[0] - error + turns, desired[1] - of_velocity)
        np.testing.assert_allclose(tolerance.error, [error, of_velocity], atol=1e-12)
        beyond = np.abs([error, of_velocity]) > [POSITION, VELOCITY]
        faults += bool(fault)
        assert bool(fault) == beyond.any()
        if fault:
            row, k = np.argwhere(beyond)[0]
            what, unit = (('position', 'rad or m'), ('velocity', 'rad/s or m/s'))[row]
            size = abs([error, of_velocity][row][k])
            allowed = [POSITION, VELOCITY][row][k]
            name = ROBOT.joint_names[k]
            assert fault == (
                f'path: joint {name!r} is {size:.4g} {unit} from its desired {what}, and {allowed:g} are allowed'
            )
    assert 50 < faults < 250
