/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * linpack SECONDS
 *
 * Solves systems of linear equations of order 100 with plain loops (columns are added to columns, one after the other) and of
 * order 1000 with a blocked factorization, in double and in single precision; each as often as SECONDS allow, at least
 * three times. A solve counts 2/3 n^3 + 2 n^2 operations. What is told is Mflop/s of each solve, and MHz as measured by a
 * chain of additions. The residual max|Ax - b| / (n max|A| max|x| eps) must be below 16, or the program ends with status 1.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "measure.h"

enum { SOLVES_MAX = 2000, SOLVES_MIN = 3, BLOCK = 64 };

/* Rows whose sums stay in registers. */
#define STRIP ((int)(128 / sizeof(REAL)))

#define REAL double
#define NAME(x) x##_double
#define EPSILON DBL_EPSILON
#include "linpack_lu.h"
#undef REAL
#undef NAME
#undef EPSILON
#define REAL float
#define NAME(x) x##_float
#define EPSILON FLT_EPSILON
#include "linpack_lu.h"

/* One addition waits for the one before it and takes a cycle; the compiler may not join them. */
static void clock_rate(void)
{
    enum { ADDITIONS = 1000000 }; /* short enough to go undisturbed now and then */
    double best = 0, begin, mhz;
    unsigned long x;
    int round, i;

    for (round = 0; round < 400; round++) {
        x = 1;
        begin = measure_now_ns();
        for (i = 0; i < ADDITIONS / 8; i++) {
#define ADD __asm__ volatile("" : "+r"(x)); x += (unsigned long)i;
            ADD ADD ADD ADD ADD ADD ADD ADD
#undef ADD
        }
        mhz = 1e3 * ADDITIONS / (measure_now_ns() - begin);
        best = x && mhz > best ? mhz : best;
    }
    measure_row("clock", 0, "MHz", &best, 1);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;

    clock_rate();
    solve_all_double("plain double", 100, seconds, 0);
    solve_all_double("blocked double", 1000, seconds, 1);
    solve_all_float("plain single", 100, seconds, 0);
    solve_all_float("blocked single", 1000, seconds, 1);
    return 0;
}
