# SPDX-License-Identifier: Apache-2.0
#
# Passed as CMAKE_PROJECT_INCLUDE when an interface package is built against the rclpy wheels, so that the package's own
# CMakeLists.txt needs no work-around.

# ament_cmake_ros of Jazzy loads what builds a package's own tests; no wheels of it exist, and empty packages stand in.
foreach(package ament_cmake_gmock ament_cmake_gtest ament_cmake_pytest)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    file(WRITE "${CMAKE_BINARY_DIR}/stand_ins/${package}Config.cmake" "")
    set(${package}_DIR "${CMAKE_BINARY_DIR}/stand_ins")
  endif()
endforeach()

# The wheels have one middleware and no rclcpp: Python needs types in C, their serialisation by Fast CDR, and their
# introspection, without which the middleware of Kilted leaves an error behind for each publisher, subscription and
# service, and later ones log that it grows too long. Types in C++ would take more than half of the time.
find_package(rosidl_cmake REQUIRED)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

# The rest happens at the end of the configuration.

# Imported targets of the wheels name the Python include directory of the machine that built them, and CMake refuses an
# imported target with a directory that does not exist: such directories are removed.
function(strip_missing_include_directories)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT directories)
      continue()
    endif()
    set(kept "")
    foreach(directory IN LISTS directories)
      # A generator expression is not a path yet; CMake evaluates it later.
      if(directory MATCHES "\\$<" OR EXISTS "${directory}")
        list(APPEND kept "${directory}")
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
  endforeach()
endfunction()

# Each C++ file of an interface includes the same large headers: together they compile in half of the time.
function(compile_cpp_together)
  foreach(support c introspection_c fastrtps_c)
    set(target ${PROJECT_NAME}__rosidl_typesupport_${support})
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL strip_missing_include_directories)
cmake_language(DEFER CALL compile_cpp_together)
