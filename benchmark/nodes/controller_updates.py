"""What does an update of the controller for ros2_control cost, with a law of a frame and without one?"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmark.calls.joints import robot as chain
from benchmark.measure import heading
from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.library import library_source
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import Impedance
from robot_dynamics_ros.control.laws.impedance.frame_law_code import impedance_code, operational_space_code
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpace
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.robot.export.c_library_export import controller_library

FOLDER = Path(__file__).resolve().parent
CONTROLLERS = FOLDER.parents[1] / 'robot_dynamics_controllers'
INCLUDE = ('-I', CONTROLLERS / 'include')
EXACT = ('-O3', '-ffp-contract=off', '-fno-math-errno')
LAWS = 'pd_feedforward', 'cartesian_impedance', 'operational_space'
ROUNDS = 5
STIFFNESS = (20.0, 20.0, 20.0, 400.0, 400.0, 400.0)


def main():
    print(heading())
    if not (shutil.which('gcc') and shutil.which('g++')):
        sys.exit('gcc or g++ is missing')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / 'controller_updates'
        sources = ('-I', CONTROLLERS / 'src', '-I', CONTROLLERS / 'test', FOLDER / 'controller_updates.cpp')
        run('g++', '-std=c++17', *EXACT, *INCLUDE, *sources, '-o', program, '-ldl', '-pthread')
        for robot in (Robot.named('aubo_i5'), chain(7, 1)):
            libraries = exported(robot, folder / f'{robot.nv}_joints')
            print(f'{robot.nv} joints; median, 99 % and 99.9 % of an update in us, warm, then with evicted caches')
            rounds = {law: [] for law in LAWS}
            for law in LAWS * ROUNDS:
                rounds[law].append([float(word) for word in run(program, libraries[law], law).split()])
            medians = {law: np.median(times, axis=0) for law, times in rounds.items()}
            for law, times in medians.items():
                print(f'  {law}: {" ".join(f"{time:.2f}" for time in times)}')
            print(f'  impedance / PD, medians: {medians[LAWS[1]][0] / medians[LAWS[0]][0]:.3g}')


def exported(robot: Robot, folder: Path) -> dict[str, Path]:
    """Return the shared library of a robot for each law."""
    posture = np.full((2, robot.nv), [[5.0], [1.0]])
    impedance = impedance_code(robot, Impedance(STIFFNESS, *posture), Stiffness(STIFFNESS), TERMS, 1000.0)
    bandwidth = operational_space_code(robot, OperationalSpace(10.0, *posture), TERMS, 1000.0)
    codes = dict(zip(LAWS, (None, impedance, bandwidth), strict=True))
    return {law: compiled(robot, folder / law, code) for law, code in codes.items()}


def compiled(robot: Robot, folder: Path, code: FrameLawCode | None) -> Path:
    """Return the shared library of a robot with a law of a frame, compiled for this processor as its package is."""
    library = controller_library(robot, code)
    _, dynamics, _ = robot.export_c(folder, library.programs)
    source = folder / f'{library.title}.c'
    source.write_text(library_source(library), encoding='utf-8')
    fma = ['-mfma'] if ' fma ' in Path('/proc/cpuinfo').read_text() else []
    shared = ('-std=c99', *EXACT, *fma, '-shared', '-fPIC', *INCLUDE)
    run('gcc', *shared, source, dynamics, '-o', folder / 'library.so', '-lm')
    return folder / 'library.so'


def run(*command) -> str:
    """Return what a command prints."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


if __name__ == '__main__':
    main()
