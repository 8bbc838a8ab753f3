/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* tcgmsg ITERATIONS SIZE...: the program of the report's TCGMSG 4.02, table A.9. With GLOBAL_ARRAYS it is built with the
 * library of Global Arrays, which has kept the calls by their values. */
#ifdef GLOBAL_ARRAYS
#include <tcgmsg.h>
#define SND_(type, buffer, length, node, sync) tcg_snd(*(type), buffer, *(length), *(node), *(sync))
#define RCV_(type, buffer, room, length, node, from, sync) \
    tcg_rcv(*(type), buffer, *(room), length, *(node), from, *(sync))
#define SYNCH_(type) tcg_synch(*(type))
#define NODEID_() tcg_nodeid()
#define PBEGIN_(argc, argv) tcg_pbegin(argc, argv)
#define PEND_() tcg_pend()
#else
#include <sndrcv.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include "../measure.h"

static long MTYP_1 = 1, MTYP_2 = 2, SYNC = 1;
static long other, lenmes, nodefrom;

static void ping(long iterations, int *buffer, long buff_size_bytes, double *times)
{
    long iters;

    other = 1;
    for (iters = 0; iters < iterations; iters++) {
        double t0 = measure_now_ns();

        SND_(&MTYP_2, buffer, &buff_size_bytes, &other, &SYNC);
        RCV_(&MTYP_2, buffer, &buff_size_bytes, &lenmes, &other, &nodefrom, &SYNC);
        times[iters] = measure_now_ns() - t0;
    }
}

static void pong(long iterations, int *buffer, long buff_size_bytes)
{
    long iters;

    other = 0;
    for (iters = iterations; iters-- > 0;) {
        RCV_(&MTYP_2, buffer, &buff_size_bytes, &lenmes, &other, &nodefrom, &SYNC);
        SND_(&MTYP_2, buffer, &buff_size_bytes, &other, &SYNC);
    }
}

static void measure(long id, int iterations, int size)
{
    int *buffer = measure_filled(size);
    double *times = calloc((size_t)iterations, sizeof *times);

    SYNCH_(&MTYP_1);
    if (id == 0)
        ping(iterations, buffer, size, times);
    else
        pong(iterations, buffer, size);
    measure_check(buffer, size);
    if (id == 0)
        measure_row("kernel", size, "ns", times, iterations);
    free(times);
    free(buffer);
}

int main(int argc, char **argv)
{
    long id;
    int i;

    PBEGIN_(argc, argv);
    id = NODEID_();
    if (argc < 3) {
        fprintf(stderr, "tcgmsg: see the head of two-nodes/tcgmsg.c\n");
        return 2;
    }
    if (id == 0)
        measure_clock();
    for (i = 2; i < argc; i++)
        measure(id, atoi(argv[1]), atoi(argv[i]));
    PEND_();
    return 0;
}
