// SPDX-License-Identifier: Apache-2.0
// The core as one source file: each test compiles it once.
#include "../src/compensation.cpp"
#include "../src/dynamics_library.cpp"
#include "../src/effort_law.cpp"
#include "../src/inertial_parameters.cpp"
#include "../src/joint_feedback.cpp"
#include "../src/payload_gravity.cpp"
#include "../src/presets.cpp"
#include "../src/ramp_progress.cpp"
#include "../src/ramps.cpp"
#include "../src/torque_limiter.cpp"
#include "../src/torque_transitions.cpp"
