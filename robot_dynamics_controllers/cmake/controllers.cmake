# SPDX-License-Identifier: Apache-2.0
#
# Plugins for a ROS installation: the controllers of ros2_control, and the adapter to inverse_dynamics_solver where that
# package is found.

foreach(package ament_index_cpp diagnostic_msgs geometry_msgs hardware_interface pluginlib rclcpp rclcpp_lifecycle
    robot_dynamics_interfaces std_srvs trajectory_msgs)
  find_package(${package} REQUIRED)
endforeach()
# the first one that generates headers into a folder with the package's name
find_package(generate_parameter_library 0.4 REQUIRED)

generate_parameter_library(feedforward_effort_controller_parameters
  src/feedforward_effort_controller_parameters.yaml)

add_library(robot_dynamics_controllers SHARED
  src/core/effort_cycle.cpp
  src/effort_reports.cpp
  src/feedforward_effort_controller.cpp
  src/frame_commands.cpp
  src/payload_gravity_input.cpp
  src/ramp_service.cpp
  src/reference_input.cpp
  src/core/reference_values.cpp
)
target_compile_options(robot_dynamics_controllers PRIVATE -Wall -Wextra -Wpedantic)
if(UNIX AND NOT APPLE)
  # a symbol that is missing ends the build, not the controller manager; the first update looks for no function
  target_link_options(robot_dynamics_controllers PRIVATE -Wl,-z,defs -Wl,-z,now)
endif()
target_link_libraries(robot_dynamics_controllers PUBLIC
  robot_dynamics_controllers_core
  feedforward_effort_controller_parameters
  ament_index_cpp::ament_index_cpp
  controller_interface::controller_interface
  hardware_interface::hardware_interface
  pluginlib::pluginlib
  rclcpp::rclcpp
  rclcpp_lifecycle::rclcpp_lifecycle
  ${diagnostic_msgs_TARGETS}
  ${geometry_msgs_TARGETS}
  ${robot_dynamics_interfaces_TARGETS}
  ${std_srvs_TARGETS}
  ${trajectory_msgs_TARGETS})
install(TARGETS robot_dynamics_controllers LIBRARY DESTINATION lib)
pluginlib_export_plugin_description_file(controller_interface controller_plugins.xml)

find_package(inverse_dynamics_solver QUIET)
find_package(Eigen3 QUIET)
if(inverse_dynamics_solver_FOUND AND Eigen3_FOUND)
  add_library(robot_dynamics_solver SHARED src/exported_inverse_dynamics_solver.cpp)
  target_include_directories(robot_dynamics_solver PRIVATE ${inverse_dynamics_solver_INCLUDE_DIRS})
  target_link_libraries(robot_dynamics_solver PRIVATE
    robot_dynamics_controllers_core
    ament_index_cpp::ament_index_cpp
    Eigen3::Eigen
    pluginlib::pluginlib
    rclcpp::rclcpp)
  install(TARGETS robot_dynamics_solver LIBRARY DESTINATION lib)
  pluginlib_export_plugin_description_file(inverse_dynamics_solver solver_plugins.xml)
endif()

if(BUILD_TESTING)
  foreach(package ament_cmake_ros controller_manager)
    find_package(${package} REQUIRED)
  endforeach()
  enable_language(C)
  add_library(pendulum SHARED test/pendulum/pendulum_dynamics.c test/pendulum/pendulum_library.c)
  set_target_properties(pendulum PROPERTIES C_STANDARD 99)
  target_include_directories(pendulum PRIVATE include)
  target_link_libraries(pendulum PRIVATE m)
  ament_add_ros_isolated_gtest(in_controller_manager test/in_controller_manager.cpp TIMEOUT 300)
  if(TARGET in_controller_manager)
    target_compile_definitions(in_controller_manager PRIVATE PENDULUM="$<TARGET_FILE:pendulum>")
    target_include_directories(in_controller_manager PRIVATE src)
    target_link_libraries(in_controller_manager
      robot_dynamics_controllers_core controller_manager::controller_manager
      ${geometry_msgs_TARGETS} ${robot_dynamics_interfaces_TARGETS} ${std_srvs_TARGETS})
    add_dependencies(in_controller_manager pendulum robot_dynamics_controllers)
  endif()
endif()
