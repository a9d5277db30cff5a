# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# scripts/compatibility --arm: the library on an emulated ARM64 processor. Needs Debian's apt-get, with
# qemu-aarch64-static (package qemu-user-static), aarch64-linux-gnu-gcc (gcc-aarch64-linux-gnu) and the headers of its C
# library (libc6-dev-arm64-cross), but neither root nor binfmt. .venv-arm64 contains an ARM64 Python in root/.
#
# shellcheck disable=SC2154 # functions and variables of scripts/compatibility

arm64="$PWD/.venv-arm64"
# Tests that compile little and start few processes: an emulated processor is ten to twenty times slower.
arm64_tests=(
  test/kernels/test_sincos.py
  test/native
  test/jit/test_{fused_multiply_add,inlining}.py
  test/codegen/test_c_text.py
  test/control/guards/test_torque_limiter.py
  test/formats/test_{aubo_i5,dh,library,urdf}.py
  test/model/test_{audit,editing,joint_types,linear_algebra,pseudo_inertia}.py
)

run_on_arm64() {
  local program
  for program in qemu-aarch64-static aarch64-linux-gnu-gcc apt-get dpkg-deb; do
    command -v "$program" > /dev/null ||
      fail "--arm: no '$program' here; on Debian: apt install qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
  done
  make_environment newest "${PYTHON:-python3}"
  build_extension newest
  make_arm64_environment
  build_arm64_extension
  compare_with_arm64
  say "arm64: running the tests of an emulated processor"
  run_pytest arm64 --numprocesses=0 --timeout=3600 "${arm64_tests[@]}"
}

make_arm64_environment() {
  local identity
  identity="$(sha256sum requirements/newest.txt scripts/arm64.sh)"
  if [[ ! -e "$arm64/requirements.stamp" || "$(< "$arm64/requirements.stamp")" != "$identity" ]]; then
    say "arm64: making ${arm64##*/}, a Python for ARM64 with its packages; half an hour on two cores"
    rm -rf "$arm64"
    unpack_arm64_python
    wrap_arm64_python
    "$arm64/bin/python" -m ensurepip > /dev/null
    "$arm64/bin/python" -m pip install --quiet --no-compile -r requirements/newest.txt
    echo "$identity" > "$arm64/requirements.stamp"
  fi
}

# Debian's packages of Python for ARM64, unpacked and not installed; apt's lists, too, are in .venv-arm64.
unpack_arm64_python() {
  local package apt="$arm64/apt"
  mkdir -p "$arm64/root" "$apt/lists/partial" "$apt/archives/partial"
  : > "$apt/status"
  local options=(
    -qq -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt" -o Dir::State::status="$apt/status"
    -o Dir::Cache="$apt" -o Acquire::Languages=none -o Debug::NoLocking=1 -o APT::Sandbox::User="$(id -un)"
  )
  apt-get "${options[@]}" update
  apt-get "${options[@]}" --download-only --no-install-recommends install python3-venv python3-dev libstdc++6 libgomp1
  for package in "$apt"/archives/*.deb; do
    dpkg-deb -x "$package" "$arm64/root"
  done
  # Where packages have their libraries in usr/lib alone, another one has the link.
  [[ -e "$arm64/root/lib" ]] || ln -s usr/lib "$arm64/root/lib"
  rm -rf "$apt"
}

# A virtual environment whose Python is the emulator with the unpacked one, so that tests can start sys.executable.
wrap_arm64_python() {
  local python="$arm64/bin/python"
  mkdir -p "$arm64/bin" "$arm64/lib/$(arm64_python)/site-packages"
  echo "home = $arm64/root/usr/bin" > "$arm64/pyvenv.cfg"
  printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" -0 "%s" "%s" "$@"\n' \
    "$arm64/root" "$python" "$arm64/root/usr/bin/$(arm64_python)" > "$python"
  chmod +x "$python"
}

# The name with the version: python3.11.
arm64_python() { readlink "$arm64/root/usr/bin/python3"; }

build_arm64_extension() {
  local include="$arm64/root/usr/include" numpy
  numpy="$(echo "$arm64"/lib/python3*/site-packages/numpy/_core/include)"
  aarch64-linux-gnu-gcc -shared -fPIC -std=c11 -O3 -Wall -Wextra -Werror \
    -isystem "$include/$(arm64_python)" -isystem "$include" -isystem "$numpy" robot_dynamics_ros/native/call.c \
    -o "robot_dynamics_ros/native/call$("$arm64/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
  CC=aarch64-linux-gnu-gcc PYTHONPATH="$PWD" "$arm64/bin/python" -m robot_dynamics_ros.codegen.library_build
}

compare_with_arm64() {
  local processor
  for processor in newest arm64; do
    say "$processor: models, README's lines and batches"
    PYTHONPATH="$PWD:$PWD/test" ".venv-$processor/bin/python" test/support/code/arm64_bits.py > ".venv-$processor/bits.json"
  done
  if diff .venv-newest/bits.json .venv-arm64/bits.json; then
    summaries+=("arm64: the same bits as on $(uname -m) in $(grep -c '"' .venv-arm64/bits.json) lines of digests")
  else
    summaries+=('arm64: other bits; the lines are above')
    failed=true
  fi
}
