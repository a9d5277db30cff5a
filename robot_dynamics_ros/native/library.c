/* SPDX-License-Identifier: Apache-2.0
 *
 * What compiled functions of the library call in C; codegen/library_build.py links it with them.
 */

#include "run.h"

bool robot_dynamics_ros_run(double *const *vectors, const double *runtime_inputs, double *result, int64_t count,
                            const Program *program, int64_t streamed)
{
    return run(vectors, runtime_inputs, result, count, program, streamed);
}
