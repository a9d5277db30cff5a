/* SPDX-License-Identifier: Apache-2.0
 *
 * How a program of machine code computes states in rows: for calls from Python (call.c), and for compiled functions
 * (library.c).
 */

#ifndef ROBOT_DYNAMICS_ROS_RUN_H
#define ROBOT_DYNAMICS_ROS_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_WORDS = 128 };

/* Machine code: of each argument it has a word, an address or an integer, those of ``fixed`` arguments and of ``given``
 * ones. Code of one state returns whether all numbers are finite, if it checks that; so does that of ``count`` states in
 * whole blocks, whose results bypass the caches if ``streamed``. */
typedef int64_t (*Code)(const int64_t *fixed, const int64_t *given);
typedef int64_t (*BlocksCode)(const int64_t *given, int64_t count, int64_t streamed);

/* A function of the library: what it was made from, and its code for each level of processors, the simplest first. */
enum { LEVELS = 2 };
typedef struct {
    const char *name, *digest;
    Code code[LEVELS];
} Function;

/* How states are computed, an array of integers that ``codegen.states_code`` makes: by steps, one state after the other,
 * and by code for blocks of ``lanes`` states, if there is some. Words are address, address of the fixed words, and first
 * argument of each step; then the base of each argument, a number of bytes for each, and the number of bytes from one state to the next. */
typedef struct {
    int64_t steps, arguments, blocks, lanes, word[];
} Program;
enum { GIVEN, RUNTIME, RESULT, VECTOR };

/* Compute states in rows at the addresses; return whether the code found all numbers finite. */
static bool run(double *const *vectors, const double *runtime_inputs, double *result, int64_t count,
                const Program *program, int64_t streamed)
{
    const int64_t arguments = program->arguments, *step = program->word, *of_base = step + 3 * program->steps;
    const int64_t *offset = of_base + arguments, *stride = offset + arguments;
    const int64_t base[VECTOR] = {0, (intptr_t)runtime_inputs, (intptr_t)result};
    int64_t places[MOST_WORDS];
    bool finite = true;
    for (int64_t k = 0; k < arguments; k++)
        places[k] = offset[k] + (of_base[k] < VECTOR ? base[of_base[k]] : (intptr_t)vectors[of_base[k] - VECTOR]);
    if (program->blocks && count >= program->lanes) {
        const int64_t whole = count & -program->lanes; /* a power of two */
        finite = ((BlocksCode)(intptr_t)program->blocks)(places, whole, streamed) != 0;
        for (int64_t k = 0; k < arguments; k++)
            places[k] += whole * stride[k];
        count -= whole;
    }
    while (count > 0) {
        for (int64_t k = 0; k < program->steps; k++)
            finite &= ((Code)(intptr_t)step[3 * k])((int64_t *)(intptr_t)step[3 * k + 1], places + step[3 * k + 2]) != 0;
        if (--count > 0)
            for (int64_t k = 0; k < arguments; k++)
                places[k] += stride[k];
    }
    return finite;
}

#endif
