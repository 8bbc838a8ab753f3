/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages that were taken from the core before anybody asked for them, because the core cannot select by a function. */
#include "state.h"

#include <stdlib.h>

struct kept {
    struct kept *next;
    int channel;
    struct job_message message;
};

pthread_mutex_t job_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *first, **end = &first;

int job_fits(const struct job_select *select, int channel, const struct job_message *message)
{
    return select->channel == channel && (select->rank == JOB_ANY || select->rank == message->source) &&
           (select->type == JOB_ANY || select->type == message->type) &&
           (select->fits == NULL || select->fits(message->type, message->source, select->with));
}

int job_keep(int channel, const struct job_message *message)
{
    if (job_offer(channel, message))
        return JOB_OK;
    struct kept *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return NEOPVM_NO_MEMORY;
    *kept = (struct kept){.channel = channel, .message = *message};
    *end = kept;
    end = &kept->next;
    atomic_fetch_add(&job_this.kept, 1);
    return JOB_OK;
}

static void take_out(struct kept **at)
{
    struct kept *gone = *at;
    *at = gone->next;
    if (end == &gone->next)
        end = at;
    free(gone);
    atomic_fetch_sub(&job_this.kept, 1);
}

int job_try_kept(const struct job_select *select, struct job_message *message, int leave)
{
    for (struct kept **at = &first; *at != NULL; at = &(*at)->next) {
        if (!job_fits(select, (*at)->channel, &(*at)->message))
            continue;
        *message = (*at)->message;
        if (!leave)
            take_out(at);
        return JOB_OK;
    }
    return JOB_NONE;
}

static int pull(const struct job_select *select, struct job_message *message, int leave)
{
    for (;;) {
        int status = job_core_take(select, 0, message);
        if (status != JOB_OK)
            return status;
        int fits = select->fits(message->type, message->source, select->with);
        if (fits && !leave)
            return JOB_OK;
        status = job_keep(select->channel, message);
        if (status != JOB_OK || fits)
            return status;
    }
}

int job_try(const struct job_select *select, struct job_message *message, int leave)
{
    if (job_try_kept(select, message, leave) == JOB_OK)
        return JOB_OK;
    if (select->fits != NULL)
        return pull(select, message, leave);
    return leave ? job_core_probe(select, message) : job_core_take(select, 0, message);
}

int job_drain(void)
{
    const struct job_select all = {.channel = JOB_USER, .rank = JOB_ANY, .type = JOB_ANY};
    struct job_message message;
    int status;
    while ((status = job_core_take(&all, 0, &message)) == JOB_OK) {
        status = job_keep(JOB_USER, &message);
        if (status != JOB_OK)
            break;
    }
    return status;
}

int job_try_behind(const struct job_select *select, struct job_message *message, int leave)
{
    if (select->channel != JOB_USER || !job_overlaps(select))
        return job_try(select, message, leave);
    int status = job_drain();
    return status == JOB_NONE ? job_try_kept(select, message, leave) : status;
}

int job_pause(uint32_t *seen, int64_t limit_ns)
{
    /* Another thread may have put something into the queue that it does not want. */
    const int64_t slice = 2000000;
    if (job_this.state == JOB_ALONE)
        return limit_ns < 0 && !atomic_load(&job_this.has_handlers) ? JOB_NOBODY : JOB_OK;
    if (atomic_load(&job_this.has_handlers) && (limit_ns < 0 || limit_ns > slice))
        limit_ns = slice;
    pthread_mutex_unlock(&job_lock);
    int status = neopvm_wait(seen, limit_ns);
    pthread_mutex_lock(&job_lock);
    return status;
}
