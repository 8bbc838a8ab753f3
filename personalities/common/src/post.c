/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Receives that were posted before their messages came. Whichever thread looks for messages serves them, in order. */
#include "state.h"

#include <stdlib.h>

enum { OPEN, BUSY, DONE };

struct posted {
    struct posted *next, *previous; /* of those that are open or busy, in the order in which they were posted */
    struct posted *blocker;         /* an earlier one that wants all that this one wants: it comes first */
    int mixed;                      /* an earlier one wants some of what this one wants */
    struct job_select select;
    void *data;
    uint64_t room;
    job_handler handler;
    void *with;
    int stage;
    int status;
    uint32_t generation;
    struct job_message message;
};

#define SLOT_BITS 16
#define GENERATIONS 0x7fff

static struct posted ring = {.next = &ring, .previous = &ring};
static struct posted *slots[JOB_HANDLES];
static uint32_t generations[JOB_HANDLES];
static int32_t spare[JOB_HANDLES], spare_count, used_count;

static int32_t take_slot(void)
{
    if (spare_count > 0)
        return spare[--spare_count];
    return used_count < JOB_HANDLES - 1 ? ++used_count : 0;
}

static job_handle handle_of(int32_t slot)
{
    return (job_handle)((generations[slot] & GENERATIONS) << SLOT_BITS | (uint32_t)slot);
}

static struct posted *find(job_handle handle)
{
    int32_t slot = handle & (JOB_HANDLES - 1);
    return handle > 0 && slots[slot] != NULL && handle_of(slot) == handle ? slots[slot] : NULL;
}

static int overlap(const struct job_select *one, const struct job_select *other)
{
    return one->channel == other->channel &&
           (one->rank == JOB_ANY || other->rank == JOB_ANY || one->rank == other->rank) &&
           (one->type == JOB_ANY || other->type == JOB_ANY || one->type == other->type);
}

/* Whether nothing that `other` wants is not wanted by `one`, too. */
static int covers(const struct job_select *one, const struct job_select *other)
{
    int is_wider = one->fits == NULL || (one->fits == other->fits && one->with == other->with);
    return is_wider && one->channel == other->channel && (one->rank == JOB_ANY || one->rank == other->rank) &&
           (one->type == JOB_ANY || one->type == other->type);
}

static void find_blocker(struct posted *posted)
{
    posted->blocker = NULL;
    for (struct posted *at = ring.next; at != posted; at = at->next) {
        if (covers(&at->select, &posted->select)) {
            posted->blocker = at;
            return;
        }
        /* Nobody posts overlapping receives for what this file's functions say to each other. */
        posted->mixed |= posted->select.channel == JOB_USER && overlap(&at->select, &posted->select);
    }
}

static void link_last(struct posted *posted)
{
    posted->next = &ring;
    posted->previous = ring.previous;
    ring.previous->next = posted;
    ring.previous = posted;
    atomic_fetch_add(&job_this.kept, 1);
    find_blocker(posted);
}

static void unlink_posted(struct posted *posted)
{
    posted->next->previous = posted->previous;
    posted->previous->next = posted->next;
    atomic_fetch_sub(&job_this.kept, 1);
    for (struct posted *at = posted->next; at != &ring; at = at->next)
        if (at->blocker == posted)
            find_blocker(at);
}

static void spend(job_handle handle)
{
    int32_t slot = handle & (JOB_HANDLES - 1);
    free(slots[slot]);
    slots[slot] = NULL;
    generations[slot]++;
    spare[spare_count++] = slot;
}

static void hand_over(struct posted *posted)
{
    job_ready(posted->handler, &posted->message, posted->with);
    free(posted);
}

static void deliver(struct posted *posted, const struct job_message *message)
{
    posted->message = *message;
    if (posted->data != NULL || posted->handler == NULL)
        posted->status = job_put(&posted->message, posted->data, posted->room);
    posted->stage = DONE;
    unlink_posted(posted);
    if (posted->handler != NULL)
        hand_over(posted);
}

int job_offer(int channel, const struct job_message *message)
{
    for (struct posted *at = ring.next; at != &ring; at = at->next) {
        if (at->stage == OPEN && job_fits(&at->select, channel, message)) {
            deliver(at, message);
            return 1;
        }
    }
    return 0;
}

/*
 * Between two looks at the core a message may come that both receives want. So where an earlier one wants all that a
 * later one wants, the later one does not look; where it wants some of it, all that has come is taken in the order in
 * which it came, and offered to the earliest first.
 */
void job_advance(void)
{
    struct posted *next;
    int mixed = 0;
    for (struct posted *at = ring.next; at != &ring; at = next) {
        struct job_message message;
        next = at->next;
        if (at->stage != OPEN || at->blocker != NULL)
            continue;
        mixed |= at->mixed;
        /* While it is served, what it does not want may be offered to others, but not to it. */
        at->stage = BUSY;
        int found = (at->mixed ? job_try_kept(&at->select, &message, 0) : job_try(&at->select, &message, 0)) == JOB_OK;
        next = at->next;
        at->stage = OPEN;
        if (found)
            deliver(at, &message);
    }
    if (mixed)
        job_drain();
}

