/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* flags: -std=gnu89 -fcommon */
/* p4_global_op with every operation by name and with one of our own, and clusters. */
#include <math.h>

#include "check.h"
#include "p4.h"

#define COUNT 1003

static int me, all;

static int int_of(int rank, int i)
{
    return (i * 7 + rank * 13) % 23 - 11;
}

typedef void (*operation)(char *, char *, int);

static double by_hand(int kind, int i)
{
    double result = int_of(0, i);
    int rank;
    if (kind >= 4)
        result = fabs(result);
    for (rank = 1; rank < all; rank++) {
        double other = int_of(rank, i);
        if (kind >= 4)
            other = fabs(other);
        result = kind == 0                   ? result + other
                 : kind == 1                 ? result * other
                 : kind == 2 || kind == 4    ? (other > result ? other : result)
                                             : (other < result ? other : result);
    }
    /* Of one process nothing is combined. */
    return all == 1 ? int_of(0, i) : result;
}

static void named(void)
{
    static const operation ints[] = {p4_int_sum_op, p4_int_mult_op, p4_int_max_op, p4_int_min_op, p4_int_absmax_op, p4_int_absmin_op};
    static const operation dbls[] = {p4_dbl_sum_op, p4_dbl_mult_op, p4_dbl_max_op, p4_dbl_min_op, p4_dbl_absmax_op, p4_dbl_absmin_op};
    static const operation flts[] = {p4_flt_sum_op, p4_flt_mult_op, p4_flt_max_op, p4_flt_min_op, p4_flt_absmax_op, p4_flt_absmin_op};
    static int x[COUNT];
    static double d[COUNT];
    static float f[COUNT];
    int kind, i;
    for (kind = 0; kind < 6; kind++) {
        for (i = 0; i < COUNT; i++) {
            x[i] = int_of(me, i);
            d[i] = int_of(me, i);
            f[i] = (float)int_of(me, i);
        }
        CHECK(p4_global_op(500, x, COUNT, sizeof *x, ints[kind], P4INT) == 0);
        CHECK(p4_global_op(501, d, COUNT, sizeof *d, dbls[kind], P4DBL) == 0);
        CHECK(p4_global_op(502, f, COUNT, sizeof *f, flts[kind], P4FLT) == 0);
        for (i = 0; i < COUNT; i++) {
            CHECK(x[i] == (int)(long)by_hand(kind, i));
            CHECK(d[i] == by_hand(kind, i));
            CHECK(fabs(f[i] - by_hand(kind, i)) <= 1e-6 * fabs(by_hand(kind, i)));
        }
    }
}

/* K&R style, and pairs of numbers, whose type the library does not know. */
static void larger_pair(x, y, nelem)
char *x, *y;
int nelem;
{
    int i;
    for (i = 0; i < nelem; i++) {
        int *a = (int *)x + 2 * i, *b = (int *)y + 2 * i;
        if (b[0] > a[0]) {
            a[0] = b[0];
            a[1] = b[1];
        }
    }
}

static void own_operation(void)
{
    int pairs[20], i;
    for (i = 0; i < 10; i++) {
        pairs[2 * i] = (me * 5 + i * 3) % all;
        pairs[2 * i + 1] = pairs[2 * i] * 100;
    }
    CHECK(p4_global_op(503, pairs, 10, 2 * sizeof(int), larger_pair, P4NOX) == 0);
    for (i = 0; i < 10; i++)
        CHECK(pairs[2 * i + 1] == pairs[2 * i] * 100 && pairs[2 * i] < all);
    CHECK(p4_global_op(504, pairs, 0, sizeof(int), p4_int_sum_op, P4INT) == 0);
}

static void clusters(void)
{
    int first = -1, last = -1, count = 0, i, masters[100];
    void *pointer = NULL;
    p4_get_cluster_ids(&first, &last);
    CHECK(first <= me && me <= last);
    CHECK(p4_get_my_cluster_id() == me - first);
    CHECK(p4_num_cluster_ids() == last - first + 1);
    CHECK(p4_am_i_cluster_master() == (me == first));
    p4_get_cluster_masters(&count, masters);
    CHECK(count >= 1 && masters[0] == 0);
    for (i = 0; i < count && masters[i] != first; i++)
        ;
    CHECK(i < count);
    for (i = 0; i < 3; i++) {
        if (p4_am_i_cluster_master()) {
            int *numbers = (int *)p4_shmalloc(100 * sizeof(int));
            numbers[0] = 1000 + first + i;
            pointer = numbers;
        }
        p4_cluster_shmem_sync(&pointer);
        CHECK(*(int *)pointer == 1000 + first + i);
    }
    p4_global_barrier(505);
    if (me == 0)
        printf("ok %d clusters\n", count);
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    CHECK(p4_get_my_id() >= 0);
    p4_create_procgroup();
    me = p4_get_my_id();
    all = p4_num_total_ids();
    named();
    own_operation();
    clusters();
    p4_wait_for_end();
    return 0;
}
