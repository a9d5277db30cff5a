"""ROS 2 nodes: the only place, beside tools, that knows rclpy and messages."""

import gc
import signal
import sys
from pathlib import Path


def _runs_this_process() -> bool:
    """Return whether the process runs a module of this package: by ``python -m``, or an executable of its name."""
    if sys.argv[0] == '-m':
        return sys.orig_argv[sys.orig_argv.index('-m') + 1].startswith(f'{__name__}.')
    return (Path(__file__).parent / f'{Path(sys.argv[0]).name.removeprefix("robot_dynamics_")}.py').is_file()


if _runs_this_process():
    # Until ``process.run`` takes over: no traceback of whatever is being imported, and no garbage collection.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()
    # Types of messages import it for a generator of code that no node calls: 45 modules, 0.07 s (2026-11-26).
    sys.modules['rosidl_generator_py.generate_py_impl'] = None
    from robot_dynamics_ros.nodes import participant

    participant.create()  # DDS discovers publishers while the rest is imported
