/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pair PARTNER WARM_UP REPETITIONS SIZE...
 *
 * A message of SIZE bytes of ints goes to the other task and comes back, and each int is looked at. What is told is the
 * time of sending (packing and handing over), of receiving (until it is back and unpacked), of verifying, and of all
 * three. WARM_UP messages come first and are not told. The other task runs the program PARTNER, which does what this one does
 * there; - is this one. java/Pair.java is its twin in Java: either may be the other's partner.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/calls.h"
#include "measure.h"

enum { REPETITIONS_MAX = 1000 };

static double send_ns[REPETITIONS_MAX], receive_ns[REPETITIONS_MAX], verify_ns[REPETITIONS_MAX], total_ns[REPETITIONS_MAX];

static void there_and_back(int at, const int *out, int *in, int bytes)
{
    double begin, sent, received, end;
    int i;

    begin = measure_now_ns();
    calls_send(RAW, 1, out, bytes);
    sent = measure_now_ns();
    calls_receive(RAW, 1, in, bytes);
    received = measure_now_ns();
    for (i = 0; i < bytes / 4; i++) {
        if (in[i] != out[i]) {
            fprintf(stderr, "the data are damaged at int %d of %d\n", i, bytes / 4);
            exit(1);
        }
    }
    end = measure_now_ns();
    send_ns[at] = sent - begin;
    receive_ns[at] = received - sent;
    verify_ns[at] = end - received;
    total_ns[at] = end - begin;
}

static void lead(int warm_up, int repetitions, int bytes)
{
    int i, *out = measure_filled(bytes), *in = measure_filled(bytes);

    memset(in, 0, (size_t)bytes);
    for (i = 0; i < warm_up; i++)
        there_and_back(0, out, in, bytes);
    for (i = 0; i < repetitions; i++)
        there_and_back(i, out, in, bytes);
    measure_row("send", bytes, "ns", send_ns, repetitions);
    measure_row("receive", bytes, "ns", receive_ns, repetitions);
    measure_row("verify", bytes, "ns", verify_ns, repetitions);
    measure_row("total", bytes, "ns", total_ns, repetitions);
    free(in);
    free(out);
}

static void answer(int times, int bytes)
{
    int i, *data = measure_filled(bytes);

    for (i = 0; i < times; i++) {
        calls_receive(RAW, 0, data, bytes);
        calls_send(RAW, 0, data, bytes);
    }
    free(data);
}

int main(int argc, char **argv)
{
    int i, me, warm_up, repetitions, bytes;

    if (argc < 5) {
        fprintf(stderr, "pair: see the head of pair.c\n");
        return 2;
    }
    warm_up = atoi(argv[2]);
    repetitions = atoi(argv[3]) < REPETITIONS_MAX ? atoi(argv[3]) : REPETITIONS_MAX;
    if (strcmp(argv[1], "-"))
        calls_partner(argv[1]);
    me = calls_begin(&argc, &argv, 2, DIRECT);
    if (me == 0)
        measure_clock();
    for (i = 4; i < argc; i++) {
        bytes = atoi(argv[i]) / 4 * 4;
        if (me == 0)
            lead(warm_up, repetitions, bytes);
        else
            answer(warm_up + repetitions, bytes);
    }
    calls_end();
    return 0;
}
