/*
 * Workers that hold many tuples at once and are killed at chance moments, in the middle of the step that ends their claims,
 * too: under ntsnet -claim all of a worker's tuples come back, or all are done with and its result is there.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PARTS 60

static int worker(int round)
{
    int i, part;
    out("pid", getpid());
    for (i = 0; i < PARTS; i++)
        in("part", ?part);
    out("whole", round);
    for (;;)
        pause();
    return part;
}

/* 1 if all parts are there again, 0 if the whole is; waits until it is one of both. */
static int came_back(int round)
{
    int i;
    for (;; usleep(500)) {
        if (inp("whole", round))
            return 0;
        for (i = 0; i < PARTS && rdp("part", i); i++)
            ;
        if (i == PARTS)
            return 1;
    }
}

static long microseconds(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000L + at.tv_nsec / 1000;
}

int real_main(int argc, char **argv)
{
    int rounds = atoi(argv[1]), back = 0, bad = 0, round, i, pid;
    unsigned chance = 7;
    long begun, whole = 0;
    (void)argc;
    for (i = 0; i < PARTS; i++)
        out("part", i);
    for (round = 0; round < rounds; round++) {
        eval("worker", worker(round));
        in("pid", ?pid);
        /* The first one ends its work: the moments of the others are chosen by how long it took. */
        begun = microseconds();
        if (round == 0) {
            rd("whole", round);
            whole = microseconds() - begun;
        } else {
            chance = chance * 1103515245u + 12345u;
            while (microseconds() - begun < whole * 5 / 4 * (chance >> 16 & 1023) / 1024)
                ;
        }
        kill(pid, SIGKILL);
        if (came_back(round)) {
            back++;
            bad += inp("whole", ?int);
            continue;
        }
        bad += inp("part", ?int);
        for (i = 0; i < PARTS; i++)
            out("part", i);
    }
    for (i = 0; i < PARTS; i++)
        in("part", i);
    bad += inp("part", ?int);
    printf("%s: %d of %d workers gave their tuples back\n", bad ? "wrong" : "ok", back, rounds);
    return bad;
}
