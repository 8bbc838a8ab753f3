/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The job's counter: words of memory that the keeper exposes, so that they outlive every rank. One rank has its own. */
#include "state.h"

#include <sched.h>
#include <time.h>

enum { COUNTER_MEMORY = 1, VALUE = 0, ARRIVED = 8, ROUND = 16, WORD = 8 };

static atomic_llong own_value;

static int change(uint64_t word, int64_t add, int64_t *before)
{
    return neopvm_add_memory(job_this.keeper, COUNTER_MEMORY, word, WORD, add, before);
}

static int is_only_rank(void)
{
    return job_this.state == JOB_ALONE || job_this.size == 1;
}

int job_counter_next(int64_t *value)
{
    if (!job_this.told)
        return JOB_NO_TABLE;
    if (!is_only_rank())
        return change(VALUE, 1, value);
    *value = atomic_fetch_add(&own_value, 1);
    return JOB_OK;
}

static int reset(uint64_t word)
{
    int64_t zero = 0;
    return neopvm_put_memory(job_this.keeper, COUNTER_MEMORY, word, &zero, WORD);
}

static int reset_by_all(void)
{
    int status = job_barrier();
    if (status == JOB_OK && job_this.rank == 0)
        status = reset(VALUE);
    return status == JOB_OK ? job_barrier() : status;
}

/* A rank that waits in a round is alive, and so is, until the round is over, the rank that
 * completes it. */
static int enough_live(int32_t count)
{
    for (int32_t rank = 0; rank < job_this.size && count > 0; rank++)
        count -= !job_has_ended(rank);
    return count <= 0;
}

static void give_way(int tries)
{
    const struct timespec pause = {0, 50000};
    if (tries < 1000)
        sched_yield();
    else
        nanosleep(&pause, NULL);
}

/* The round is checked after the ranks, because a rank that has ended since may have completed
 * it. */
static int wait_for_round(int64_t round, int32_t count)
{
    int64_t now = round, asks_at = job_now_ns() + JOB_PATIENCE_NS;
    for (int tries = 0; now == round; tries++) {
        int asks = job_now_ns() >= asks_at, can_meet = !asks || enough_live(count);
        int status = neopvm_get_memory(job_this.keeper, COUNTER_MEMORY, ROUND, &now, WORD);
        if (status != JOB_OK)
            return status;
        if (now == round && !can_meet)
            return JOB_ENDED;
        if (asks)
            asks_at = job_now_ns() + JOB_PATIENCE_NS;
        give_way(tries);
    }
    return JOB_OK;
}

/* The last of them resets the counter and lets the others go on. */
static int reset_by_some(int32_t count)
{
    int64_t round, arrived;
    int status = change(ROUND, 0, &round);
    if (status == JOB_OK)
        status = change(ARRIVED, 1, &arrived);
    if (status != JOB_OK)
        return status;
    if (arrived + 1 < count)
        return wait_for_round(round, count);
    status = reset(ARRIVED);
    if (status == JOB_OK)
        status = reset(VALUE);
    return status == JOB_OK ? change(ROUND, 1, &round) : status;
}

int job_counter_meet(int32_t count)
{
    if (!job_this.told)
        return JOB_NO_TABLE;
    if (count < 1 || count > job_this.size)
        return JOB_BAD_RANK;
    if (is_only_rank()) {
        atomic_store(&own_value, 0);
        return JOB_OK;
    }
    return count == job_this.size ? reset_by_all() : reset_by_some(count);
}
