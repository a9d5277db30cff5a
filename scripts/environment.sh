# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The environment of every process that uses the .venv of scripts/bootstrap. Source it from bash:
#     source scripts/environment.sh
# Afterwards python, pytest, colcon and the nodes' executables are those of .venv.
#
#   ROBOT_DYNAMICS_VENV=.venv-jazzy   another folder than .venv, that of scripts/other_distribution

_venv="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/${ROBOT_DYNAMICS_VENV:-.venv}"

# Python packages of a sourced ROS installation must not shadow those of .venv: they are built for another Python.
unset PYTHONPATH PYTHONHOME
# Its name is that of another distribution, perhaps, and would choose it in scripts/bootstrap.
unset ROS_DISTRO
export VIRTUAL_ENV="$_venv"
case ":$PATH:" in
  *":$_venv/bin:"*) ;;
  *) export PATH="$_venv/bin:$PATH" ;;
esac

# The virtual environment is a ROS prefix, and the only one.
export AMENT_PREFIX_PATH="$_venv"
export RMW_IMPLEMENTATION=rmw_fastrtps_cpp
# Discovery is limited to this machine unless configured otherwise.
export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"

# Sets what ros-wheels-bootstrapper would: without this mark it re-executes every Python process to set the path.
for _libs in "$_venv"/lib/python3*/site-packages/ros_*.libs "$_venv/lib"; do
  case ":${LD_LIBRARY_PATH:-}:" in
    *":$_libs:"*) ;;
    *) export LD_LIBRARY_PATH="$_libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
  esac
done
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
unset _venv _libs
