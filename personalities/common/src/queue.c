/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages that were taken from the core before a receive asked for them, because the core
 * cannot select by a function. */
#include "state.h"

#include <stdlib.h>
#include <time.h>

#define FEW 16 /* above it there is an index */

struct kept {
    struct kept *next, *previous; /* in the order in which they came */
    int channel;
    uint64_t number;
    struct job_message message;
    struct job_place *places; /* where there is an index: one for each way to ask for it */
};

pthread_mutex_t job_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER; /* in a process without a job */
static struct kept ring = {.next = &ring, .previous = &ring};
static int32_t count;
static int is_indexed;
static struct job_index kept_index;
static uint64_t numbers;

int job_is_type(const struct job_select *select, int32_t type)
{
    if (select->types != 0)
        return type <= 30 && (select->types >> type & 1) != 0;
    return select->type == JOB_ANY || select->type == type;
}

int job_fits(const struct job_select *select, int channel, const struct job_message *message)
{
    return select->channel == channel && (select->rank == JOB_ANY || select->rank == message->source) &&
           job_is_type(select, message->type);
}

/* ---- The index ---- */

struct job_key job_key_of(int channel, const struct job_message *message, int kind)
{
    return (struct job_key){channel, kind & 1 ? JOB_ANY : message->source, kind & 2 ? JOB_ANY : message->type};
}

static void leave_index(struct kept *kept)
{
    for (int kind = 0; kept->places != NULL && kind < JOB_KINDS; kind++)
        job_index_remove(&kept_index, &kept->places[kind]);
    free(kept->places);
    kept->places = NULL;
}

static void drop_index(void)
{
    is_indexed = 0;
    for (struct kept *at = ring.next; at != &ring; at = at->next)
        leave_index(at);
}

/* Without the memory for it there is no index, and looking takes longer. */
static void enter_index(struct kept *kept)
{
    kept->places = calloc(JOB_KINDS, sizeof *kept->places);
    if (kept->places == NULL)
        drop_index();
    for (int kind = 0; kind < JOB_KINDS && is_indexed; kind++) {
        const struct job_key key = job_key_of(kept->channel, &kept->message, kind);
        if (job_index_add(&kept_index, &kept->places[kind], &key, kept) != JOB_OK)
            drop_index();
    }
}

static void make_index(void)
{
    is_indexed = 1;
    for (struct kept *at = ring.next; at != &ring && is_indexed; at = at->next)
        enter_index(at);
}

static struct kept *first_of(const struct job_select *select, int32_t type)
{
    const struct job_key key = {select->channel, select->rank, type};
    const struct job_place *place = job_index_first(&kept_index, &key);
    return place != NULL ? place->owner : NULL;
}

static struct kept *find_by_index(const struct job_select *select)
{
    struct kept *found = NULL;
    if (select->types == 0)
        return first_of(select, select->type);
    for (int32_t type = 0; type < 31; type++) {
        struct kept *first = select->types >> type & 1 ? first_of(select, type) : NULL;
        if (first != NULL && (found == NULL || first->number < found->number))
            found = first;
    }
    return found;
}

static struct kept *find_by_order(const struct job_select *select)
{
    for (struct kept *at = ring.next; at != &ring; at = at->next)
        if (job_fits(select, at->channel, &at->message))
            return at;
    return NULL;
}

/* ---- The queue ---- */

static void link_last(struct kept *kept)
{
    kept->number = ++numbers;
    kept->next = &ring;
    kept->previous = ring.previous;
    ring.previous->next = kept;
    ring.previous = kept;
    count++;
    atomic_fetch_add(&job_this.kept, 1);
    job_wake_others();
}

/* Threads that wait look into the queue only when something has come to this process. */
void job_wake_others(void)
{
    if (!atomic_load(&job_this.has_others))
        return;
    if (job_this.state == JOB_ALONE)
        pthread_cond_broadcast(&came);
    else
        neopvm_wake();
}

int job_keep(int channel, const struct job_message *message)
{
    if (job_offer(channel, message))
        return JOB_OK;
    struct kept *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return NEOPVM_NO_MEMORY;
    kept->channel = channel;
    kept->message = *message;
    kept->places = NULL;
    link_last(kept);
    if (is_indexed)
        enter_index(kept);
    else if (count > FEW)
        make_index();
    return JOB_OK;
}

static void take_out(struct kept *gone)
{
    gone->next->previous = gone->previous;
    gone->previous->next = gone->next;
    leave_index(gone);
    free(gone);
    is_indexed &= --count > 0;
    atomic_fetch_sub(&job_this.kept, 1);
}

int job_try_kept(const struct job_select *select, struct job_message *message, int leave)
{
    struct kept *found = is_indexed ? find_by_index(select) : find_by_order(select);
    if (found == NULL)
        return JOB_NONE;
    *message = found->message;
    if (!leave)
        take_out(found);
    return JOB_OK;
}

static int pull(const struct job_select *select, struct job_message *message, int leave)
{
    for (;;) {
        int status = job_core_take(select, 0, message);
        if (status != JOB_OK)
            return status;
        int fits = job_is_type(select, message->type);
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
    if (select->types != 0)
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

/* Without a job only this process's own threads send to it. */
static int pause_alone(int64_t limit_ns)
{
    if (limit_ns < 0 && !atomic_load(&job_this.has_others))
        return JOB_NOBODY;
    int64_t slice = job_alone_slice(limit_ns);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + slice;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&came, &job_lock, &until);
    return JOB_OK;
}

int job_pause(uint32_t *seen, int64_t limit_ns)
{
    if (job_this.state == JOB_ALONE)
        return pause_alone(limit_ns);
    pthread_mutex_unlock(&job_lock);
    int status = neopvm_wait(seen, job_alone_slice(limit_ns));
    pthread_mutex_lock(&job_lock);
    return status;
}
