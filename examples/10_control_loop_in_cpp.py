"""A control loop in C++ around exported C: the AUBO-i5 with 1.5 kg moves to a position and holds it.

The source of the controller is in examples/control_loop; this file exports the code of the robot, builds both with
CMake, and runs the loop.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from robot_dynamics_ros import Robot

source = Path(__file__).parent / 'control_loop'
generator = ('-G', 'Ninja') if shutil.which('ninja') else ()

with tempfile.TemporaryDirectory() as name:
    exported, build = Path(name) / 'exported', Path(name) / 'build'
    for path in Robot.named('aubo_i5').export_c(exported, ('inverse_dynamics', 'forward_dynamics')):
        print(f'{path.name}: {len(path.read_text().splitlines())} lines')
    subprocess.run(
        ('cmake', *generator, '-S', source, '-B', build, f'-DEXPORTED={exported}'),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(('cmake', '--build', build), check=True, stdout=subprocess.DEVNULL)
    print(subprocess.run((build / 'control_loop',), check=True, capture_output=True, text=True).stdout, end='')
