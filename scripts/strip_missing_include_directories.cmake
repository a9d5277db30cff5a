# SPDX-License-Identifier: Apache-2.0
#
# Passed as CMAKE_PROJECT_INCLUDE when the interface package is built against the rclpy wheels.
# Imported targets of the wheels name the Python include directory of the machine that built them, and CMake refuses
# an imported target with a directory that does not exist. At the end of the configuration, when all find_package()
# calls are done, this file removes such directories, so that the package's own CMakeLists.txt needs no work-around.

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

cmake_language(DEFER CALL strip_missing_include_directories)
