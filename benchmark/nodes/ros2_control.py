"""Time and bits of an update of FeedforwardEffortController in a real controller manager.

Run it where a ROS 2 workspace with robot_dynamics_controllers is sourced, at best with a busy loop beside it. It
exports the AUBO-i5, builds its package, starts ros2_control_node with mock hardware at 1 kHz and a
joint_trajectory_controller above the controller, and reads the times from the controller manager: those of each update
from ~/statistics, where pal_statistics is installed, else mean and worst from /diagnostics. A
forward_command_controller without a command does next to nothing. Each time includes reading the clock. The efforts are
compared at references of the topic ~/reference.

    python -m benchmark.nodes.ros2_control [--seconds 60] [--priority 50] [--limits]
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PACKAGES = ('controller_manager', 'forward_command_controller', 'joint_trajectory_controller', 'hardware_interface',
            'joint_state_broadcaster', 'robot_dynamics_controllers')  # fmt: skip
MODULES = ('rclpy', 'controller_manager_msgs', 'diagnostic_msgs', 'sensor_msgs', 'std_msgs', 'trajectory_msgs')
FEEDFORWARD, ABOVE, EMPTY, STATES = 'feedforward_effort_controller', 'joint_trajectory_controller', 'empty', 'states'
RATE, REFERENCES, PATIENCE = 1000, 20, 30.0
PREFIXES = [Path(it) for it in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if it]


def missing() -> list[str]:
    """Return the names of packages and modules that are missing."""
    packages = [it for it in PACKAGES if not any((prefix / 'share' / it).is_dir() for prefix in PREFIXES)]
    return packages + [it for it in MODULES if not importlib.util.find_spec(it)]


def built_library(folder: Path) -> Path:
    """Export the AUBO-i5 into a folder, build its package, and return the shared library."""
    export = [sys.executable, '-m', 'robot_dynamics_ros.tools.export_controller', 'aubo_i5', folder / 'package']
    build = folder / 'build'
    for command in (
        [*export, '--preset', 'effort_controller', '--rate', str(RATE)],
        ['cmake', '-S', folder / 'package', '-B', build, f'-DCMAKE_PREFIX_PATH={";".join(map(str, PREFIXES))}'],
        ['cmake', '--build', build],
    ):
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return build / 'libaubo_i5_library.so'


def description(robot) -> str:
    """Return the URDF of a robot with mock hardware, which returns efforts as states."""
    commands = '<command_interface name="effort"/><command_interface name="velocity"/>'
    states = '<state_interface name="velocity"/><state_interface name="effort"/>'
    start = '<state_interface name="position"><param name="initial_value">0.3</param></state_interface>'
    own = ''.join(f'<joint name="{joint}">{commands}{start}{states}</joint>' for joint in robot.joint_names)
    hardware = '<hardware><plugin>mock_components/GenericSystem</plugin></hardware>'
    tag = f'<ros2_control name="mock" type="system">{hardware}{own}</ros2_control>'
    return robot.to_urdf().replace('</robot>', f'{tag}</robot>')


def parameters(joints, library: Path, options) -> str:
    """Return the parameter file, in JSON, which is YAML."""
    joints = list(joints)
    controllers = {
        FEEDFORWARD: ('robot_dynamics_controllers/FeedforwardEffortController',
                      {'preset': 'effort_controller', 'library': str(library), 'joints': joints, 'ramp_time': 0.05}),
        ABOVE: ('joint_trajectory_controller/JointTrajectoryController',
                {'joints': joints, 'command_joints': [f'{FEEDFORWARD}/{it}' for it in joints],
                 'command_interfaces': ['position', 'velocity', 'acceleration'],
                 'state_interfaces': ['position', 'velocity']}),
        EMPTY: ('forward_command_controller/ForwardCommandController',
                {'joints': joints[:1], 'interface_name': 'velocity'}),
        STATES: ('joint_state_broadcaster/JointStateBroadcaster', {}),
    }  # fmt: skip
    manager = {name: {'type': kind} for name, (kind, _) in controllers.items()}
    manager |= {'update_rate': RATE, 'enforce_command_limits': options.limits}
    if options.priority:
        manager |= {'thread_priority': options.priority, 'lock_memory': True}
    files = {name: {'ros__parameters': own} for name, (_, own) in controllers.items()}
    return json.dumps({'controller_manager': {'ros__parameters': manager}, **files})


class Manager:
    """The process of a controller manager, and the messages that it publishes."""

    def __init__(self, folder: Path, robot, library: Path, options):
        """Start it and give it the description of the robot."""
        self.robot, self.node = robot, rclpy.create_node('benchmark')
        self.states: dict[str, float] = {}
        self.times: dict[str, list[float]] = {FEEDFORWARD: [], EMPTY: []}
        self.reported: dict[str, str] = {}
        transient = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.node.create_publisher(String, 'robot_description', transient)
        self._description.publish(String(data=description(robot)))
        self.node.create_subscription(JointState, 'joint_states', self._on_states, 10)
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        if importlib.util.find_spec('pal_statistics_msgs'):
            from pal_statistics_msgs.msg import Statistics

            topic = 'controller_manager/statistics/full'
            self.node.create_subscription(Statistics, topic, self._on_statistics, 1000)
        (folder / 'parameters.yaml').write_text(parameters(robot.joint_names, library, options))
        found = (prefix / 'lib' / 'controller_manager' / 'ros2_control_node' for prefix in PREFIXES)
        command = next(path for path in found if path.exists())
        self._log = (folder / 'log').open('wb')
        self._process = subprocess.Popen(
            [command, '--ros-args', '--params-file', folder / 'parameters.yaml'], stdout=self._log, stderr=self._log
        )

    def end(self) -> None:
        """Stop the process."""
        self._process.terminate()
        self._process.wait()

    def _on_states(self, message) -> None:
        self.states.update(zip(message.name, message.effort, strict=False))

    def _on_diagnostics(self, message) -> None:
        for value in (value for status in message.status for value in status.values):
            name = value.key.removesuffix('.execution_time')
            if name != value.key and name in self.times:
                self.reported[name] = value.value

    def _on_statistics(self, message) -> None:
        for entry in message.statistics:
            name = entry.name.removesuffix('.stats/execution_time/current_value')
            if name != entry.name and name in self.times:
                self.times[name].append(entry.value)

    def spin(self, seconds: float) -> None:
        """Handle messages for a number of seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.01)

    def call(self, kind, service: str, **request) -> None:
        """Call a service of the manager; it has to succeed."""
        client = self.node.create_client(kind, f'controller_manager/{service}')
        if not client.wait_for_service(PATIENCE):
            sys.exit(f'no service {service} of a controller manager within {PATIENCE:.0f} s')
        future = client.call_async(kind.Request(**request))
        rclpy.spin_until_future_complete(self.node, future, timeout_sec=PATIENCE)
        if not (future.done() and future.result().ok):
            self._log.flush()
            sys.exit(f'{service} {request} failed:\n' + Path(self._log.name).read_text(errors='replace')[-2000:])

    def activate(self, *names: str) -> None:
        """Load, configure and activate controllers."""
        for name in names:
            self.call(LoadController, 'load_controller', name=name)
            self.call(ConfigureController, 'configure_controller', name=name)
        strict = SwitchController.Request.STRICT
        self.call(SwitchController, 'switch_controller', activate_controllers=list(names), strictness=strict)


