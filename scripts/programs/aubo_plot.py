"""Records an emulated AUBO-i5 through aubo_node, and plots measured torques beside those of feedforward_node.

It is the recipe of doc/how_to/arms/aubo_i5.md without an arm.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'test'))

from support.aubo.aubo_controller import SECONDS
from support.aubo.aubo_measurement import ControllerProcess

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import JointState

from robot_dynamics_ros.identification.logs.log_files import JOINT_STATE, TOPIC
from robot_dynamics_ros.tools import replay
from robot_dynamics_ros.tools.processes import Client, Processes

RATE = 200.0


def main() -> None:
    """Record and replay."""
    parser = argparse.ArgumentParser(prog='scripts/aubo_plot', description=__doc__.splitlines()[0])
    parser.add_argument('folder', type=Path, help='of the rosbag2 and of the plot, log.png; a new one')
    folder = parser.parse_args().folder
    folder.mkdir(parents=True)
    record(folder / 'aubo_i5')
    replay.main(['aubo_i5', str(folder / 'aubo_i5'), '--effort', 'torque', '--output', str(folder)])


def record(bag: Path) -> None:
    """Write ``joint_states`` of one period of the emulated motion into ``bag``, as ros2 bag record does."""
    messages: list[bytes] = []
    with Processes(bag.parent) as processes, Client('recorder', processes) as client:
        controller = ControllerProcess()
        ports = {'rtde_port': controller.rtde_port, 'rpc_port': controller.rpc_port}
        given = {'model': 'aubo_i5', 'robot_ip': '127.0.0.1', **ports}
        try:
            processes.start('aubo_node', *(f'{word}' for name in given for word in ('-p', f'{name}:={given[name]}')))
            client.node.create_subscription(JointState, 'joint_states', messages.append, 1000, raw=True)
            count = round(SECONDS * RATE)
            client.spin_until(lambda: len(messages) >= count, 10 * SECONDS, f'{count} states')
        finally:
            controller.end()
    with Writer(bag, version=8, storage_plugin=StoragePlugin.SQLITE3) as writer:
        connection = writer.add_connection(TOPIC, JOINT_STATE, typestore=get_typestore(Stores.ROS2_HUMBLE))
        for k, message in enumerate(messages):
            writer.write(connection, round(1e9 * k / RATE), message)


if __name__ == '__main__':
    main()
