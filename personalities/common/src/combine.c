/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The operations of all interfaces' reductions, for each type of item. */
#include "state.h"

#include <math.h>
#include <stdlib.h>

#define EACH(type, name, expression)                                                       \
    static void name##_##type(void *into, const void *from, uint64_t count, void *with)    \
    {                                                                                      \
        type *restrict x = into;                                                           \
        const type *restrict y = from;                                                     \
        (void)with;                                                                        \
        for (uint64_t i = 0; i < count; i++)                                               \
            x[i] = (expression);                                                           \
    }

/* Sums and products of integers wrap, as those of the old machines did. */
#define WRAPPED(type, unsigned_type, operator) (type)((unsigned_type)x[i] operator(unsigned_type) y[i])
#define MAGNITUDE(type, unsigned_type, value) \
    ((value) < 0 ? (type)((unsigned_type)0 - (unsigned_type)(value)) : (value))

#define INTEGERS(type, unsigned_type)                                                                            \
    EACH(type, sum, WRAPPED(type, unsigned_type, +))                                                             \
    EACH(type, product, WRAPPED(type, unsigned_type, *))                                                         \
    EACH(type, absmax, MAGNITUDE(type, unsigned_type, x[i]) < MAGNITUDE(type, unsigned_type, y[i])               \
                           ? MAGNITUDE(type, unsigned_type, y[i])                                                \
                           : MAGNITUDE(type, unsigned_type, x[i]))                                               \
    EACH(type, absmin, MAGNITUDE(type, unsigned_type, x[i]) > MAGNITUDE(type, unsigned_type, y[i])               \
                           ? MAGNITUDE(type, unsigned_type, y[i])                                                \
                           : MAGNITUDE(type, unsigned_type, x[i]))                                               \
    EACH(type, bit_and, x[i] & y[i])                                                                             \
    EACH(type, bit_or, x[i] | y[i])                                                                              \
    EACH(type, bit_xor, x[i] ^ y[i])                                                                             \
    EACH(type, both, x[i] && y[i])                                                                               \
    EACH(type, either, x[i] || y[i])

#define REALS(type, magnitude)                                                                           \
    EACH(type, sum, x[i] + y[i])                                                                         \
    EACH(type, product, x[i] * y[i])                                                                     \
    EACH(type, absmax, magnitude(x[i]) < magnitude(y[i]) ? magnitude(y[i]) : magnitude(x[i]))            \
    EACH(type, absmin, magnitude(x[i]) > magnitude(y[i]) ? magnitude(y[i]) : magnitude(x[i]))

#define ORDERED(type)                            \
    EACH(type, most, x[i] < y[i] ? y[i] : x[i])  \
    EACH(type, least, x[i] > y[i] ? y[i] : x[i])

INTEGERS(int, unsigned)
INTEGERS(long, unsigned long)
REALS(float, fabsf)
REALS(double, fabs)
ORDERED(int)
ORDERED(long)
ORDERED(float)
ORDERED(double)

#define OF(type) {sum_##type, product_##type, most_##type, least_##type, absmax_##type, absmin_##type
#define BITS(type) , bit_and_##type, bit_or_##type, bit_xor_##type, both_##type, either_##type}
#define NO_BITS , NULL, NULL, NULL, NULL, NULL}

static const job_combine combining[4][11] = {OF(int) BITS(int), OF(long) BITS(long), OF(float) NO_BITS,
                                             OF(double) NO_BITS};

job_combine job_combining(enum job_item item, enum job_operation operation)
{
    return item <= JOB_DOUBLE && operation <= JOB_OR ? combining[item][operation] : NULL;
}

uint64_t job_item_bytes(enum job_item item)
{
    static const uint64_t bytes[] = {sizeof(int), sizeof(long), sizeof(float), sizeof(double)};
    return item <= JOB_DOUBLE ? bytes[item] : 0;
}
