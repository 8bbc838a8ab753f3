/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ends of other ranks: waiting for them, and having them killed. */
#include "state.h"

#include <stdlib.h>

enum { WATCHED = 1, TOLD = 2 };
static unsigned char *stages; /* of each rank */

static int watch(const int32_t *ranks, int32_t count)
{
    int32_t left = 0;
    for (int32_t at = 0; at < count; at++) {
        int32_t rank = ranks[at], tid = job_tid(rank);
        left += !(stages[rank] & TOLD);
        if (stages[rank])
            continue;
        int status = neopvm_notify(NEOPVM_TASK_EXIT, TAG_ENDED, job_this.contexts[JOB_OWN], &tid, 1);
        if (status != NEOPVM_OK)
            return status;
        stages[rank] = WATCHED;
    }
    return left;
}

/* Ids of tasks are above 0; the machine's is not. */
static int is_of_machine(neopvm_buffer notice)
{
    struct neopvm_info info;
    return neopvm_info(notice, &info) == NEOPVM_OK && info.source <= 0;
}

/* A rank, or -1: what a task has sent is no notice. */
static int32_t hear_end(void)
{
    neopvm_buffer notice = 0;
    int failed = 0;
    int status = neopvm_receive(NEOPVM_ANY, TAG_ENDED, job_this.contexts[JOB_OWN], JOB_FOREVER, &notice);
    if (status != NEOPVM_OK)
        return status;
    int32_t rank = is_of_machine(notice) ? job_rank_of(job_read_number(notice, 1, INT32_MAX, &failed)) : -1;
    neopvm_free(notice);
    if (rank >= 0)
        stages[rank] |= TOLD;
    return rank;
}

static int is_one_of(int32_t rank, const int32_t *ranks, int32_t count)
{
    for (int32_t at = 0; at < count; at++)
        if (ranks[at] == rank)
            return 1;
    return 0;
}

int32_t job_await_end(const int32_t *ranks, int32_t count)
{
    if (stages == NULL)
        stages = calloc((size_t)job_size(), 1);
    if (!job_this.told || stages == NULL)
        return JOB_NO_TABLE;
    for (;;) {
        int left = watch(ranks, count);
        if (left <= 0)
            return left < 0 ? left : -1;
        int32_t rank = hear_end();
        if (rank < -1 || is_one_of(rank, ranks, count))
            return rank;
    }
}

int job_kill(const int32_t *ranks, int32_t count)
{
    neopvm_buffer word = job_word();
    job_word_number(word, count);
    for (int32_t at = 0; at < count; at++)
        job_word_number(word, job_tid(ranks[at]));
    return job_say(TAG_KILL, word);
}
