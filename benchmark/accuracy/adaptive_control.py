"""How closely does the adaptive law follow with an unknown payload, and what does it take a message?

    python -m benchmark.accuracy.adaptive_control            # in one process, on two plants; time a message
    python -m benchmark.accuracy.adaptive_control --nodes    # torque_controller and simulated_arm as nodes, over DDS

The arm carries 3 kg that the law is not told of, its friction is 20 % less than that of the model, and measured
positions and velocities have noise (in one process). The motion is that of a measured log of an AUBO-i5, 20 s; without
the log it is one of ``test/support/control/adaptive_arm.py``. The fixed law is the same one, with the same gains,
without adaptation.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml

from benchmark.measure import heading

sys.path.insert(0, str(Path(__file__).parents[2] / 'test'))

from support.control.adaptive_arm import (
    FRICTION,
    GAINS,
    LOG,
    NOISE,
    PAYLOAD,
    RATE,
    ROBOT,
    SETTINGS,
    AdaptiveArm,
    drawn_motion,
    logged_motion,
    rms,
)

from robot_dynamics_ros.control.laws.adaptation import Adaptation
from robot_dynamics_ros.control.laws.adaptive import AdaptiveControl
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.model.pseudo_inertia import violation
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm

DURATION, LAST, EASE = 20.0, 5.0, 2.0
"""Of the motion, of its part that is judged, and of the way in and out of it, s."""
MRAD = 1e3
LARGEST, SHARE, OF_NODES, MASS = 1.0, 1.0 / 40.0, 2.0, 0.05
"""Largest RMS error in mrad; of that of the fixed law; as nodes in mrad; largest error of the mass in kg."""
CALLS = 20_000


class Mujoco(MujocoArm):
    """MuJoCo's arm, with a step of the plant of the tests."""

    def __init__(self, motion):
        start, velocity, _ = motion(0.0)
        super().__init__(ROBOT.with_payload(PAYLOAD), 1e-3, start, friction_error=FRICTION - 1.0)
        self.brakes = False
        self._data.qvel[self._v] = velocity

    def step(self, duration):
        """Simulate ``duration`` s."""
        super().step(round(duration / self.period))


def simulated(name: str, motion, plant) -> bool:
    """Print what the law reaches on ``plant()``; return whether it is as good as it should be."""
    arms = [AdaptiveArm(motion, plant(), SETTINGS._replace(dead_zone=zone)) for zone in (1e9, SETTINGS.dead_zone)]
    wrong = []

    def check():
        wrong.append(violation(arms[1].adaptation.estimate.parameters) is not None)

    judged = -round(LAST * RATE)
    fixed, found = arms[0].run(DURATION)[judged:], arms[1].run(DURATION, check)[judged:]
    mean = arms[1].adaptation.estimate.mean[0] - ROBOT.inertial_parameters[-10]
    error, ratio = MRAD * rms(found), rms(fixed) / rms(found)
    joints = ' '.join(f'{MRAD * value:.2f}' for value in np.sqrt(np.mean(found**2, axis=0)))
    print(f'{name}: RMS of the last {LAST:g} s {error:.2f} mrad (at most {LARGEST:g}), joints {joints}')
    print(f'  the fixed law {MRAD * rms(fixed):.1f} mrad, {ratio:.0f} times as much (at least {1.0 / SHARE:.0f})')
    print(f'  payload {arms[1].payload[0]:.3f} kg, mean {mean:.3f} kg, of {PAYLOAD.mass:g} kg (within {MASS:g})')
    print(f'  the estimate is no body at {sum(wrong)} of {len(wrong)} steps (at most 0)')
    return error <= LARGEST and ratio >= 1.0 / SHARE and abs(mean - PAYLOAD.mass) <= MASS and not any(wrong)


