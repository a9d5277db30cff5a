"""Node of launch/demo.launch.py that publishes the demo's motion repeatedly."""

import argparse
from functools import partial
from pathlib import Path

from robot_dynamics_ros.nodes.process.ros_packages import ROS
from robot_dynamics_ros.tools.needed_packages import check_packages
from robot_dynamics_ros.tools.reported_errors import reported_errors

COMMAND = 'robot_dynamics_demo_motion'


def main():
    """Run the node until SIGINT or SIGTERM."""
    with reported_errors(COMMAND):
        check_packages(ROS)
    from robot_dynamics_ros.nodes.process.node_process import arguments, run  # noqa: PLC0415  (needs ROS)
    from robot_dynamics_ros.tools.demonstration.motion_publisher import DemoMotion  # noqa: PLC0415
    from robot_dynamics_ros.tools.demonstration.motions import read_motion  # noqa: PLC0415

    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument('--motion', type=Path, help="file of the demo's motion (default: that of the AUBO-i5)")
    path = parser.parse_args(arguments()).motion
    if path is None:
        run(DemoMotion)
        return
    joint_names, motion = read_motion(path)
    run(partial(DemoMotion, motion, joint_names))


if __name__ == '__main__':
    main()
