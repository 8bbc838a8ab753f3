/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * loop REPETITIONS ADDITIONS: the time of a loop of additions. java/Loop.java is its twin in Java.
 */
#include <stdio.h>
#include <stdlib.h>
#include "measure.h"

enum { REPETITIONS_MAX = 1000 };

int main(int argc, char **argv)
{
    static double times[REPETITIONS_MAX];
    int i, repetitions, loop, additions;
    unsigned sum = 0;

    if (argc < 3) {
        fprintf(stderr, "loop: see the head of loop.c\n");
        return 2;
    }
    repetitions = atoi(argv[1]) < REPETITIONS_MAX ? atoi(argv[1]) : REPETITIONS_MAX;
    additions = atoi(argv[2]);
    for (i = 0; i < repetitions; i++) {
        double begin = measure_now_ns();
        for (loop = 0; loop < additions; loop++)
            sum += (unsigned)loop;
        times[i] = (measure_now_ns() - begin) / 1e9;
    }
    /* Without a use of it nothing would be added. */
    fprintf(stderr, "the sum is %u\n", sum);
    measure_row("loop", additions, "s", times, repetitions);
    return 0;
}
