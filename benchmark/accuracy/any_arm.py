"""How well does any arm track with gains and a motion that nobody tuned: PD + feedforward against PD + gravity alone?

    python -m benchmark.accuracy.any_arm ARM.urdf ...

simulates the demo of each description in one process, without ROS (``demo.launch.py model:=ARM.urdf`` is the same with
nodes). Launch arguments may follow a path after '@': ``robot.urdf@tip_link:=tool0``.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'test'))

from support.control.tracking_experiment import tracked

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.tools.demonstration.completed_arm import DESCRIPTION, RATE, description_of
from robot_dynamics_ros.tools.demonstration.demo_arm import DemoArm, demo_arm
from robot_dynamics_ros.tools.demonstration.tracking_motion import LARGEST_RATIO, slides


def errors(arm: DemoArm) -> tuple[np.ndarray, np.ndarray]:
    """Return RMS tracking errors (n,) in rad or m under PD + gravity, and under PD + feedforward."""
    trajectory = arm.motion.trajectory()
    gravity, feedforward = (
        tracked(arm.robot, law, arm.gains, trajectory, arm.effort_limit, RATE).rms
        for law in ('pd_gravity', 'pd_feedforward')
    )
    return gravity, feedforward


def line(arguments: str) -> tuple[str, bool]:
    """Return a line of the table, and whether the arm is refused or tracks as it should."""
    path, _, rest = arguments.partition('@')
    name = Path(path).stem
    given = dict.fromkeys(DESCRIPTION, '') | dict(word.split(':=', 1) for word in rest.split())
    began = time.monotonic()
    try:
        arm = demo_arm(path, **description_of(given))
        gravity, feedforward = errors(arm)
    except DynamicsError as error:
        return f'{name:24} refused: {error}', True
    scale = np.where(slides(arm.robot), 1000.0, np.degrees(1.0))  # mm, degrees
    ratio = feedforward / gravity
    return (
        f'{name:24} {arm.robot.nv:3} {arm.motion.times[1]:7.2f} {arm.gains.bandwidth.min():7.1f}'
        f' {(gravity * scale).max():8.3f} {(feedforward * scale).max():8.3f} {ratio.max():7.3f} {arm.motion.ratio:9.3f}'
        f' {time.monotonic() - began:6.1f}'
    ), bool(ratio.max() <= LARGEST_RATIO)  # False for NaN


def main() -> None:
    """Print the table; exit with 1 if an arm tracks worse than a third."""
    print(
        f'{"arm":24} {"n":>3} {"T, s":>7} {"w, 1/s":>7} {"gravity":>8} {"feedfwd":>8} {"ratio":>7} {"predicted":>9}'
        f' {"took":>6}'
    )
    good = True
    for arguments in sys.argv[1:]:
        text, holds = line(arguments)
        print(text if holds else f'{text}  above {LARGEST_RATIO:.3f}', flush=True)
        good &= holds
    sys.exit(not good)


if __name__ == '__main__':
    main()
