/* echo [COUNT]: what a message between two hosts costs its sender and its receiver together, in microseconds: one byte,
   64 KiB, by a direct route, one message behind the other. After a pause of a few milliseconds it would cost 20 to 175
   us more, as long as an idle processor takes to wake, which differs from run to run. Start it on one of two hosts of a
   machine; the hosts share a computer, and so a clock. JSON on a line: medians of COUNT messages (200). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pvm3.h"

#define LONG 65536
#define MOST 1000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void must(int code, const char *what)
{
    if (code < 0) {
        fprintf(stderr, "echo: %s: %d\n", what, code);
        exit(1);
    }
}

static int order(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Sends `count` messages of `size` bytes; the receiver answers each with the time at which it had it. */
static double median(int to, int size, int count)
{
    static double message[LONG / 8], times[MOST];
    for (int i = 0; i < count; i++) {
        int tid, tag, bytes;
        double began = now();
        must(pvm_psend(to, 1, message, size, PVM_BYTE), "pvm_psend");
        double taken;
        must(pvm_precv(to, 2, &taken, 1, PVM_DOUBLE, &tid, &tag, &bytes), "pvm_precv");
        times[i] = taken - began;
    }
    qsort(times, (size_t)count, sizeof *times, order);
    return times[count / 2];
}

static void answer(int to)
{
    static double message[LONG / 8];
    for (;;) {
        int tid, tag, bytes;
        must(pvm_precv(to, 1, message, LONG, PVM_BYTE, &tid, &tag, &bytes), "pvm_precv");
        double taken = now();
        if (bytes == 2)
            return;
        must(pvm_psend(to, 2, &taken, 1, PVM_DOUBLE), "pvm_psend");
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 200, partner, parent = pvm_parent();
    pvm_setopt(PvmRoute, PvmRouteDirect);
    if (count < 1 || count > MOST)
        count = 200;
    if (parent >= 0) {
        answer(parent);
        pvm_exit();
        return 0;
    }
    struct pvmhostinfo *hosts;
    int hosts_count, arches;
    must(pvm_config(&hosts_count, &arches, &hosts), "pvm_config");
    char *arguments[] = {NULL}, own[64];
    int me = pvm_tidtohost(pvm_mytid()), other = 0;
    while (other < hosts_count && hosts[other].hi_tid == me)
        other++;
    if (other == hosts_count) {
        fprintf(stderr, "echo: the machine has one host\n");
        return 1;
    }
    snprintf(own, sizeof own, "%s", hosts[other].hi_name);
    if (pvm_spawn(argv[0], arguments, PvmTaskHost, own, 1, &partner) != 1) {
        fprintf(stderr, "echo: %s was not started on %s\n", argv[0], own);
        return 1;
    }
    median(partner, 1, 20); /* the route is there afterwards */
    double short_us = median(partner, 1, count), long_us = median(partner, LONG, count);
    printf("{\"short_us\": %.2f, \"long_us\": %.2f, \"bytes\": %d}\n", short_us, long_us, LONG);
    char two[2] = {0}; /* the end */
    must(pvm_psend(partner, 1, two, 2, PVM_BYTE), "pvm_psend");
    pvm_exit();
    return 0;
}
