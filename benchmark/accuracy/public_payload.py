"""Do deviations of a payload hold where torque constants are not exact? A UR10e carries 2.805 kg.

    python -m benchmark.accuracy.public_payload FOLDER

FOLDER has a clone of shamilmamedov/dynamic_calibration. Each log without payload identifies the arm, and the payload of
the logs with it is found with relative deviations of the torque constants of 0, 3 % and 10 %. The mass is the one that
they state (estimate_drive_gains.m).
"""

import itertools
import sys
from pathlib import Path

import numpy as np

from benchmark.accuracy.public_logs import found, ur10e_log
from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import identify, identify_payload

MASS = 2.805
"""kg."""
WITHOUT = {'ur-20_02_19_14harm50sec.csv': slice(194, 4966), 'ur-20_02_10-30sec_12harm.csv': slice(634, 3510)}
WITH = {'ur-20_02_19_14harm50secLoad.csv': slice(307, 5071), 'ur-20_02_19_15harm50secLoad.csv': slice(307, 5000)}
"""Rows of the logs; of the last one those in which the arm moves."""


def main() -> None:
    """Print mass and deviation for each pair of logs, and the errors in deviations."""
    folder = Path(sys.argv[1])
    described = Robot.from_urdf(found(folder, 'ur10e.urdf'))
    arms = {name: identify(described, ur10e_log(folder, name, rows)).robot for name, rows in WITHOUT.items()}
    loaded = {name: ur10e_log(folder, name, rows) for name, rows in WITH.items()}
    for deviation in (0.0, 0.03, 0.1):
        print(f'torque constants known to {100 * deviation:g} %')
        for (of_arm, arm), (name, log) in itertools.product(arms.items(), loaded.items()):
            result = identify_payload(arm, log, deviation)
            mass, its = result.payload.mass, result.standard_deviation[0]
            scales = ' '.join(f'{scale:.3f}' for scale in result.effort_scale)
            rms = float(np.sqrt((result.rms**2).mean()))
            print(
                f'  {of_arm}, {name}: {mass:.2f} +- {its:.2f} kg, {abs(mass - MASS) / its:.1f} deviations off; '
                f'scales {scales}; RMS {rms:.3f} N m'
            )


if __name__ == '__main__':
    main()
