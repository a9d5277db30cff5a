"""A simulated AUBO-i5 tracks a motion without and with feedforward torques, side by side, as an animated GIF.

Both arms have the same low gains; their masses are 10 % and their friction is 20 % off the model, as in the demo.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.simulation import simulate

RATE = 15  # pictures a second
STEP = 4e-3  # s, of the simulation
TIMES = (0.0, 1.5, 3.0)  # s
POSITIONS = np.radians([(0, -45, 0, 0, 0, 0), (80, 20, -70, 60, -60, 80), (0, -45, 0, 0, 0, 0)])
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0])  # N m/rad, as in config/demo.yaml
DAMPING = np.array([30.0, 40.0, 30.0, 4.0, 4.0, 4.0])  # N m s/rad
DESIRED, COLOURS = '#9a9a9a', ('#d62728', '#1f77b4')


class Record(NamedTuple):
    """One arm at the pictures' times."""

    label: str
    colour: str
    origins: np.ndarray  # (m, links, 3) m, of the frames of its links
    error: np.ndarray  # (m,) degrees, largest of the joints


def main() -> None:
    """Write the file that is named."""
    parser = argparse.ArgumentParser(prog='scripts/animation', description=__doc__.splitlines()[0])
    parser.add_argument('file', type=Path, help='animated GIF to write, for instance doc/tracking.gif')
    t, desired, records = tracked()
    draw(parser.parse_args().file, t, desired, records)
    for it in records:
        print(f'{it.label}: largest error {it.error.max():.1f} degrees')


def tracked() -> tuple[np.ndarray, np.ndarray, list[Record]]:
    """Return the pictures' times (m,), the desired origins of the links (m, links, 3), and both arms."""
    robot = Robot.named('aubo_i5')
    friction = robot.friction
    plant = robot.with_inertial_parameters(1.1 * robot.inertial_parameters)
    plant = plant.with_friction(viscous=1.2 * friction.viscous, coulomb=1.2 * friction.coulomb)
    trajectory = Trajectory(TIMES, POSITIONS, np.zeros((3, 6)), np.zeros((3, 6)))
    q_d, qd_d, qdd_d = np.zeros((3, robot.nv))
    desired_at = trajectory.sampler(q_d, qd_d, qdd_d)

    def with_gravity(t, q, qd):
        desired_at(t)
        return STIFFNESS * (q_d - q) + DAMPING * (qd_d - qd) + robot.gravity_torque(q)

    def with_feedforward(t, q, qd):
        desired_at(t)
        return STIFFNESS * (q_d - q) + DAMPING * (qd_d - qd) + robot.torque(q_d, qd_d, qdd_d)

    every = round(1.0 / (RATE * STEP))
    duration = round(TIMES[-1] / (every * STEP)) * every * STEP
    records = []
    for label, law, colour in zip(
        ('PD + gravity', 'PD + feedforward'), (with_gravity, with_feedforward), COLOURS, strict=True
    ):
        motion = simulate(
            plant, POSITIONS[0], np.zeros(6), torque=law, duration=duration, step=STEP, every=every, friction=True
        )
        wanted = np.array([desired_at(t) or q_d.copy() for t in motion.t])
        error = np.degrees(np.abs(motion.q - wanted).max(axis=1))
        records.append(Record(label, colour, origins(robot, motion.q), error))
    return motion.t, origins(robot, wanted), records


def origins(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return the origins (m, links, 3; m) of the links' frames at positions q (m, nq)."""
    return np.stack([robot.link_pose(q, name)[..., :3, 3] for name in robot.link_names], axis=-2)


def draw(path: Path, t: np.ndarray, desired: np.ndarray, records: list[Record]) -> None:
    """Write the animation: both arms above, the largest error of their joints below."""
    with matplotlib.rc_context({'font.size': 10, 'axes.spines.top': False, 'axes.spines.right': False}):
        figure = Figure(figsize=(8.0, 4.6), dpi=90)
        scenes = [figure.add_axes((0.5 * k, 0.26, 0.5, 0.7), projection='3d') for k in range(2)]
        arms = [scene_of(axes, it, desired) for axes, it in zip(scenes, records, strict=True)]
        curves = curves_of(figure.add_axes((0.08, 0.11, 0.89, 0.2)), t, records)

        def show(k: int) -> None:
            for (wanted, arm), curve, it in zip(arms, curves, records, strict=True):
                wanted.set_data_3d(*desired[k].T)
                arm.set_data_3d(*it.origins[k].T)
                curve.set_data(t[: k + 1], it.error[: k + 1])

        animation = FuncAnimation(figure, show, frames=len(t) - 1, blit=False)  # the last picture is the first one
        animation.save(path, writer=PillowWriter(fps=RATE))


def scene_of(axes: Axes3D, record: Record, desired: np.ndarray) -> tuple:
    """Prepare the scene of an arm; return the lines of the desired and the simulated one."""
    low, high = desired.min(axis=(0, 1)), desired.max(axis=(0, 1))
    for limit, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), 0.5 * (low + high), strict=True):
        limit(*(middle + 0.5 * (high - low).max() * np.array([-1.0, 1.0])))
    axes.set_box_aspect((1, 1, 1), zoom=1.4)
    axes.view_init(elev=18, azim=-60)
    axes.set_axis_off()
    axes.text2D(0.56, 0.2, record.label, color=record.colour, size='large', transform=axes.transAxes)
    axes.text2D(0.56, 0.11, 'grey: desired', color=DESIRED, transform=axes.transAxes)
    line = {'solid_capstyle': 'round', 'solid_joinstyle': 'round'}
    (wanted,) = axes.plot([], [], [], color=DESIRED, linewidth=9, alpha=0.5, **line)
    (arm,) = axes.plot([], [], [], color=record.colour, linewidth=4, marker='o', markersize=6, **line)
    return wanted, arm


def curves_of(axes: Axes, t: np.ndarray, records: list[Record]) -> list:
    """Prepare the curves of the largest error of the joints; return them."""
    axes.set(xlim=(0.0, t[-1]), ylim=(0.0, 1.1 * max(it.error.max() for it in records)))
    axes.set(xlabel='time, s', ylabel='error, degrees')
    return [axes.plot([], [], color=it.colour, linewidth=2)[0] for it in records]


if __name__ == '__main__':
    main()
