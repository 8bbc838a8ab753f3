/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * crowd: many trivial tasks are started, say one word each and end.
 *
 *     crowd [TASKS]          1000 unless told otherwise
 *
 * The master counts the words and the notices of exit. Prints one line, tab-separated: tasks, tasks started,
 * words, notices, seconds until all were started, until all had spoken, until all exits were told.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "pvm3.h"

enum { WORD = 1, GONE = 2, PATIENCE_S = 30 };

static double now_s(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Waits for `count` messages with `tag`; returns how many came before nothing came for a while. */
static int collect(int tag, int count)
{
    struct timeval patience;
    int got = 0;

    while (got < count) {
        patience.tv_sec = PATIENCE_S;
        patience.tv_usec = 0;
        if (pvm_trecv(-1, tag, &patience) <= 0)
            break;
        got++;
    }
    return got;
}

static int lead(const char *program, int tasks)
{
    int *tids = calloc((size_t)tasks, sizeof *tids), started, words, notices;
    double start_s = now_s(), started_s, spoken_s, told_s;
    char path[PATH_MAX];

    if (!realpath(program, path))
        snprintf(path, sizeof path, "%s", program);
    started = pvm_spawn(path, NULL, PvmTaskDefault, "", tasks, tids);
    started_s = now_s() - start_s;
    if (started < 0)
        started = 0;
    if (started > 0)
        pvm_notify(PvmTaskExit, GONE, started, tids);
    words = collect(WORD, started);
    spoken_s = now_s() - start_s;
    notices = collect(GONE, started);
    told_s = now_s() - start_s;
    printf("%d\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f\n", tasks, started, words, notices, started_s, spoken_s,
           told_s);
    free(tids);
    return !(started == tasks && words == tasks && notices == tasks);
}

int main(int argc, char **argv)
{
    int tasks = argc > 1 ? atoi(argv[1]) : 1000, status = 0, word = 1;

    if (tasks < 1) {
        fprintf(stderr, "usage: crowd [TASKS]\n");
        return 2;
    }
    if (pvm_mytid() < 0)
        return 1;
    if (pvm_parent() > 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&word, 1, 1);
        pvm_send(pvm_parent(), WORD);
    } else {
        status = lead(argv[0], tasks);
    }
    pvm_exit();
    return status;
}
