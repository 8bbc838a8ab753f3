/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * stranger JOB SECONDS [TYPE]: a task that is no rank sends whatever it likes, for a while, to all tasks of the machine in the two
 * contexts of a job: of every type, that of the library's own words included, and of every length. JOB is NEOPVM_JOB as
 * a rank finds it in its environment. With TYPE: ids of
 * tasks under that type, in the context of libraries alone. It says "begun" when each task has been sent something.
 */
#include <neopvm.h>
#include <pvm3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned state = 7;

static int roll(int below)
{
    state = state * 1103515245u + 12345u;
    return (int)((state >> 8) % (unsigned)below);
}

/* Some are what a program may wait for, the others what libraries and the keeper say to each other. */
static int some_type(int only)
{
    static const int known[] = {1, 2, 7, 29, 999, 13, 17, 3, 16, 17, 18, 19, 20, 21, 22, 32, 33, 64, 65, 128, 129, 130};
    if (only)
        return only;
    switch (roll(4)) {
    case 0: return roll(300);
    case 1: return 65536 + roll(20);
    case 2: return roll(INT32_MAX);
    default: return known[roll(22)];
    }
}

int main(int argc, char **argv)
{
    static int32_t data[3200];
    unsigned keeper;
    int contexts[2], count = 0, me = pvm_mytid(), only = argc > 3 ? atoi(argv[3]) : 0;
    struct pvmtaskinfo *tasks;
    long sent = 0, begun = 0;
    if (argc < 3 || sscanf(argv[1], "1:%x:%d:%d:", &keeper, &contexts[0], &contexts[1]) != 3)
        return 2;
    for (int at = 0; at < 3200; at++)
        data[at] = roll(3) == 0 ? (int32_t)keeper : roll(5) - 1;
    if (pvm_tasks(0, &count, &tasks) < 0)
        return 3;
    /* As notices and lists would have them. */
    for (int at = 0; at < 3200; at++)
        if (roll(2))
            data[at] = tasks[roll(count)].ti_tid;
    time_t end = time(NULL) + atoi(argv[2]);
    /* Once in any case: the end may be a moment away, and this process may stand still. */
    do {
        for (int at = 0; at < count; at++) {
            int bytes = roll(20) == 0 ? roll(12000) : roll(40);
            if (tasks[at].ti_tid != me)
                sent += neopvm_send_items(roll(2) ? NEOPVM_RAW : NEOPVM_DEFAULT, roll(2) ? NEOPVM_BYTE : NEOPVM_INT,
                                          data + roll(100), (uint64_t)bytes / 4, tasks[at].ti_tid, some_type(only), contexts[only || roll(2)]) == 0;
        }
        int32_t tid = (int32_t)keeper;
        sent += neopvm_send_items(NEOPVM_DEFAULT, NEOPVM_INT, data + roll(100), (uint64_t)roll(50), tid, 16 + roll(8),
                                  contexts[1]) == 0;
        if (!begun++) {
            printf("begun\n");
            fflush(stdout);
        }
        usleep(100);
    } while (time(NULL) < end);
    printf("%ld messages\n", sent);
    pvm_exit();
    return sent == 0;
}
