"""demo_motion publishes its motion, or that of a file, again and again, from the first joint state on."""

import signal
import subprocess
import sys
from types import SimpleNamespace

from support.nodes import graph as ros

import pytest
import rclpy
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.process import node_process as process
from robot_dynamics_ros.tools import demo_motion
from robot_dynamics_ros.tools.demonstration.demo_arm import demo_arm
from robot_dynamics_ros.tools.demonstration.motion_publisher import DemoMotion

pytestmark = pytest.mark.ros

NAMES = ['a', 'b', 'c', 'd', 'e', 'f']


def test_demo_motion_publishes_the_motion_of_a_file(tmp_path, monkeypatch):
    arm = demo_arm('aubo_i5', tip_link='wrist1_Link')
    arm.write(tmp_path)
    made = []
    monkeypatch.setattr(process, 'run', made.append)
    monkeypatch.setattr(process, 'arguments', lambda: ['--motion', str(tmp_path / 'motion.yaml')])
    demo_motion.main()
    called, (_, names) = made[0].func, made[0].args
    assert called is DemoMotion
    assert names == list(arm.robot.joint_names)
    sent = []
    rclpy.init()
    try:
        node = made[0]()
        node._trajectories = SimpleNamespace(publish=sent.append)
        node._on_state(ros.joint_state(['others', *names], ros.SECOND, [0.0] * 5))
        node._on_timer()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    (message,) = sent
    assert message.joint_names == names
    assert [list(point.positions) for point in message.points] == arm.motion.positions.tolist()
    assert not any(any((*point.velocities, *point.accelerations)) for point in message.points)


def test_demo_motion_is_repeated_until_it_begins_and_begins_again_after_its_end():
    """It takes 3 s, and begins 0.5 s after its first message."""
    sent = []
    rclpy.init()
    try:
        node = DemoMotion()
        node._trajectories = SimpleNamespace(publish=sent.append)
        node._on_timer()  # no joint state yet
        for now in (100.0, 100.2, 104.0, 106.0):
            node._on_state(ros.joint_state(NAMES, round(now * ros.SECOND), [0.0] * 6))
            node._on_timer()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    starts = [ros.nanoseconds(message.header.stamp) / ros.SECOND for message in sent]
    assert starts == [100.5, 100.5, 106.5]


def test_demo_motion_moves_the_arm_until_it_is_asked_to_stop(tmp_path):
    with ros.Graph(tmp_path) as graph:
        command = [sys.executable, '-m', 'robot_dynamics_ros.tools.demo_motion']
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            trajectories = graph.listen(JointTrajectory, 'joint_trajectory')
            for now in (100, 106):
                start = now * ros.SECOND + ros.SECOND // 2
                graph.repeat_until(
                    lambda: graph.publish('joint_states', ros.joint_state(NAMES, now * ros.SECOND, [0.0] * 6)),  # noqa: B023
                    lambda: trajectories and ros.nanoseconds(trajectories[-1].header.stamp) == start,  # noqa: B023
                    f'a trajectory that begins {start} ns',
                    0.2,
                )
            first, *_, last = trajectories[0].points
            assert trajectories[0].joint_names == NAMES
            assert first.positions == last.positions  # it can go on from where it ends
        finally:
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=60.0)
    assert process.returncode == 0
    assert 'Traceback' not in printed
