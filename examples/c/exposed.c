/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * exposed: tasks write their results into the memory of the first task.
 *
 *     exposed [TASKS]
 *
 * Each task writes its result to an element of its own, then a mark that it is done. No messages
 * are received. The tasks may run on several hosts.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "neopvm.h"
#include "pvm3.h"

#define NUMBER 1
#define TASKS_MAX 256

struct board { int64_t share[TASKS_MAX]; int64_t ready[TASKS_MAX]; };

static void must(int32_t status, const char *what)
{
    if (status < 0) {
        fprintf(stderr, "exposed: %s: %s\n", what, neopvm_text(status));
        exit(1);
    }
}

/* The other tasks. The first task has passed their index as an argument. */
static void share(int parent, int place)
{
    int64_t sum = 0, one = 1;

    for (int i = place * 1000; i < (place + 1) * 1000; i++)
        sum += i;
    must(neopvm_put_memory(parent, NUMBER, 8 * (uint64_t)place, &sum, 8), "put");
    must(neopvm_put_memory(parent, NUMBER, 8 * (uint64_t)(TASKS_MAX + place), &one, 8), "put");
}

int main(int argc, char **argv)
{
    volatile struct board *board;
    int32_t parent;
    int64_t sum = 0;
    void *address;
    char path[PATH_MAX];
    int tasks = 4, tid;

    must(neopvm_enrol(NULL, &parent), "enrol");
    if (parent > 0) {
        share(parent, atoi(argv[1]));
        return pvm_exit();
    }
    if (argc > 1)
        tasks = atoi(argv[1]);
    if (tasks < 1 || tasks > TASKS_MAX)
        return 2;
    must(neopvm_expose(NUMBER, sizeof *board, NEOPVM_MAY_WRITE, &address), "expose");
    board = address;
    /* pvm_spawn searches a plain name in the spawn path, which may not contain this folder. */
    if (!realpath(argv[0], path))
        snprintf(path, sizeof path, "%s", argv[0]);
    for (int i = 0; i < tasks; i++) {
        char place[12];
        char *args[] = {place, NULL};
        snprintf(place, sizeof place, "%d", i);
        if (pvm_spawn(path, args, PvmTaskDefault, "", 1, &tid) != 1)
            must(tid, "spawn");
    }
    for (int i = 0; i < tasks; i++) {
        while (!board->ready[i])
            usleep(100);
        __sync_synchronize();
        sum += board->share[i];
    }
    printf("%lld\n", (long long)sum);
    return pvm_exit();
}
