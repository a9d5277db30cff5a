"""Mechanisms that pass singular positions, where their motion is not determined: nothing happens silently."""

import warnings

from support.robots.mechanisms import four_bar

import numpy as np
import pytest

from robot_dynamics_ros.simulation import simulate
from robot_dynamics_ros.simulation.singular_positions import singular_passages

FOLDING = four_bar('planar_point', (0.5, 0.2, 0.6, 0.3), (1.0, -0.2, 1.6)).robot.with_gravity((0.0, 0.0, 0.0))
"""Its shortest and longest link are together as long as the other two: all are along a line where the crank is at 0."""
START = FOLDING.close_loops([6.18, -6.04, 0.22]).q


def moved(robot, q, step: float, steps: int, speed: float = 3.0):
    """Return the motion from q with the crank at a speed, with a torque of Python and thus without compiled steps."""
    qd = robot.impact(q, np.eye(robot.nv)[0])
    return simulate(robot, q, speed * qd / qd[0], lambda t, q, qd: np.zeros(robot.nv), duration=steps * step, step=step)


def test_a_mechanism_that_folds_is_a_finding():
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        result = moved(FOLDING, START, 0.003, 20)
    assert abs(result.energy_drift).max() < 1e-5 * result.energy[0]
    (finding,) = result.findings
    assert finding.message.startswith("loop 'closing' passes a singular position at 0.033")
    # the crank is at a full turn there
    assert abs(np.interp(0.0336, result.t, result.q[:, 0]) - 2.0 * np.pi) < 1e-3
    assert not moved(FOLDING, START, 0.003, 9).findings


def test_a_loss_of_energy_where_loops_are_closed_is_a_warning():
    with pytest.warns(
        UserWarning, match=r'motion: closing the loops changed velocities by 13 % in the step to 0\.05 s'
    ):
        result = moved(FOLDING, START, 0.05, 7)
    assert result.energy_drift[-1] < -0.005 * result.energy[0]
    assert result.findings[0] in result.jump_findings
    assert result.loop_jump_time == 0.05 and 0.1 < result.loop_jump < 0.2


@pytest.mark.compiled
def test_a_mechanism_that_does_not_fold_has_no_finding():
    linkage = four_bar('planar_point').robot
    result = moved(linkage, linkage.close_loops([1.0, -0.2, 1.6]).q, 0.0125, 176)
    assert result.q[-1, 0] - result.q[0, 0] > 2.0 * np.pi
    assert not result.findings and result.loop_jump < 1e-3


def test_standing_still_is_no_jump():
    linkage = four_bar('planar_point').robot
    q = linkage.close_loops([1.0, -0.2, 1.6]).q
    held = simulate(linkage, q, np.zeros(3), lambda t, q, qd: linkage.gravity_torque(q), duration=0.05, step=0.01)
    assert held.loop_jump < 1e-6 and not held.findings


def test_a_start_at_a_singular_position_is_found():
    flat = np.array([[0.0, 0.0, 0.0], [1e-3, -1e-3, 1e-3], [2e-3, -2e-3, 2e-3], [3e-3, -3e-3, 3e-3]])
    parallelogram = four_bar('planar_point', (0.5, 0.3, 0.5, 0.3)).robot
    assert singular_passages(parallelogram, flat) == [(0.0, "loop 'closing'")]
    assert singular_passages(parallelogram, flat[::-1]) == [(3.0, "loop 'closing'")]
    assert singular_passages(parallelogram, flat[1:]) == []


@pytest.mark.compiled
def test_jumps_of_a_batch_in_compiled_steps_are_those_of_single_motions():
    qd = FOLDING.impact(START, np.eye(3)[0])
    speeds = np.array([0.5, 3.0, 3.0])[:, None] * qd / qd[0]
    with pytest.warns(UserWarning, match=r'start state \[0\]: closing the loops .*; the same in 2 other start states'):
        batch = simulate(FOLDING, np.tile(START, (3, 1)), speeds, duration=7 * 0.05, step=0.05)
    alone = moved(FOLDING, START, 0.05, 7)
    assert batch.loop_jump.shape == batch.loop_jump_time.shape == (3,)
    assert batch.loop_jump[1] == batch.loop_jump[2] == alone.loop_jump
    assert (batch.loop_jump_time[1:] == alone.loop_jump_time).all()
