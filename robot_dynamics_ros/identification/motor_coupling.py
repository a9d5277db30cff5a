"""Search for motors that turn with a neighbouring joint, too, as in wrists whose gears are behind one another.

Where such a coupling is not stated, no friction of single joints explains two torques. Each candidate, a motor and a
neighbour with the ratio 1 or -1, is judged by blocks of the log that are held out.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.iterated_fit import Pass, TorqueProblem, first_state, next_pass
from robot_dynamics_ros.identification.model_selection import simplest
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

POOR = 0.05
"""Share of the variance of both torques that is not explained where a coupling is looked for."""
PASSES = 5
"""Solutions that judge a candidate."""
LEAST_GAIN = 1.0
"""Least reduction of the sum of the logarithms of held-out squares: that of one motor falls to a third."""
EXPLAINED = 0.1
"""Largest share of the variance of the two torques that a coupling leaves: otherwise the log has other faults."""
MOST = 3
"""Couplings that are looked for, at most."""


def with_couplings_found(problem: TorqueProblem) -> tuple[TorqueProblem, list[Finding]]:
    """Return the problem of the robot with the couplings of motors that the log shows, and findings on them."""
    findings: list[Finding] = []
    best, now = _judged(problem)
    for _ in range(MOST):
        poor = problem.unexplained(now.state) > POOR
        judged = [
            (*_judged(replace(problem, robot=robot)), robot, it) for robot, *it in _candidates(problem.robot, poor)
        ]
        if not judged:
            break
        score, passed, robot, (motor, other, ratio) = min(judged, key=lambda each: each[0])
        of_both = [robot.joint_names.index(name) for name in (motor, other)]
        coupled = replace(problem, robot=robot)
        if best - score < LEAST_GAIN or (coupled.unexplained(passed.state)[of_both] > EXPLAINED).any():
            break
        problem, best, now = coupled, score, passed
        text = (
            f'its motor turns with joint {other!r}, too (ratio {ratio:g}): state it as motor_coupling of the actuators'
        )
        findings.append(Finding('warning', f'joint {motor!r}', text))
    return problem, findings


def _judged(problem: TorqueProblem) -> tuple[float, Pass]:
    """Return the sum of the logarithms of held-out squares of the motors, and the last pass of the simplest terms."""
    now = next_pass(problem, simplest(problem), first_state(problem), settled=False)
    for _ in range(PASSES - 1):
        now = next_pass(problem, simplest(problem), now.state, settled=False)
    return float(np.log(now.held_out().sum(axis=0) + np.finfo(float).tiny).sum()), now


def _candidates(robot: Robot, poor: np.ndarray) -> Iterator[tuple[Robot, str, str, float]]:
    """Yield robots with one coupling more, of motors and neighbours that are both ``poor`` (n,), and what it is."""
    names = robot.joint_names
    stated = {joint.name: dict(joint.motor_coupling) for joint in robot.model.joints}
    for k in range(len(names) - 1):
        for motor, other in ((names[k + 1], names[k]), (names[k], names[k + 1])):
            if not poor[k : k + 2].all() or other in stated[motor] or motor in stated[other]:
                continue
            for ratio in (1.0, -1.0):
                table = {**stated, motor: {**stated[motor], other: ratio}}
                yield robot.with_actuators({'motor_coupling': table}), motor, other, ratio
