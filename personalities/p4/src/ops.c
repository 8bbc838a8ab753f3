/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The operations by name, for C and for Fortran: x becomes x op y, element by element. */
#include <math.h>
#include <stdlib.h>

#include "export.h"
#include "process.h"

/* What has no positive counterpart stays as it is. */
static int int_abs(int value)
{
    return value < 0 ? (int)(0u - (unsigned)value) : value;
}

static double dbl_abs(double value)
{
    return fabs(value);
}

static float flt_abs(float value)
{
    return fabsf(value);
}

/* Integers that overflow go round, as the machines of p4's time did. */
#define INT_SUM(a, b) ((int)((unsigned)(a) + (unsigned)(b)))
#define INT_MULT(a, b) ((int)((unsigned)(a) * (unsigned)(b)))
#define PLAIN_SUM(a, b) ((a) + (b))
#define PLAIN_MULT(a, b) ((a) * (b))
#define LARGER(a, b) ((b) > (a) ? (b) : (a))
#define SMALLER(a, b) ((b) < (a) ? (b) : (a))

#define OPERATION(type, c_name, fortran_name, value)                                                                    \
    static void do_##c_name(void *into, const void *from, int nelem)                                                   \
    {                                                                                                                  \
        type *x = into;                                                                                                \
        const type *y = from;                                                                                          \
        for (int i = 0; i < nelem; i++)                                                                                \
            x[i] = value;                                                                                              \
    }                                                                                                                  \
    P4_API void c_name(char *x, char *y, int nelem)                                                                    \
    {                                                                                                                  \
        do_##c_name(x, y, nelem);                                                                                      \
    }                                                                                                                  \
    P4_API void fortran_name(void *x, const void *y, const int *nelem);                                                \
    P4_API void fortran_name(void *x, const void *y, const int *nelem)                                                 \
    {                                                                                                                  \
        do_##c_name(x, y, *nelem);                                                                                     \
    }

OPERATION(int, p4_int_sum_op, p4intsumop_, INT_SUM(x[i], y[i]))
OPERATION(int, p4_int_mult_op, p4intmultop_, INT_MULT(x[i], y[i]))
OPERATION(int, p4_int_max_op, p4intmaxop_, LARGER(x[i], y[i]))
OPERATION(int, p4_int_min_op, p4intminop_, SMALLER(x[i], y[i]))
OPERATION(int, p4_int_absmax_op, p4intabsmaxop_, LARGER(int_abs(x[i]), int_abs(y[i])))
OPERATION(int, p4_int_absmin_op, p4intabsminop_, SMALLER(int_abs(x[i]), int_abs(y[i])))
OPERATION(double, p4_dbl_sum_op, p4dblsumop_, PLAIN_SUM(x[i], y[i]))
OPERATION(double, p4_dbl_mult_op, p4dblmultop_, PLAIN_MULT(x[i], y[i]))
OPERATION(double, p4_dbl_max_op, p4dblmaxop_, LARGER(x[i], y[i]))
OPERATION(double, p4_dbl_min_op, p4dblminop_, SMALLER(x[i], y[i]))
OPERATION(double, p4_dbl_absmax_op, p4dblabsmaxop_, LARGER(dbl_abs(x[i]), dbl_abs(y[i])))
OPERATION(double, p4_dbl_absmin_op, p4dblabsminop_, SMALLER(dbl_abs(x[i]), dbl_abs(y[i])))
OPERATION(float, p4_flt_sum_op, p4fltsumop_, PLAIN_SUM(x[i], y[i]))
OPERATION(float, p4_flt_mult_op, p4fltmultop_, PLAIN_MULT(x[i], y[i]))
OPERATION(float, p4_flt_max_op, p4fltmaxop_, LARGER(x[i], y[i]))
OPERATION(float, p4_flt_min_op, p4fltminop_, SMALLER(x[i], y[i]))
OPERATION(float, p4_flt_absmax_op, p4fltabsmaxop_, LARGER(flt_abs(x[i]), flt_abs(y[i])))
OPERATION(float, p4_flt_absmin_op, p4fltabsminop_, SMALLER(flt_abs(x[i]), flt_abs(y[i])))

int is_own_operation(P4_FUNCTION(void, op, (char *, char *, int)))
{
    static P4_FUNCTION(void, own[], (char *, char *, int)) = {
        p4_int_sum_op,    p4_int_mult_op,   p4_int_max_op,    p4_int_min_op,    p4_int_absmax_op, p4_int_absmin_op,
        p4_dbl_sum_op,    p4_dbl_mult_op,   p4_dbl_max_op,    p4_dbl_min_op,    p4_dbl_absmax_op, p4_dbl_absmin_op,
        p4_flt_sum_op,    p4_flt_mult_op,   p4_flt_max_op,    p4_flt_min_op,    p4_flt_absmax_op, p4_flt_absmin_op,
    };
    for (size_t at = 0; at < sizeof own / sizeof *own; at++)
        if (op == own[at])
            return 1;
    return 0;
}
