/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The C half of benchmarks/python: what pair.py does, with the calls of C. Prints one line:
 *     pack_ns unpack_ns round_us array_us
 * a call that packs one double, one that unpacks one, a round of a small message, and a round of an array of
 * 8 MB one way with a small answer. Medians of the repetitions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "pvm3.h"

enum { CALLS = 10000, ROUNDS = 2000, ARRAYS = 60, REPEAT = 9, COUNT = 1000000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, by_size);
    return times[n / 2];
}

static void echo(int master, double *array)
{
    double x;
    int i;

    for (i = 0; i < REPEAT * ROUNDS; i++) {
        pvm_recv(master, 1);
        pvm_upkdouble(&x, 1, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(&x, 1, 1);
        pvm_send(master, 2);
    }
    for (i = 0; i < ARRAYS; i++) {
        pvm_recv(master, 3);
        pvm_upkdouble(array, COUNT, 1);
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(&x, 1, 1);
        pvm_send(master, 2);
    }
}

int main(int argc, char **argv)
{
    static double array[COUNT];
    double pack[REPEAT], unpack[REPEAT], round[REPEAT], whole[ARRAYS], x = 0.5, start;
    int me = pvm_mytid(), parent = pvm_parent(), other, i, r;

    (void)argc;
    /* Memory that was never written is one page of zeros in the cache. */
    for (i = 0; i < COUNT; i++)
        array[i] = i;
    if (parent > 0) {
        echo(parent, array);
        pvm_exit();
        return 0;
    }
    for (r = 0; r < REPEAT; r++) {
        pvm_initsend(PvmDataDefault);
        start = now_s();
        for (i = 0; i < CALLS; i++)
            pvm_pkdouble(&x, 1, 1);
        pack[r] = (now_s() - start) / CALLS;
        pvm_send(me, 1);
        pvm_recv(me, 1);
        start = now_s();
        for (i = 0; i < CALLS; i++)
            pvm_upkdouble(&x, 1, 1);
        unpack[r] = (now_s() - start) / CALLS;
    }
    if (pvm_spawn(argv[0], NULL, 0, NULL, 1, &other) != 1)
        return 1;
    for (r = 0; r < REPEAT; r++) {
        start = now_s();
        for (i = 0; i < ROUNDS; i++) {
            pvm_initsend(PvmDataDefault);
            pvm_pkdouble(&x, 1, 1);
            pvm_send(other, 1);
            pvm_recv(other, 2);
            pvm_upkdouble(&x, 1, 1);
        }
        round[r] = (now_s() - start) / ROUNDS;
    }
    for (r = 0; r < ARRAYS; r++) {
        start = now_s();
        pvm_initsend(PvmDataInPlace);
        pvm_pkdouble(array, COUNT, 1);
        pvm_send(other, 3);
        pvm_recv(other, 2);
        whole[r] = now_s() - start;
    }
    printf("%.1f %.1f %.3f %.1f\n", 1e9 * median(pack, REPEAT), 1e9 * median(unpack, REPEAT),
           1e6 * median(round, REPEAT), 1e6 * median(whole, ARRAYS));
    pvm_exit();
    return 0;
}
