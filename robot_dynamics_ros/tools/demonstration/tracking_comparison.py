"""Comparison of three control laws on a simulated arm: tables and plots of its tracking errors."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.formats.library import share_folder
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.demonstration.demo_arm import AUBO_I5, MOTION, DemoArm
from robot_dynamics_ros.tools.demonstration.motions import LECTURE, SWEEP, read_motion
from robot_dynamics_ros.tools.demonstration.tracking import LAWS, Tracking
from robot_dynamics_ros.tools.demonstration.tracking_motion import LARGEST_RATIO, slides
from robot_dynamics_ros.tools.figures import report
from robot_dynamics_ros.tools.processes import Client, Processes


def play_motions(output: Path, say: Callable[[str], None], arm: DemoArm | None = None) -> None:
    """Play motions of an arm (default: the AUBO-i5) under the three laws, print tables, save plots.

    ``say`` is told what is done. DynamicsError where a ratio is beyond ``LARGEST_RATIO``.
    """
    domain = os.environ.get('ROS_DOMAIN_ID', '0')
    if arm is None:
        parameters = share_folder() / 'config' / 'demo.yaml'
        robot, motions = Robot.named(AUBO_I5), {'lecture': LECTURE, 'sweep': SWEEP}
    else:
        parameters = arm.write(output)
        robot, motions = arm.robot, {'motion': read_motion(output / MOTION)[1]}
    say(f'three control laws with the same low gains on a simulated {robot.name} (ROS domain {domain})')
    records: dict = {name: {} for name in motions}
    with Processes(output) as processes, Client('demo', processes) as client:
        say('starting simulated_arm, feedforward_node, torque_controller')
        tracking = Tracking(client, processes, parameters, robot.joint_names)
        for name, motion in motions.items():
            for law, label in LAWS.items():
                say(f'{motion.name}, {motion.times[-1]:.1f} s, {label}')
                records[name][label] = tracking.play(motion, law)
    worst = 0.0
    for name, by_law in records.items():
        path, title = output / f'tracking_{name}.png', motions[name].name
        report.tracking_plot(path, title, robot.joint_names, by_law, robot.limits.effort, slides(robot))
        print(f'\n{title} (plot: {path})')
        print(report.tracking_table(robot.joint_names, by_law, slides(robot)), flush=True)
        *_, gravity, feedforward = by_law.values()
        worst = np.maximum(worst, (feedforward.rms / gravity.rms).max())
    print(f'\nlargest ratio feedforward / gravity: {worst:.3f}, allowed {LARGEST_RATIO:.3f}', flush=True)
    if not worst <= LARGEST_RATIO:  # or NaN
        raise DynamicsError(
            f'RMS error of a joint: expected PD + feedforward / PD + gravity <= {LARGEST_RATIO:.3f}, got {worst:.3f}'
        )