static int overlaps_before(const struct posted *end, const struct job_select *select)
{
    for (struct posted *at = ring.next; at != end; at = at->next)
        if (overlap(&at->select, select))
            return 1;
    return 0;
}

int job_overlaps(const struct job_select *select)
{
    return overlaps_before(&ring, select);
}

static int post(struct posted *posted)
{
    pthread_mutex_lock(&job_lock);
    posted->stage = OPEN;
    link_last(posted);
    job_advance();
    pthread_mutex_unlock(&job_lock);
    return JOB_OK;
}

static struct posted *new_posted(const struct job_select *select, void *data, uint64_t room)
{
    struct posted *posted = calloc(1, sizeof *posted);
    if (posted != NULL)
        *posted = (struct posted){.select = *select, .data = data, .room = room};
    return posted;
}

static int give_handle(struct posted *posted, job_handle *handle)
{
    pthread_mutex_lock(&job_lock);
    int32_t slot = take_slot();
    if (slot > 0) {
        slots[slot] = posted;
        *handle = handle_of(slot);
    }
    pthread_mutex_unlock(&job_lock);
    if (slot == 0)
        free(posted);
    return slot > 0 ? JOB_OK : JOB_NO_HANDLES;
}

int job_post(const struct job_select *select, void *data, uint64_t room, job_handle *handle)
{
    int status = job_check(select);
    if (status != JOB_OK)
        return status;
    struct posted *posted = new_posted(select, data, room);
    if (posted == NULL)
        return NEOPVM_NO_MEMORY;
    status = give_handle(posted, handle);
    return status == JOB_OK ? post(posted) : status;
}

int job_post_done(const struct job_message *message, job_handle *handle)
{
    struct posted *posted = calloc(1, sizeof *posted);
    if (posted == NULL)
        return NEOPVM_NO_MEMORY;
    posted->message = *message;
    posted->stage = DONE;
    return give_handle(posted, handle);
}

int job_on_message(const struct job_select *select, void *data, uint64_t room, job_handler handler, void *with)
{
    int status = job_check(select);
    if (status == JOB_OK)
        status = job_handler_threads();
    if (status != JOB_OK)
        return status;
    struct posted *posted = new_posted(select, data, room);
    if (posted == NULL)
        return NEOPVM_NO_MEMORY;
    posted->handler = handler;
    posted->with = with;
    return post(posted);
}

static int finish(struct posted *posted, job_handle handle, struct job_message *message)
{
    int status = posted->status;
    *message = posted->message;
    spend(handle);
    return status;
}

int job_test(job_handle handle, struct job_message *message)
{
    pthread_mutex_lock(&job_lock);
    struct posted *posted = find(handle);
    int status = posted == NULL ? JOB_BAD_HANDLE : JOB_NONE;
    if (posted != NULL && posted->stage == OPEN)
        job_advance();
    if (posted != NULL && posted->stage == DONE)
        status = finish(posted, handle, message);
    pthread_mutex_unlock(&job_lock);
    return job_looked(status);
}

/* With the lock. The core waits for the message where no receive that was posted earlier could want it. */
static int wait_posted(struct posted *posted, int64_t left, uint32_t *seen)
{
    struct job_message message;
    int in_core = posted->stage == OPEN && posted->select.fits == NULL && job_this.state != JOB_ALONE &&
                  !atomic_load(&job_this.has_handlers) && !overlaps_before(posted, &posted->select);
    if (!in_core)
        return job_pause(seen, left);
    posted->stage = BUSY;
    pthread_mutex_unlock(&job_lock);
    int status = job_core_take(&posted->select, left, &message);
    pthread_mutex_lock(&job_lock);
    posted->stage = OPEN;
    if (status == JOB_OK)
        deliver(posted, &message);
    return status == JOB_NONE ? JOB_OK : status;
}

int job_wait(job_handle handle, int64_t limit_ns, struct job_message *message)
{
    int64_t deadline = job_deadline(limit_ns), left;
    uint32_t seen = 0;
    int status;
    pthread_mutex_lock(&job_lock);
    for (;;) {
        struct posted *posted = find(handle);
        status = posted == NULL ? JOB_BAD_HANDLE : JOB_NONE;
        if (posted != NULL && posted->stage != DONE)
            job_advance();
        if (posted != NULL && posted->stage == DONE)
            status = finish(posted, handle, message);
        left = job_left(deadline);
        if (status != JOB_NONE || left == 0)
            break;
        status = wait_posted(posted, left, &seen);
        if (status != JOB_OK)
            break;
    }
    pthread_mutex_unlock(&job_lock);
    return status;
}

int job_cancel(job_handle handle)
{
    pthread_mutex_lock(&job_lock);
    struct posted *posted = find(handle);
    if (posted != NULL && posted->stage != DONE)
        unlink_posted(posted);
    if (posted != NULL)
        spend(handle);
    pthread_mutex_unlock(&job_lock);
    return posted != NULL ? JOB_OK : JOB_BAD_HANDLE;
}