def same_bits(manager: Manager) -> int:
    """Return at how many references the efforts are those of Robot, to the bit."""
    robot, random, same = manager.robot, np.random.default_rng(1), 0
    publisher = manager.node.create_publisher(JointTrajectory, f'{FEEDFORWARD}/reference', 1)
    for _ in range(REFERENCES):
        q, qd, qdd = random.uniform(-1.0, 1.0, (3, robot.nv))
        point = JointTrajectoryPoint(positions=q.tolist(), velocities=qd.tolist(), accelerations=qdd.tolist())
        expected = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
        expected = np.clip(expected, -robot.limits.effort, robot.limits.effort)
        for _ in range(150):  # the change from gravity compensation takes ramp_time
            publisher.publish(JointTrajectory(joint_names=list(robot.joint_names), points=[point]))
            manager.spin(0.02)
            if [manager.states.get(it) for it in robot.joint_names] == expected.tolist():
                same += 1
                break
    return same


def move(manager: Manager, seconds: float) -> None:
    """Follow a trajectory through random points, and discard the times before it."""
    publisher = manager.node.create_publisher(JointTrajectory, f'{ABOVE}/joint_trajectory', 1)
    random, joints = np.random.default_rng(2), manager.robot.joint_names
    points = [
        JointTrajectoryPoint(
            positions=random.uniform(-0.9, 0.9, len(joints)).tolist(), velocities=[0.0] * len(joints),
            accelerations=[0.0] * len(joints), time_from_start=Duration(sec=2 * k + 2),
        )
        for k in range(int(seconds / 2.0))
    ]  # fmt: skip
    manager.spin(1.0)
    publisher.publish(JointTrajectory(joint_names=list(joints), points=points))
    for times in manager.times.values():
        times.clear()
    manager.spin(seconds)


def main() -> None:
    """Print the times and how many efforts have the bits of Robot."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--seconds', type=float, default=60.0, help='of the motion (default: 60)')
    parser.add_argument(
        '--priority', type=int, default=0, help="of the manager's thread, SCHED_FIFO (default: 0: none)"
    )
    parser.add_argument('--limits', action='store_true', help='with enforce_command_limits of the controller manager')
    options = parser.parse_args()
    print(heading())
    rclpy.init()
    robot = Robot.named('aubo_i5')
    with tempfile.TemporaryDirectory() as folder:
        manager = Manager(Path(folder), robot, built_library(Path(folder)), options)
        try:
            manager.activate(FEEDFORWARD, STATES, EMPTY)
            print(f'efforts with the bits of Robot: {same_bits(manager)} of {REFERENCES} references')
            manager.activate(ABOVE)
            move(manager, options.seconds)
        finally:
            manager.end()
    for name, times in manager.times.items():
        if times:
            shares = ' '.join(f'{np.percentile(times, it):.2f}' for it in (50, 99, 99.9, 100))
            print(f'{name}: p50 p99 p99.9 worst {shares} us of {len(times)} updates')
        else:
            print(f'{name}: {manager.reported.get(name, "nothing on /diagnostics")}; percentiles need pal_statistics')


if __name__ == '__main__':
    if lacking := missing():
        sys.exit(f'not here: {", ".join(lacking)}; source a ROS 2 workspace that has them')
    import rclpy
    from builtin_interfaces.msg import Duration
    from controller_manager_msgs.srv import ConfigureController, LoadController, SwitchController
    from diagnostic_msgs.msg import DiagnosticArray
    from measure import heading
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from robot_dynamics_ros import Robot

    main()
