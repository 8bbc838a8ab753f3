/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The clock, and the random numbers of RNR-94-007, section 2.3: x(k+1) = a x(k) mod 2^46. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <time.h>

#if defined(__has_include)
#if __has_include("neopvm.h")
#include "neopvm.h"
#endif
#endif

#include "nas.h"

#define MASK ((UINT64_C(1) << 46) - 1)
#define SCALE (1.0 / (double)(UINT64_C(1) << 46))

/* For those who record the program: its timed section. Other systems have no such call. */
void nas_timed(int begins)
{
#ifdef NEOPVM_INTERFACE
    neopvm_state(begins ? "timed" : NULL);
#else
    (void)begins;
#endif
}

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

/* Strands of the sequence, each 16 steps apart: x(k+16) = a^16 x(k), so that the processor's
 * vector unit works on all at once. */
enum { STRANDS = 16 };

static void begin_strands(uint64_t *strand, uint64_t x, uint64_t a)
{
    for (int k = 0; k < STRANDS; k++)
        strand[k] = x = (x * a) & MASK;
}

void nas_randoms(int count, double *seed, double factor, double *out)
{
    uint64_t strand[STRANDS], a = (uint64_t)factor, leap = 1;
    int i = 0;
    begin_strands(strand, (uint64_t)*seed, a);
    for (int k = 0; k < STRANDS; k++)
        leap *= a;
    for (; i + STRANDS <= count; i += STRANDS)
        for (int k = 0; k < STRANDS; k++) {
            out[i + k] = SCALE * (double)(int64_t)strand[k];
            strand[k] = (strand[k] * leap) & MASK;
        }
    for (int k = 0; i + k < count; k++)
        out[i + k] = SCALE * (double)(int64_t)strand[k];
    if (count > 0)
        *seed = out[count - 1] / SCALE;
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
