/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvm2 WORKER CALLS PACKING ITERATIONS SIZE...
 *
 * The master of the report's PVM 2.4.1. CALLS is vsnd or snd, PACKING packed (table A.6, A.7) or unpacked (A.8): then the
 * buffers are filled before the loop. WORKER is the other program, two-nodes/pvm2_worker.c.
 */
#include <pvmuser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../measure.h"
#include "pvm2.h"

static char *worker_name;

static void send(int direct)
{
    if (direct)
        must(vsnd(worker_name, 0, MSGTYPE), "vsnd");
    else
        must(snd(worker_name, 0, MSGTYPE), "snd");
}

static void fill(const char *buffer, int size)
{
    must(initsend(), "initsend");
    must(putbytes((char *)buffer, size), "putbytes");
}

static void ping(const struct plan *plan, char *buffer, int size, double *times)
{
    int iters;

    if (!plan->packed)
        fill(buffer, size);
    for (iters = 0; iters < plan->iterations; iters++) {
        double t0 = measure_now_ns();

        if (plan->packed)
            fill(buffer, size);
        send(plan->direct);
        must(plan->direct ? vrcv(MSGTYPE) : rcv(MSGTYPE), "rcv");
        if (plan->packed)
            must(getbytes(buffer, size), "getbytes");
        times[iters] = measure_now_ns() - t0;
    }
}

static void measure(const struct plan *plan, int size)
{
    int *buffer = measure_filled(size);
    double *times = calloc((size_t)plan->iterations, sizeof *times);

    fill((const char *)plan, sizeof *plan);
    must(putnint(&size, 1), "putnint");
    send(0);
    must(waituntil("synchcalled"), "waituntil");
    ping(plan, (char *)buffer, size, times);
    measure_check(buffer, size);
    measure_row("kernel", size, "ns", times, plan->iterations);
    free(times);
    free(buffer);
}

int main(int argc, char **argv)
{
    struct plan plan;
    int i;

    if (argc < 6) {
        fprintf(stderr, "pvm2: see the head of two-nodes/pvm2.c\n");
        return 2;
    }
    plan.direct = !strcmp(argv[2], "vsnd");
    plan.packed = !strcmp(argv[3], "packed");
    plan.iterations = atoi(argv[4]);
    must(enroll("pvm_time"), "enroll");
    worker_name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    must(initiate(argv[1], "SUN4"), "initiate");
    measure_clock();
    for (i = 5; i < argc; i++)
        measure(&plan, atoi(argv[i]));
    plan.iterations = 0;
    fill((const char *)&plan, sizeof plan);
    must(putnint(&plan.iterations, 1), "putnint");
    send(0);
    return leave() != PvmOk;
}
