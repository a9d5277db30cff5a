"""Replay a measured motion through feedforward_node and compare its torques with the measured ones."""

import argparse
import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.measured_effort import MEANINGS
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_message
from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.export_c import add_robot_options, robot_of
from robot_dynamics_ros.tools.needed_packages import check_packages
from robot_dynamics_ros.tools.processes import Client, ProcessError, Processes

if TYPE_CHECKING:
    from robot_dynamics_ros.identification.log import Log

COMMAND = 'robot_dynamics_replay'
PACKAGES = ('matplotlib', 'rosbags', 'scipy')
TOPIC = '/joint_states'
CUTOFF = 5.0
"""Cut-off frequency for the motion of a bag, Hz."""
AGE_LIMIT = 10.0
"""Parameter of ``feedforward_node`` beyond the log's duration, s: states come faster than the log's, their stamps are
ahead of the clock."""
WINDOW = 4
"""States sent ahead of their torques: fewer than the node's input queue has places, so that none is dropped."""
TORQUE_TIMEOUT = 5.0
"""Time after which a state without a torque counts as lost, s."""


def main(arguments=None) -> None:
    """Print the comparison and save a plot; on an error exit with 1 and the reason."""
    options = parser().parse_args(arguments)
    try:
        check_packages(PACKAGES)
        robot = robot_of(options)
        # read first, so that a wrong log ends the command before a node starts
        log = read_log(options.log, robot, options.topic, options.effort)
        print_findings(robot, log)
        options.output.mkdir(parents=True, exist_ok=True)
        replay(log, options.log.name, robot.joint_names, node_parameters(options), options.output)
    except (DynamicsError, OSError) as error:
        sys.exit(f'{COMMAND}: {error}')
    except (KeyboardInterrupt, ExternalShutdownException):
        sys.exit(f'{COMMAND}: interrupted')


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    add_robot_options(parser)
    parser.add_argument('log', type=Path, help='CSV file with motor currents, or rosbag2 with joint states')
    parser.add_argument('--topic', default=TOPIC, help='topic of the joint states in a bag (default: %(default)s)')
    parser.add_argument(
        '--effort',
        choices=MEANINGS,
        help='meaning of effort in a bag, compared with gravity at rest (default: torque, not compared)',
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('replay_output'),
        help="folder of the plot and the node's log (default: %(default)s)",
    )
    return parser


def read_log(path: Path, robot: Robot, topic: str = TOPIC, effort: str | None = None) -> 'Log':
    """Return the log of a CSV file or a bag with joint torques as measured; the motion of a bag is low-passed.

    Times of a bag begin with 0, where the low-pass is accurate. A stated ``effort`` of a bag is compared with gravity
    where the arm stands still, which is printed.
    """
    from robot_dynamics_ros.identification import Log  # noqa: PLC0415  (needs SciPy)

    if path.suffix != '.csv':
        topic = '/' + topic.removeprefix('/')  # as a bag names it
        measured = Log.from_bag(path, robot.joint_names, topic, effort or 'torque', cutoff=None)
        if effort:
            print(f'effort at rest: {measured.effort_at_rest(robot).sentence}', flush=True)
        log = measured.low_pass(CUTOFF)
        torque = measured.torque(robot)[np.isin(measured.t, log.t)]
        return replace(log, t=log.t - log.t[0], tau=torque, effort='torque')
    log = Log.from_csv(path, robot)
    if effort:
        raise ArgumentError('--effort: a CSV file has motor currents; it is for a bag, whose efforts it explains')
    try:
        return replace(log, tau=log.torque(robot), effort='torque')
    except ModelError as error:
        raise DynamicsError(f'{path}: motor currents: {error}') from None


def print_findings(robot: Robot, log: 'Log') -> None:
    """Print what is implausible about a log: what follows then compares what cannot be compared."""
    from robot_dynamics_ros.identification import check_log  # noqa: PLC0415  (needs SciPy)

    for it in check_log(robot, log):
        print(it, flush=True)


def node_parameters(options) -> dict:
    """Return the parameters of ``feedforward_node`` for the robot that the options describe."""
    given = {
        'model': options.robot,
        'actuators': options.actuators and str(options.actuators),
        'base_link': options.base_link,
        'tip_link': options.tip_link,
        'gravity': options.gravity,
    }
    return {name: value for name, value in given.items() if value is not None}


