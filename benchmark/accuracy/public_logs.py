"""How well does an identified robot predict logs that others have published, and how well do others?

    python -m benchmark.accuracy.public_logs FOLDER [NAME ...]

FOLDER holds the files, for instance clones of the repositories below; each is found by its name, and logs that are not
there are named. The descriptions of UR10 and Panda are those of the package example-robot-data. A model that was
published with a log, and ordinary, weighted and robust least squares, are evaluated on the same samples: the last 40 %
of the log, another motion, or the whole log where it is short. Delays are corrected as by robot_dynamics_identify.
"""

import sys
from importlib.metadata import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.identification import Log, Validation, delay_of_torques, differentiate, identify
from robot_dynamics_ros.identification.prediction import predicted_torque
from robot_dynamics_ros.model.inertial_parameters import ten_parameters

sys.path.insert(0, str(Path(__file__).parents[2] / 'test'))

from support.logs import baseline_fits

SHARE = 0.6
"""Part of a log that identifies."""
DELAY = 1e-3
"""Delay of efforts from which on it is corrected, s."""
UR10E = [  # of each link, about its origin: J (xx, xy, xz, yy, yz, zz), m c, m; UR10E_parameters.txt of the repository
    [16.0177, 0.0, 0.0, 16.0177, 0.0, 9.43727e-07, 0.0, 0.0, 0.0, 4.82736],
    [3.93252, 0.852873, 0.151907, 3.72056, -0.594538, 1.90316, 0.0499515, -0.275934, 3.26327, 7.92589],
    [2.22453, -0.536564, -0.176607, 1.38899, -0.216689, 1.38868, 0.0239479, 0.242903, 0.893879, 2.48086],
    [1.02974, 0.23281, -0.0122593, 0.0751258, 0.074354, 1.06527, -0.000582815, -0.253394, 0.191763, 2.156],
    [0.0286149, -0.0338327, -0.0256613, 0.108051, -0.0138456, 0.111089, 0.00787524, 0.0934251, 0.114659, 2.15599],
    [
        0.0283844,
        -0.00207559,
        -0.0139815,
        0.0353598,
        -0.00400838,
        0.00814486,
        0.00266612,
        -0.00108021,
        -0.0158006,
        0.22217,
    ],
]
UR10E_GAINS = np.array([10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232])
"""Torque constants, N m/A."""
UR10E_FRICTION = [  # of each joint: viscous, Coulomb, offset
    [21.256, 12.5484, 0.196128],
    [20.2209, 13.2656, -0.753542],
    [10.3777, 4.99431, 0.197915],
    [3.57505, 1.99785, 0.0548204],
    [2.4909, 2.69046, -0.0096109],
    [3.02555, 2.29785, 0.0425286],
]


class PublicLog(NamedTuple):
    """A robot as described, a log that identifies, one that judges, and torques by a published model for the latter."""

    robot: Robot
    training: Log
    judging: Log
    published: np.ndarray | None = None


def parts(log: Log, cutoff: float) -> tuple[Log, Log]:
    """Return the first part and the rest of a low-passed log."""
    smooth, count = log.low_pass(cutoff), int(SHARE * len(log))
    return smooth[:count], smooth[count:]


