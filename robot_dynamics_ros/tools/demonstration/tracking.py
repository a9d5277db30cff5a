"""Tracking experiment of the demo: a simulated arm with low gains under three control laws, over DDS."""

from dataclasses import dataclass

import numpy as np
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.tools.demonstration.motions import Motion
from robot_dynamics_ros.tools.processes import Client, ProcessError, Processes

LAWS = {'pd': 'PD', 'pd_gravity': 'PD + gravity', 'pd_feedforward': 'PD + feedforward'}
NODES = ('simulated_arm', 'feedforward_node', 'torque_controller')
LEAD = 0.5
"""Time from the first publication of a trajectory to its start, s."""
AFTER = 0.2
"""Time recorded after a motion, s."""
STEP, PATIENCE = 0.1, 30.0
"""Time of the arm, and how long it may take on a busy machine, s."""
LONGEST_GAP = 0.5
"""Longest time between two samples of a record, and before the first one, s."""


@dataclass(frozen=True)
class Record:
    """One motion under one law: time (m,) s from its start, error (m, n) rad, torque (m, n) N m."""

    time: np.ndarray
    error: np.ndarray
    torque: np.ndarray

    @property
    def rms(self) -> np.ndarray:
        """RMS tracking error of each joint (n,) in rad."""
        return np.sqrt(np.mean(self.error**2, axis=0))

    @property
    def peak(self) -> np.ndarray:
        """Largest tracking error of each joint (n,) in rad."""
        return np.abs(self.error).max(axis=0)


class Tracking:
    """The running nodes of the demo, which play motions."""

    def __init__(self, client: Client, processes: Processes, parameters, joint_names):
        """Start the nodes with a parameter file and wait until all are active.

        ``joint_names`` are those of the motions: in joint states they come first.
        """
        self._client, self._joint_names = client, list(joint_names)
        for node in NODES:
            processes.start(node, '--params-file', str(parameters))
        for node in NODES:
            client.wait_until_active(node)
        self._samples: list = []
        self._stamp = 0
        self._trajectories = client.node.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        self._states = client.node.create_subscription(JointState, 'joint_states', self._on_state, 100)
        client.spin_until(lambda: self._stamp, 10.0, 'joint_states')
        client.spin_until(
            lambda: self._trajectories.get_subscription_count() == 2, 10.0, 'subscriptions to joint_trajectory'
        )

    def play(self, motion: Motion, law: str) -> Record:
        """Reset the arm, play ``motion`` under ``law`` and return the record."""
        self._trajectories.publish(JointTrajectory())
        # not cleaned up: a new subscription may receive its first message seconds late
        self._client.change_state('torque_controller', Transition.TRANSITION_DEACTIVATE)
        self._client.set_parameter('torque_controller', 'control_law', law)
        if not self._client.call(Trigger, 'simulated_arm/reset', Trigger.Request()).success:
            raise ProcessError('simulated_arm/reset failed; see the log of simulated_arm')
        reset = self._client.node.get_clock().now().nanoseconds
        self._client.spin_until(lambda: self._stamp > reset, 10.0, 'joint_states after the reset')
        self._client.change_state('torque_controller', Transition.TRANSITION_ACTIVATE)
        message = motion.message(self._joint_names)
        start = self._stamp + int(LEAD * 1e9)
        set_nanoseconds(message.header.stamp, start)
        self._samples = []
        # repeated until it starts, for a node that has not discovered this publisher yet
        while self._stamp < start:
            self._trajectories.publish(message)
            self._client.spin_while_waiting(lambda: self._stamp >= start, LEAD / 5)
        end = start + int((motion.times[-1] + AFTER) * 1e9)
        while self._stamp < end:
            due = min(end, self._stamp + int(STEP * 1e9))
            self._client.spin_until(lambda due=due: self._stamp >= due, PATIENCE, f'the next {STEP} s of {motion.name}')
        return self._record(motion, start)

    def _record(self, motion: Motion, start: int) -> Record:
        """Return the samples since ``start`` (ns), with errors relative to the desired motion."""
        samples = [sample for sample in self._samples if sample[0] >= start]
        time = np.array([stamp - start for stamp, _, _ in samples]) * 1e-9
        gaps = np.diff(time, prepend=0.0)
        if not len(gaps) or gaps.max() > LONGEST_GAP:
            raise ProcessError(
                f'{motion.name}: {len(gaps)} joint states with gaps up to {gaps.max(initial=0.0):.3f} s, allowed: '
                f'{LONGEST_GAP} s; the machine may be overloaded'
            )
        position = np.array([position for _, position, _ in samples])
        torque = np.array([torque for _, _, torque in samples])
        trajectory = motion.trajectory()
        desired = np.zeros((3, position.shape[1]))
        error = np.empty_like(position)
        for k, t in enumerate(time):
            trajectory.sample(t, *desired)
            error[k] = desired[0] - position[k]
        return Record(time, error, torque)

    def _on_state(self, message: JointState) -> None:
        """Record a sample, once where the time of the arm stands still."""
        stamp = nanoseconds(message.header.stamp)
        if stamp <= self._stamp:
            return
        self._stamp = stamp
        n = len(self._joint_names)
        self._samples.append((self._stamp, np.array(message.position[:n]), np.array(message.effort[:n])))
