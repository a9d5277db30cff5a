"""Topics of a graph of this package's nodes in the root namespace, and their types."""

TYPES = {
    'joint_states': 'sensor_msgs/msg/JointState',
    'joint_trajectory': 'trajectory_msgs/msg/JointTrajectory',
    'target_pose': 'geometry_msgs/msg/PoseStamped',
    'target_twist': 'geometry_msgs/msg/TwistStamped',
    'target_wrench': 'geometry_msgs/msg/WrenchStamped',
    'target_stiffness': 'geometry_msgs/msg/WrenchStamped',
    'feedforward_torque': 'sensor_msgs/msg/JointState',
    'feedforward_torque/commands': 'std_msgs/msg/Float64MultiArray',
    'feedforward_torque/info': 'robot_dynamics_interfaces/msg/TorqueInfo',
    'feedforward_torque/held': 'std_msgs/msg/Header',
    'gravity_torque': 'sensor_msgs/msg/JointState',
    'gravity_torque/commands': 'std_msgs/msg/Float64MultiArray',
    'gravity_torque/info': 'robot_dynamics_interfaces/msg/TorqueInfo',
    'effort_commands': 'std_msgs/msg/Float64MultiArray',
    'payload_state': 'robot_dynamics_interfaces/msg/PayloadState',
    'gravity_state': 'robot_dynamics_interfaces/msg/GravityState',
    'payload_in_force': 'robot_dynamics_interfaces/msg/PayloadState',
    'gravity_in_force': 'robot_dynamics_interfaces/msg/GravityState',
    'planned_trajectory': 'trajectory_msgs/msg/JointTrajectory',
    'trajectory_with_effort': 'trajectory_msgs/msg/JointTrajectory',
    'trajectory_torques': 'robot_dynamics_interfaces/msg/TrajectoryTorques',
    'external_torque': 'sensor_msgs/msg/JointState',
    'external_wrench': 'geometry_msgs/msg/WrenchStamped',
    'external_torque_node/contact': 'robot_dynamics_interfaces/msg/Contact',
    'joint_temperatures': 'robot_dynamics_interfaces/msg/JointTemperatures',
    'aubo_node/info': 'robot_dynamics_interfaces/msg/ControllerInfo',
    'diagnostics': 'diagnostic_msgs/msg/DiagnosticArray',
    'robot_description': 'std_msgs/msg/String',
}
OF_OTHERS = {'robot_description'}
"""Published by robot_state_publisher; the nodes here subscribe to it only where a parameter names it."""
