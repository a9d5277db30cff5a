"""The nodes, a file each; what is here acts in a process that runs one of them, before anything else is imported."""

import gc
import os
import signal
import sys
from importlib.util import find_spec

from robot_dynamics_ros.nodes.process.ros_packages import ROS, missing_package

EXECUTABLES = (
    'aubo_node',
    'bringup',
    'dynamics_server',
    'external_torque_node',
    'feedforward_node',
    'gravity_compensation_node',
    'simulated_arm',
    'torque_controller',
    'trajectory_effort_node',
)
"""Modules that are run as processes, by ``python -m`` or by an executable of their name."""


def _executable() -> str:
    """Return which of ``EXECUTABLES`` this process runs; '' for none.

    A program without this package's name in its folder or its own may be another package's.
    """
    folder, name = os.path.split(sys.argv[0])
    if name == '-m':
        name = next((word.partition(f'{__name__}.')[2] for word in sys.orig_argv if f'{__name__}.' in word), '')
    elif name.startswith('robot_dynamics_'):
        name = name.removeprefix('robot_dynamics_')
    elif os.path.basename(folder) != 'robot_dynamics_ros':
        name = ''
    return name if name in EXECUTABLES else ''


executable = _executable()
if (program := executable or os.path.basename(sys.argv[0])) in EXECUTABLES:
    for package in ROS:
        if find_spec(package) is None:
            # a node's executable has its name, and bringup that of the package before its own
            command = 'robot_dynamics_bringup' if program == 'bringup' else program
            sys.exit(f'{command}: {missing_package(package)}')
if executable:
    # Until ``process.run``: SIGINT during an import ends the process without a traceback, and no garbage collection.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()
    # Types of messages import it for a generator of code that no node calls: 45 modules, 0.07 s (2026-11-26).
    sys.modules['rosidl_generator_py.generate_py_impl'] = None
    from robot_dynamics_ros.nodes.process import participant, server_process

    participant.create()  # DDS discovers publishers while the rest is imported
    if executable == 'bringup':
        server_process.start_early()
