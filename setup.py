# SPDX-License-Identifier: Apache-2.0
"""Installs the package the way ROS 2 looks for it: modules, node executables, and the share folder."""

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'robot_dynamics_ros'
SHARE = f'share/{PACKAGE}'
NODES = (
    'feedforward_node',
    'gravity_compensation_node',
    'dynamics_server',
    'torque_controller',
    'simulated_arm',
    'bringup',
)

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
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (SHARE, ['package.xml']),
        (f'{SHARE}/launch', glob('launch/*.launch.py')),
        (f'{SHARE}/config', glob('config/*.yaml')),
        (f'{SHARE}/config/security', glob('config/security/*.xml')),
        (f'{SHARE}/urdf', glob('urdf/*.urdf')),
    ],
    # Everything else comes from rosdep (package.xml) or from requirements/, where pip is the only source.
    install_requires=['setuptools'],
    zip_safe=False,
    entry_points={'console_scripts': [f'{node} = {PACKAGE}.nodes.{node}:main' for node in NODES]},
)