def found(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder; FileNotFoundError with its name."""
    for path in sorted(folder.rglob(name)):
        if path.is_file():
            return path
    raise FileNotFoundError(name)


def example(name: str) -> Path:
    """Return the path of a description of example-robot-data."""
    return next(Path(path.locate()) for path in files('example-robot-data') if path.name == name)


def ur10(folder: Path) -> PublicLog:
    """UR10, 27 s; unisa-acg/inverse-dynamics-solver, BSD-3-Clause."""
    robot = Robot.from_urdf(example('ur10_robot.urdf'))
    log = Log.from_bag(found(folder, 'ur10_exciting_trajectory.db3'), robot.joint_names, cutoff=None)
    return PublicLog(robot, *parts(log, 10.0))


def panda() -> Robot:
    """Return the Panda without its hand."""
    return Robot.from_urdf(example('panda.urdf'), tip_link='panda_link8')


def panda_salerno(folder: Path) -> PublicLog:
    """Panda, 24 s at 30 Hz; unisa-acg/inverse-dynamics-solver, BSD-3-Clause."""
    names = [f'fer_joint{k}' for k in range(1, 8)]
    log = Log.from_bag(found(folder, 'panda_exciting_trajectory.db3'), names, cutoff=None)
    training, judging = parts(log, 5.0)
    return PublicLog(panda(), training, judging, gaz(judging))


def panda_rome(folder: Path) -> PublicLog:
    """Panda, 21 s at 1 kHz; marcocognetti/FrankaEmikaPandaDynModel."""
    columns = [
        np.loadtxt(found(folder, f'exciting_traj_{name}.txt')) for name in ('time', 'positions', 'velocity', 'torques')
    ]
    t, q, qd, tau = columns[0], *(column.reshape(-1, 7) for column in columns[1:])
    training, judging = parts(Log(t, q, qd, differentiate(t, qd), tau), 10.0)
    return PublicLog(panda(), training, judging, gaz(judging))


def gaz(log: Log) -> np.ndarray:
    """Return torques by the parameters of Gaz et al. 2019 (RA-L 4, 4147), with their sigmoid of friction."""
    mass = [4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522]
    com = [
        *([3.875e-3, 2.081e-3, -0.1750], [-3.141e-3, -2.872e-2, 3.495e-3], [2.7518e-2, 3.9252e-2, -6.6502e-2]),
        *([-5.317e-2, 0.104419, 2.7454e-2], [-1.1953e-2, 4.1065e-2, -3.8437e-2], [6.0149e-2, -1.4117e-2, -1.0517e-2]),
        [1.0517e-2, -4.252e-3, 6.1597e-2],
    ]
    inertia = np.array(  # about the centre of mass: xx, yy, zz, xy, xz, yz
        [
            [0.70337, 0.70661, 9.117e-3, -1.39e-4, 6.772e-3, 1.9169e-2],
            [7.962e-3, 2.811e-2, 2.5995e-2, -3.925e-3, 1.0254e-2, 7.04e-4],
            [3.7242e-2, 3.6155e-2, 1.083e-2, -4.761e-3, -1.1396e-2, -1.2805e-2],
            [2.5853e-2, 1.9552e-2, 2.8323e-2, 7.796e-3, -1.332e-3, 8.641e-3],
            [3.5549e-2, 2.9474e-2, 8.627e-3, -2.117e-3, -4.037e-3, 2.29e-4],
            [1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, -1.158e-3, 3.41e-4],
            [1.2516e-2, 1.0027e-2, 4.815e-3, -4.28e-4, -1.196e-3, -7.41e-4],
        ]
    )[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    rows = [ten_parameters(*each) for each in zip(mass, com, inertia, strict=True)]
    height = np.array([0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489])
    slope = np.array([5.1181, 9.0657, 10.136, 5.5903, 8.3469, 17.133, 10.336])
    shift = np.array([0.039533, 0.025882, -0.04607, 0.036194, 0.026226, -0.021047, 0.0035526])
    friction = height / (1.0 + np.exp(-slope * (log.qd + shift))) - height / (1.0 + np.exp(-slope * shift))
    return panda().with_inertial_parameters(rows).inverse_dynamics(log.q, log.qd, log.qdd) + friction


def ur10e_log(folder: Path, name: str, rows: slice) -> Log:
    """Return a log of the UR10e, with the currents times the gains that they have found by a known payload."""
    table = np.loadtxt(found(folder, name), delimiter=',', max_rows=rows.stop)[rows.start :]
    t, q, qd, current = table[:, 0] - table[0, 0], table[:, 1:7], table[:, 7:13], table[:, 13:19]
    return Log(t, q, qd, differentiate(t, qd), UR10E_GAINS * current).low_pass(10.0)


def ur10e(folder: Path) -> PublicLog:
    """UR10e, 29 s, judged by another motion, point to point; shamilmamedov/dynamic_calibration."""
    robot = Robot.from_urdf(found(folder, 'ur10e.urdf'))
    training = ur10e_log(folder, 'ur-20_02_10-30sec_12harm.csv', slice(634, 3510))  # the rows that they use
    judging = ur10e_log(folder, 'ur-20_01_17-ptp_10_points.csv', slice(699, 4200))
    published = np.array(UR10E)[:, [9, 6, 7, 8, 0, 1, 2, 3, 4, 5]]
    theirs = robot.with_inertial_parameters(published).with_rotor_inertia([0.0, 3.7434, 0.0, 0.0708, 0.2342, 0.4365])
    viscous, coulomb, offset = np.array(UR10E_FRICTION).T.copy()
    theirs = theirs.with_friction(viscous=viscous, coulomb=coulomb, offset=offset, transition=1e-3)
    return PublicLog(robot, training, judging, predicted_torque(theirs, judging)[1])


def tx40(folder: Path) -> PublicLog:
    """TX40, 9 s at 5 kHz, all of which identifies both models; thanhndv212/figaroh-examples, Apache-2.0.

    Its motor 6 turns with q5 + q6. The effort of a motor is a torque.
    """
    robot = Robot.from_urdf(found(folder, 'tx40_mdh_modified.urdf'))
    ratio = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    ratio[5, 4] = 32.0
    motor, effort = (
        np.loadtxt(found(folder, f'{name}.csv'), delimiter=',', skiprows=1) for name in ('pos_read_data', 'curr_data')
    )
    t = 2e-4 * np.arange(len(motor))
    q = motor @ np.linalg.inv(ratio).T + [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]
    qd = differentiate(t, q)
    log = Log(t, q, qd, differentiate(t, qd), effort @ ratio).low_pass(20.0)[::20]
    theirs = robot.with_rotor_inertia([0.362, 0.362, 0.0988, 0.0313, 0.0468, 0.0105]).with_friction(
        viscous=[8.05, 5.53, 1.97, 1.11, 1.86, 0.65],
        coulomb=[7.14, 8.26, 6.34, 2.48, 3.03, 0.282],
        offset=[0.392, 1.37, 0.326, -0.102, -0.0288, 0.127],
    )
    published = predicted_torque(theirs, log)[1] + tx40_coupling(log) @ [0.00964, 0.616, 1.95]
    return PublicLog(robot, log, log, published)


def tx40_coupling(log: Log) -> np.ndarray:
    """Return what rotor inertia, viscous and Coulomb friction of motor 6 add to joints 5 and 6 beside its own joint."""
    columns = np.zeros((*log.tau.shape, 3))
    columns[:, 4] = np.column_stack([log.qdd[:, 5], log.qd[:, 5], np.tanh((log.qd[:, 4] + log.qd[:, 5]) / 0.02)])
    columns[:, 5] = np.column_stack([log.qdd[:, 4], log.qd[:, 4], columns[:, 4, 2]])
    return columns


def tiago(folder: Path) -> PublicLog:
    """TIAGo, lift and arm, 59 s at 100 Hz; thanhndv212/figaroh-examples, Apache-2.0.

    Efforts are motor currents; those of the lift and of the last three joints have no right unit.
    """
    names = ['torso_lift_joint', *(f'arm_{k}_joint' for k in range(1, 8))]
    robot = Robot.from_urdf(found(folder, 'tiago_48_schunk.urdf'), tip_link='arm_tool_link')
    robot = robot.with_locked_joints({name: 0.0 for name in robot.joint_names if name not in names})
    columns = (np.loadtxt(found(folder, f'tiago_{name}.csv'), delimiter=',', skiprows=1) for name in TIAGO_COLUMNS)
    q, qd, effort = (column[921:6791] for column in columns)  # the rows that they use
    new = np.concatenate([[True], np.diff(q[:, 0]) > 0.0])
    t, q, qd, effort = q[new, 0] - q[0, 0], *(column[new, 1:] for column in (q, qd, effort))
    constants = [1.0, 13.6, 13.6, -8.7, -8.7, -20.5968, -20.5968, -20.5968]  # N m/A
    return PublicLog(robot, *parts(Log(t, q, qd, differentiate(t, qd), effort * constants), 5.0))


TIAGO_COLUMNS = 'position', 'velocity', 'effort'
LOGS = {
    'UR10': ur10,
    'Panda, Salerno': panda_salerno,
    'Panda, Rome': panda_rome,
    'UR10e': ur10e,
    'TX40': tx40,
    'TIAGo': tiago,
}


def identified(log: PublicLog) -> tuple[Robot, PublicLog]:
    """Return the identified robot, and the logs without a delay."""
    delay = delay_of_torques(log.robot, log.training)
    if abs(delay) >= DELAY and log.published is None:
        print(f'  efforts are {1e3 * delay:.1f} ms late')
        log = log._replace(training=log.training.without_delay(delay), judging=log.judging.without_delay(delay))
    result = identify(log.robot, log.training)
    for finding in result.findings:
        print(f'  {finding}')
    return result.robot, log


def main() -> None:
    """Print R2 and RMS of each joint where it moves: of the description, of other models, and of the identified one."""
    folder, absent = Path(sys.argv[1]), []
    for name in sys.argv[2:] or LOGS:
        try:
            log = LOGS[name](folder)
        except (FileNotFoundError, StopIteration) as error:
            absent.append(f'{name}: {LOGS[name].__doc__.splitlines()[0]} Missing: {error}')
            continue
        counts = f'{len(log.training)} samples identify, {len(log.judging)} judge'
        print(f'{name}: {LOGS[name].__doc__.splitlines()[0]} {counts}', flush=True)
        robot, log = identified(log)
        judging = log.judging
        torques = {
            'described': predicted_torque(log.robot, judging)[1],
            'published': log.published,
            **baseline_fits.predictions(log.robot, log.training, judging),
            'identified': predicted_torque(robot, judging)[1],
        }
        measured, moving = judging.torque(log.robot), np.abs(judging.qd) > SPEED
        judged = {what: Validation(judging.t, measured, it, moving) for what, it in torques.items() if it is not None}
        for what, it in judged.items():
            print(f'  {what:11}' + ''.join(f'{value:9.4f}' for value in it.r2))
            print(f'  {"RMS, N m":11}' + ''.join(f'{value:9.3f}' for value in it.rms), flush=True)
        best = np.max([it.r2 for what, it in judged.items() if what not in ('described', 'identified')], axis=0)
        print(f'  {"to the best":11}' + ''.join(f'{value:+9.4f}' for value in judged['identified'].r2 - best))
    for line in absent:
        print(f'not at hand: {line}')


if __name__ == '__main__':
    main()
