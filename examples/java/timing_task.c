/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The C partner of samples.timing.TimingTask: without an argument it sends back what it gets; with the id of a task, of
 * either language, it sends to that one and prints per loop: number, ms to send, until it is back, to verify, in all.
 * Both partners must be built with the same SIZE (ints per message) and LOOPS.
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#ifndef SIZE
#define SIZE 1000
#endif
#ifndef LOOPS
#define LOOPS 1000
#endif

static int sent_items[SIZE], back[SIZE];

static int checked(int result, char *what)
{
    if (result < 0) {
        pvm_perror(what);
        exit(1);
    }
    return result;
}

static long now_ms(void)
{
    struct timeval now;

    gettimeofday(&now, NULL);
    return now.tv_sec * 1000L + now.tv_usec / 1000;
}

static void send_items(int *items, int to)
{
    checked(pvm_initsend(PvmDataRaw), "initsend");
    checked(pvm_pkint(items, SIZE, 1), "pkint");
    checked(pvm_send(to, 1), "send");
}

int main(int argc, char **argv)
{
    int to = argc > 1 ? atoi(argv[1]) : -1, loop, i, bytes, tag, from;

    fprintf(stderr, "My tid: %d\n", checked(pvm_mytid(), "mytid"));
    for (loop = 0; loop < LOOPS; loop++) {
        long start, sent, received, stop;

        if (to < 0) {
            int buffer = checked(pvm_recv(-1, 1), "recv");

            checked(pvm_bufinfo(buffer, &bytes, &tag, &from), "bufinfo");
            checked(pvm_upkint(back, SIZE, 1), "upkint");
            send_items(back, from);
            continue;
        }
        for (i = 0; i < SIZE; i++)
            sent_items[i] = i;
        start = now_ms();
        send_items(sent_items, to);
        sent = now_ms();
        checked(pvm_recv(-1, 1), "recv");
        checked(pvm_upkint(back, SIZE, 1), "upkint");
        received = now_ms();
        for (i = 0; i < SIZE; i++)
            if (back[i] != sent_items[i])
                fprintf(stderr, "Data mismatch at index %d\n", i);
        stop = now_ms();
        printf("%d,%ld,%ld,%ld,%ld\n", loop, sent - start, received - sent, stop - received, stop - start);
    }
    return pvm_exit() < 0;
}
