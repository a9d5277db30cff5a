"""Several arms on one machine, each in a namespace of its own: each gets its own torques."""

import signal

from support.matrices import matrix
from support.nodes import graph as ros

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from robot_dynamics_ros import Robot

NODE = 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')


@pytest.mark.parametrize('arms', matrix([4, 10], few=[4]))
def test_each_arm_gets_the_torques_of_its_own_states(tmp_path, arms):
    with ros.Graph(tmp_path) as graph:
        for arm in range(arms):
            graph.processes.start(NODE, '-r', f'__ns:=/arm_{arm}', '-p', 'age_limit:=100.0')
            graph.processes._running[f'{NODE}_{arm}'] = graph.forget(NODE)
        for arm in range(arms):
            graph.client.wait_until_active(f'arm_{arm}/{NODE}')
        torques = [graph.listen(JointState, f'arm_{arm}/gravity_torque') for arm in range(arms)]
        positions = np.random.default_rng(0).uniform(-1.0, 1.0, (arms, 6))

        def send():
            for arm, q in enumerate(positions):
                graph.publish(f'arm_{arm}/joint_states', ros.joint_state(ROBOT.joint_names, graph.now(), q))

        graph.repeat_until(send, lambda: all(torques), 'answers of all arms')
        assert not graph.node.count_publishers('gravity_torque')
        # one after the other: together they may take longer than a single one is given
        for arm in range(arms):
            process = graph.forget(f'{NODE}_{arm}')
            process.send_signal(signal.SIGINT)
            assert process.wait(60.0) == 0
    for arm, q in enumerate(positions):
        for torque in torques[arm]:
            np.testing.assert_allclose(torque.effort, ROBOT.gravity_torque(q), rtol=0, atol=1e-9)
