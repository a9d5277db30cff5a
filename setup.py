# SPDX-License-Identifier: Apache-2.0
"""Installs the package the way ROS 2 looks for it: modules, node executables, and the share folder."""

import os
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, PlatformError

PACKAGE = 'robot_dynamics_ros'
SHARE = f'share/{PACKAGE}'
NODES = (
    'feedforward_node',
    'gravity_compensation_node',
    'dynamics_server',
    'torque_controller',
    'simulated_arm',
    'trajectory_effort_node',
    'external_torque_node',
    'aubo_node',
)
# Short name of each other command, and the folder of its module.
COMMANDS = {
    'bringup': 'nodes.executables',
    'check_model': 'tools',
    'compare': 'tools',
    'demo': 'tools',
    'demo_motion': 'tools',
    'export_c': 'tools',
    'export_controller': 'tools',
    'identify': 'tools',
    'propose_gains': 'tools',
    'replay': 'tools',
}
CONFIG_FOLDERS = ('diagnostic_aggregator', 'foxglove', 'plotjuggler', 'rviz', 'security')


class WithKernels(build_ext):
    """Builds the extension against NumPy, then the library of functions that Numba compiles."""

    def finalize_options(self):
        """Add its headers, before those of another NumPy that Debian has among Python's."""
        import numpy  # noqa: PLC0415

        super().finalize_options()
        self.include_dirs.insert(0, numpy.get_include())

    def build_extensions(self):
        """Say which packages have compiler and headers where these are missing."""
        compiler = self.compiler.compiler_so[0]
        if shutil.which(compiler) is None:
            raise PlatformError(
                f'{PACKAGE} needs a C compiler, and there is no {compiler!r} (CC names another one); '
                'on Debian and Ubuntu: apt install build-essential'
            )
        try:
            super().build_extensions()
        except CompileError as error:
            version = '{}.{}'.format(*sys.version_info)
            raise CompileError(
                f'{error}; the compiler says above what it lacks: Python.h, for instance, is in the package '
                f'python{version}-dev of Debian and Ubuntu'
            ) from None

    def run(self):
        """Build the extension, then the library beside it, in a process that imports the package."""
        super().run()
        folder = Path(self.get_ext_fullpath(CALL.name)).absolute().parent
        objects = Path(os.environ.get('ROBOT_DYNAMICS_OBJECTS', self.build_temp)).absolute()
        build = [sys.executable, '-m', f'{PACKAGE}.codegen.library_build', '--objects', str(objects)]
        built = folder.parents[1]  # not the sources, which have no extension
        path = os.pathsep.join([str(built), *sys.path])
        environment = {**os.environ, 'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': '1'}
        try:
            subprocess.run([*build, '--output', str(folder / KERNELS)], cwd=built, env=environment, check=True)
        except subprocess.CalledProcessError:
            raise CompileError('the library of compiled functions could not be built, see above') from None

    def get_outputs(self):
        """Return the paths of what was built."""
        (extension,) = super().get_outputs()
        return [extension, str(Path(extension).with_name(KERNELS))]


NATIVE = f'{PACKAGE}/native'
KERNELS = f'kernels.{os.uname().machine}.so'
CALL = Extension(
    f'{PACKAGE}.native.call', [f'{NATIVE}/call.c'], depends=[f'{NATIVE}/run.h'], extra_compile_args=['-std=c11', '-O3']
)
EXECUTABLES = [
    # Called as in parameter files, launch files and enclaves: the executable has the node's name.
    *(f'{node} = {PACKAGE}.nodes.executables.{node}:main' for node in NODES),
    *(f'robot_dynamics_{name} = {PACKAGE}.{folder}.{name}:main' for name, folder in COMMANDS.items()),
]
# For pip. rosdep reads package.xml, and scripts/bootstrap installs what requirements/ say.
LIBRARY = ['numpy>=1.21', 'numba>=0.55.1', 'PyYAML>=5.4']
EXTRAS = {
    'sim': ['mujoco>=3.3', 'scipy>=1.8'],
    'plot': ['matplotlib>=3.6', 'plotly>=6.3'],
    'view': ['viser>=1.1', 'trimesh>=4.5', 'pycollada>=0.8'],
    # Descriptions that are xacro files, and those of public repositories by name.
    'xacro': ['xacro>=2.1'],
    'descriptions': ['robot_descriptions>=2.0', 'xacro>=2.1'],
    'bag': ['rosbags>=0.10', 'scipy>=1.8'],
    'identify': ['rosbags>=0.10', 'scipy>=1.8', 'plotly>=6.3'],
    # The stream of an AUBO controller.
    'aubo': ['cbor2>=5.4'],
    # Derivations of formulations/lagrange.py.
    'symbolic': ['sympy>=1.12'],
    # Robot.casadi.
    'casadi': ['casadi>=3.6.5'],
    # Robot.jax and Robot.torch.
    'jax': ['jax>=0.5'],
    'torch': ['torch>=2.1'],
    # colcon test takes pytest where this names it.
    'test': ['pytest'],
}

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Rigid-body dynamics of robot arms for ROS 2: torques, mass matrix, inverse and forward dynamics',
    maintainer='robot_dynamics_ros maintainers',
    maintainer_email='robot_dynamics_ros@example.com',
    license='Apache-2.0',
    license_files=['LICENSE'],
    python_requires='>=3.10',
    packages=find_packages(exclude=['test', 'test.*']),
    package_data={
        PACKAGE: [
            'py.typed',
            'nodes/lifecycle/parameters.yaml',
            'nodes/process/*.xml',
            'native/call.pyi',
            'native/library.c',
            'native/run.h',
            'codegen/c/templates/*.in',
            'tools/templates/*.in',
            'tools/figures/templates/*.in',
        ]
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (SHARE, ['package.xml']),
        (f'{SHARE}/launch', glob('launch/*.launch.py')),
        (f'{SHARE}/config', glob('config/*.yaml')),
        *((f'{SHARE}/config/{folder}', glob(f'config/{folder}/*')) for folder in CONFIG_FOLDERS),
        (f'{SHARE}/urdf', glob('urdf/*.urdf')),
    ],
    install_requires=LIBRARY,
    extras_require=EXTRAS,
    ext_modules=[CALL],
    cmdclass={'build_ext': WithKernels},
    zip_safe=False,
    entry_points={'console_scripts': EXECUTABLES},
)