def time_a_message() -> None:
    """Print what a state takes under computed torque and under the adaptive law, interleaved."""
    limit = np.full(6, np.inf)
    adaptation = Adaptation(ROBOT, GAINS.stiffness, GAINS.damping, SETTINGS, limit)
    adaptive = AdaptiveControl(ROBOT, GAINS.damping, adaptation)
    computed = JointSpaceControl(ROBOT, 'computed_torque', GAINS.stiffness, GAINS.damping, 10.0)
    q, qd, *desired = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 6))
    out, zeros = np.zeros(6), np.zeros(6)

    # no error leaves the estimate within its bounds; a large one makes each step end at them
    large = np.full(6, 100.0)

    def step(error):
        adaptive.torque(q, qd, desired, zeros, out)
        adaptation.estimate.step(adaptive.regressor, error, 1.0 / RATE)
        adaptation._adapt_friction(adaptive.columns, error, 1.0 / RATE)

    calls = {
        'computed torque': lambda: computed.torque(q, qd, desired, zeros, out),
        'adaptive, torque': lambda: adaptive.torque(q, qd, desired, zeros, out),
        'adaptive, with its adaptation': lambda: step(zeros),
        'adaptive, at its bounds': lambda: step(large),
    }
    best = dict.fromkeys(calls, np.inf)
    for _ in range(10):
        for name, call in calls.items():
            began = time.perf_counter()
            for _ in range(CALLS // 10):
                call()
            best[name] = min(best[name], (time.perf_counter() - began) / (CALLS // 10))
    print('a state, best of ten rounds: ' + ', '.join(f'{name} {1e6 * value:.1f} us' for name, value in best.items()))


def eased(motion, t: float):
    """Return q, qd and qdd of a motion that begins and ends at rest, EASE s before and after."""
    # the time of the motion runs at a speed that is 0, then 1, then 0
    x = np.clip([t / EASE, (EASE + DURATION + EASE - t) / EASE], 0.0, 1.0)
    area = x**3 - 0.5 * x**4  # of the speed 3 x^2 - 2 x^3
    speed, rise = (3.0 * x**2 - 2.0 * x**3).min(), 6.0 * (x - x**2) / EASE
    moved = EASE * (area[0] - 0.5) if x[0] < 1.0 else DURATION + EASE * (0.5 - area[1]) if x[1] < 1.0 else t - EASE
    q, qd, qdd = motion(moved)
    return q, speed * qd, speed**2 * qdd + (rise[0] - rise[1]) * qd


def as_nodes(motion, law: str) -> np.ndarray:
    """Return the errors (m, n) of the last seconds of the motion, by torque_controller and simulated_arm over DDS."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    from rclpy.qos import qos_profile_sensor_data
    from rclpy.time import Duration
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from robot_dynamics_ros.tools.processes import Client, Processes

    start, states = eased(motion, 0.0)[0], []
    with (
        tempfile.TemporaryDirectory() as name,
        Processes(Path(name)) as processes,
        Client('judge', processes) as client,
    ):
        for node, values in parameters(Path(name), start, law).items():
            processes.start(node, '--params-file', str(values))
        for node in ('simulated_arm', 'torque_controller'):
            client.wait_until_active(node)
        publisher = client.node.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        client.node.create_subscription(JointState, 'joint_states', states.append, qos_profile_sensor_data)
        client.spin_until(lambda: states and publisher.get_subscription_count(), 20.0, 'states and a subscriber')
        message = JointTrajectory(joint_names=list(ROBOT.joint_names))
        for t in np.arange(0.0, EASE + DURATION + EASE + 1e-9, 0.02):
            q, qd, qdd = (values.tolist() for values in eased(motion, t))
            point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd)
            point.time_from_start = Duration(seconds=float(t)).to_msg()
            message.points.append(point)
        began = client.node.get_clock().now() + Duration(seconds=2.0)
        message.header.stamp = began.to_msg()
        for _ in range(3):  # a new subscription may miss the first message
            publisher.publish(message)
            client.spin_while_waiting(lambda: False, 0.2)

        def elapsed(state):
            return (state.header.stamp.sec * 10**9 + state.header.stamp.nanosec - began.nanoseconds) * 1e-9

        whole = EASE + DURATION
        client.spin_until(lambda: elapsed(states[-1]) > whole, 10.0 * whole, 'the end of the motion')
        said = processes.last_lines('torque_controller')
        if 'dropped' in said:  # a pause of a busy machine
            print(f'{law}: the motion was not followed to its end: {said}')
    judged = [state for state in states if whole - LAST < elapsed(state) <= whole]
    order = [judged[0].name.index(joint) for joint in ROBOT.joint_names]
    return np.array([eased(motion, elapsed(it))[0] - np.array(it.position)[order] for it in judged])


def parameters(folder: Path, start, law: str) -> dict[str, Path]:
    """Return the parameter file of each node by its name."""
    (folder / 'plant.yaml').write_text(ROBOT.with_payload(PAYLOAD).to_yaml())
    payload_limit, rate, friction_rate, dead_zone = SETTINGS
    arm = {'model': str(folder / 'plant.yaml'), 'friction_error': FRICTION - 1.0, 'rate': RATE, 'start': start.tolist()}
    # where a busy machine is late the arm's time stands still; brakes that close in mid-motion would be judged, too
    arm['command_timeout'] = 10.0
    controller = {
        'model': 'aubo_i5',
        'stiffness': GAINS.stiffness.tolist(),
        'damping': GAINS.damping.tolist(),
        'control_law': 'adaptive',
        'await_payload_gravity': False,
        'state_rate': RATE,
        'age_limit': 1.0,
        'start_tolerance': 0.0,
        'adaptation_payload_limit': payload_limit,
        'adaptation_rate': rate,
        'friction_adaptation_rate': friction_rate,
        'adaptation_dead_zone': dead_zone if law == 'adaptive' else 10.0,
    }
    files = {}
    for node, values in {'simulated_arm': arm, 'torque_controller': controller}.items():
        files[node] = folder / f'{node}.yaml'
        files[node].write_text(yaml.safe_dump({node: {'ros__parameters': values}}))
    return files


def main() -> int:
    """Print the figures; return 1 if one is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--nodes', action='store_true', help='as nodes, over DDS: a minute')
    nodes = parser.parse_args().nodes
    motion = logged_motion() if LOG.is_file() else drawn_motion()
    print(heading())
    print(f'motion of {LOG.name}' if LOG.is_file() else f'{LOG.name} is not there: a motion of the tests')
    if nodes:
        fixed, found = (MRAD * rms(as_nodes(motion, law)) for law in ('fixed', 'adaptive'))
        print(
            f'as nodes: RMS of the last {LAST:g} s {found:.2f} mrad (at most {OF_NODES:g}), the fixed law {fixed:.1f}'
        )
        return found > OF_NODES
    print(f'noise {NOISE[0]:g} rad, {NOISE[1]:g} rad/s; {RATE:g} Hz; {SETTINGS}')
    good = [
        simulated('forward dynamics, smooth friction', motion, lambda: None),
        simulated('MuJoCo, friction with a jump', motion, lambda: Mujoco(motion)),
    ]
    time_a_message()
    return not all(good)


if __name__ == '__main__':
    sys.exit(main())
