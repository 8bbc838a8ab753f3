/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* p4 ITERATIONS SIZE...: the program of the report's P4 1.2, table A.4. */
#include <p4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../measure.h"

static int MTYP_3 = 3, MTYP_4 = 4, MTYP_5 = 5;

static void ping(int iterations, char *buffer, char *incoming, int buff_size_bytes, double *times)
{
    int iters, size, other = 1;

    for (iters = 0; iters < iterations; iters++) {
        double t0 = measure_now_ns();

        p4_sendb(MTYP_4, other, buffer, buff_size_bytes);
        p4_rcv(&MTYP_5, &other, &incoming, &size);
        times[iters] = measure_now_ns() - t0;
    }
}

static void pong(int iterations, char *buffer, int buff_size_bytes)
{
    int iters, size, other = 0;

    for (iters = iterations; iters-- > 0;) {
        p4_rcv(&MTYP_4, &other, &buffer, &size);
        p4_sendb(MTYP_5, other, buffer, buff_size_bytes);
    }
}

static char *allocated(int size)
{
    int *pattern = measure_filled(size);
    char *buffer = p4_msg_alloc(size);

    memcpy(buffer, pattern, (size_t)size);
    free(pattern);
    return buffer;
}

static void measure(int iterations, int size)
{
    char *buffer = allocated(size), *incoming = allocated(size);
    double *times = calloc((size_t)iterations, sizeof *times);

    p4_global_barrier(MTYP_3);
    if (p4_get_my_id() == 0)
        ping(iterations, buffer, incoming, size, times);
    else
        pong(iterations, buffer, size);
    measure_check((int *)(p4_get_my_id() == 0 ? incoming : buffer), size / 4 * 4);
    if (p4_get_my_id() == 0)
        measure_row("kernel", size, "ns", times, iterations);
    free(times);
    p4_msg_free(buffer);
    p4_msg_free(incoming);
}

int main(int argc, char **argv)
{
    int i;

    p4_initenv(&argc, argv);
    if (argc < 3) {
        fprintf(stderr, "p4: see the head of two-nodes/p4.c\n");
        return 2;
    }
    if (p4_get_my_id() == 0)
        p4_create_procgroup();
    if (p4_get_my_id() == 0) /* a process of the same host comes out of that call, too */
        measure_clock();
    for (i = 2; i < argc; i++)
        measure(atoi(argv[1]), atoi(argv[i]));
    p4_wait_for_end();
    return 0;
}
