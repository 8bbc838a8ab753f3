/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The clock, and the random numbers of RNR-94-007, section 2.3: x(k+1) = a x(k) mod 2^46. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <time.h>

#include "nas.h"

#define MASK ((UINT64_C(1) << 46) - 1)
#define SCALE (1.0 / (double)(UINT64_C(1) << 46))

double nas_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A product modulo 2^64 keeps its lower 46 bits, so one multiplication and a mask do. */
double nas_random(double *seed, double factor)
{
    uint64_t x = ((uint64_t)factor * (uint64_t)*seed) & MASK;
    *seed = (double)x;
    return SCALE * (double)x;
}

/* Four strands, each four steps apart: x(k+4) = a^4 x(k), which the processor works on at once. */
void nas_randoms(int count, double *seed, double factor, double *out)
{
    uint64_t a = (uint64_t)factor, x = (uint64_t)*seed, strand[4];
    uint64_t a4 = a * a * a * a;
    int i = 0;
    strand[0] = (x * a) & MASK;
    for (int k = 1; k < 4; k++)
        strand[k] = (strand[k - 1] * a) & MASK;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++) {
            out[i + k] = SCALE * (double)(int64_t)strand[k];
            x = strand[k];
            strand[k] = (x * a4) & MASK;
        }
    for (int k = 0; i < count; i++, k++) {
        x = strand[k];
        out[i] = SCALE * (double)(int64_t)x;
    }
    *seed = (double)x;
}

/* a^steps x mod 2^46 by squaring. */
double nas_seed_after(double seed, double factor, long steps)
{
    uint64_t x = (uint64_t)seed, power = (uint64_t)factor;
    for (; steps > 0; steps >>= 1) {
        if (steps & 1)
            x = (x * power) & MASK;
        power = (power * power) & MASK;
    }
    return (double)x;
}