def replay(log: 'Log', title: str, joint_names, parameters: dict, output: Path) -> None:
    """Play a log through a ``feedforward_node`` with ``parameters``, print the table, save the plot in ``output``.

    Topics are in a namespace of this process: no other node receives the states of the log. DynamicsError if a sample
    has no torque.
    """
    from robot_dynamics_ros.tools import report  # noqa: PLC0415  (needs matplotlib)

    print(f'{title}: {len(log.t)} samples through feedforward_node', flush=True)
    namespace = ('-r', f'__ns:=/replay_{os.getpid()}')
    values = {**parameters, 'age_limit': AGE_LIMIT + float(log.t[-1])}
    words = [word for name in values for word in ('-p', f'{name}:={json.dumps(values[name], ensure_ascii=False)}')]
    with Processes(output) as processes, Client('replay', processes, ['--ros-args', *namespace]) as client:
        processes.start('feedforward_node', *namespace, *words)
        client.wait_until_active('feedforward_node')
        comparison = Player(client, joint_names).play(log)
    path = output / 'log.png'
    report.comparison_plot(path, f'{title}: torque of feedforward_node and measured torque', joint_names, comparison)
    print(f'\n{title} (plot: {path})')
    print(report.comparison_table(joint_names, comparison))
    print(f'{len(log.t)} samples sent, {len(comparison.time)} answered, {comparison.lost} lost', flush=True)
    if comparison.lost:
        raise DynamicsError(f'feedforward_node published no torque for {comparison.lost} of {len(log.t)} samples')


@dataclass(frozen=True)
class Comparison:
    """Published and measured torques, (m, n) N m each, at time (m,) s; ``lost`` counts states without a torque."""

    time: np.ndarray
    published: np.ndarray
    measured: np.ndarray
    lost: int

    @property
    def rms(self) -> np.ndarray:
        """RMS difference of each joint (n,) in N m."""
        return np.sqrt(np.mean((self.published - self.measured) ** 2, axis=0))

    @property
    def r2(self) -> np.ndarray:
        """Coefficient of determination of each joint (n,)."""
        spread = np.mean((self.measured - self.measured.mean(axis=0)) ** 2, axis=0)
        return 1.0 - self.rms**2 / spread


class Player:
    """Publishes the states of a log to ``feedforward_node`` and records its torques by stamp."""

    def __init__(self, client: Client, joint_names):
        """Connect to the topics of the running node."""
        self._client, node = client, client.node
        self._state = JointState(name=list(joint_names))
        self._torque_at: dict[int, np.ndarray] = {}
        self._torques = node.create_subscription(JointState, 'feedforward_torque', self._on_torque, 10 * WINDOW)
        self._states = node.create_publisher(JointState, 'joint_states', 10 * WINDOW)
        self._trajectories = node.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        for publisher in (self._states, self._trajectories):
            client.spin_until(lambda p=publisher: p.get_subscription_count(), 10.0, 'subscriptions of feedforward_node')
        client.spin_until(lambda: node.count_publishers('feedforward_torque'), 10.0, 'publisher of feedforward_node')

    def play(self, log: 'Log') -> Comparison:
        """Publish the log as a trajectory and its states one by one, as fast as the torques arrive."""
        start = self._client.node.get_clock().now().nanoseconds
        stamps = [start + round(t * 1e9) for t in log.t]
        trajectory = trajectory_message(self._state.name, log.t, log.q, log.qd, log.qdd)
        set_nanoseconds(trajectory.header.stamp, start)
        self._trajectories.publish(trajectory)
        self._send_first(stamps[0], log.q[0], log.qd[0])
        lost = 0
        for k in range(1, len(stamps)):
            self._send(stamps[k], log.q[k], log.qd[k])
            if k >= WINDOW:
                lost += not self._receive(stamps[k - WINDOW + 1])
        lost += sum(not self._receive(stamp) for stamp in stamps[-WINDOW + 1 :])
        known = [k for k, stamp in enumerate(stamps) if stamp in self._torque_at]
        published = np.array([self._torque_at[stamps[k]] for k in known])
        return Comparison(log.t[known], published, log.tau[known], lost)

    def _send_first(self, stamp: int, q, qd) -> None:
        """Repeat the first state until it has a torque: it may arrive before the trajectory, on another topic."""
        for _ in range(100):
            self._send(stamp, q, qd)
            if self._receive(stamp, 0.1):
                return
        raise ProcessError('feedforward_node publishes no torque for the first state of the log; see its log')

    def _send(self, stamp: int, q, qd) -> None:
        """Publish one state."""
        set_nanoseconds(self._state.header.stamp, stamp)
        self._state.position, self._state.velocity = q.tolist(), qd.tolist()
        self._states.publish(self._state)

    def _receive(self, stamp: int, timeout: float = TORQUE_TIMEOUT) -> bool:
        """Return whether the torque for the state of ``stamp`` (ns) arrives within ``timeout`` s."""
        return self._client.spin_while_waiting(lambda: stamp in self._torque_at, timeout)

    def _on_torque(self, message: JointState) -> None:
        """Record a torque."""
        self._torque_at[nanoseconds(message.header.stamp)] = np.array(message.effort)


if __name__ == '__main__':
    main()
