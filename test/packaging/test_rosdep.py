"""Every key of a package.xml is one that rosdep resolves on the platforms of its distributions."""

from xml.etree import ElementTree

from support.project.project_files import ROOT

import pytest

# Looked up in the repository ros/rosdistro (commit 8468e88 of 2026-08-22), for Humble, Jazzy, Kilted, Lyrical and
# Rolling: released packages in <distribution>/distribution.yaml, others in rosdep/python.yaml for Debian and Ubuntu.
# A new key belongs here once it was looked up there.
PACKAGES = {
    *('ament_cmake', 'ament_cmake_ros', 'ament_index_cpp', 'builtin_interfaces', 'control_msgs'),
    *(
        'controller_interface',
        'controller_manager',
        'diagnostic_msgs',
        'diagnostic_updater',
        'generate_parameter_library',
        'geometry_msgs',
    ),
    *('hardware_interface', 'joint_trajectory_controller', 'launch', 'launch_ros', 'lifecycle_msgs', 'pluginlib'),
    *('rcl_interfaces', 'rclcpp', 'rclcpp_lifecycle', 'rclpy', 'realtime_tools', 'ros2_control_test_assets'),
    *('ros2launch', 'rosgraph_msgs', 'rosidl_default_generators', 'rosidl_default_runtime', 'sensor_msgs', 'std_msgs'),
    *('std_srvs', 'trajectory_msgs', 'urdf', 'xacro'),
}
PYTHON = {
    *('python3-cbor2', 'python3-dev', 'python3-matplotlib', 'python3-numba', 'python3-numpy', 'python3-pytest'),
    *('python3-scipy', 'python3-sympy', 'python3-yaml'),
}
MANIFESTS = [ROOT / 'package.xml', *sorted(ROOT.glob('*/package.xml'))]
OWN = {ElementTree.parse(path).findtext('name') for path in MANIFESTS}


@pytest.mark.parametrize('path', MANIFESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_key_resolves(path):
    keys = {element.text for element in ElementTree.parse(path).getroot() if element.tag.endswith('depend')}
    assert keys - PACKAGES - PYTHON - OWN == set()
    assert keys
