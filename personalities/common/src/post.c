/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Handles of receives that were posted, and waiting for them. */
#include "posted.h"

#include <stdlib.h>

#define SLOT_BITS 16
#define GENERATIONS 0x7fff

static struct posted done = {.next = &done, .previous = &done};
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

void job_posted_done(struct posted *posted)
{
    posted->stage = DONE;
    posted->next = &done;
    posted->previous = done.previous;
    done.previous->next = posted;
    done.previous = posted;
    job_wake_others();
}

static void spend(job_handle handle)
{
    int32_t slot = handle & (JOB_HANDLES - 1);
    struct posted *posted = slots[slot];
    if (posted->stage == DONE) {
        posted->next->previous = posted->previous;
        posted->previous->next = posted->next;
    }
    free(posted);
    slots[slot] = NULL;
    generations[slot]++;
    spare[spare_count++] = slot;
}

static int post(struct posted *posted)
{
    job_note_thread();
    pthread_mutex_lock(&job_lock);
    job_posted_add(posted);
    job_advance();
    pthread_mutex_unlock(&job_lock);
    return JOB_OK;
}

static struct posted *new_posted(const struct job_select *select, void *data, uint64_t room)
{
    struct posted *posted = malloc(sizeof *posted);
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
        *handle = posted->handle = handle_of(slot);
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
    int status = give_handle(posted, handle);
    if (status != JOB_OK)
        return status;
    pthread_mutex_lock(&job_lock);
    job_posted_done(posted);
    pthread_mutex_unlock(&job_lock);
    return JOB_OK;
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
    job_note_thread();
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
    int in_core = posted->stage == OPEN && posted->select.types == 0 && job_this.state != JOB_ALONE &&
                  !atomic_load(&job_this.has_others) && !job_posted_overlaps(posted, &posted->select);
    if (!in_core)
        return job_pause(seen, left);
    posted->stage = BUSY;
    pthread_mutex_unlock(&job_lock);
    int status = job_core_take(&posted->select, job_alone_slice(left), &message);
    pthread_mutex_lock(&job_lock);
    posted->stage = OPEN;
    if (status == JOB_OK)
        job_posted_deliver(posted, &message);
    else
        /* Another thread may have taken it from the core meanwhile. */
        job_posted_settle(posted);
    return status == JOB_NONE ? JOB_OK : status;
}

int job_wait(job_handle handle, int64_t limit_ns, struct job_message *message)
{
    int64_t deadline = job_deadline(limit_ns), left;
    uint32_t seen = 0;
    int status;
    job_note_thread();
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

int job_wait_any(int64_t limit_ns, job_handle *handle, struct job_message *message)
{
    int64_t deadline = job_deadline(limit_ns), left;
    uint32_t seen = 0;
    int status = JOB_NONE;
    job_note_thread();
    pthread_mutex_lock(&job_lock);
    while (status == JOB_NONE) {
        job_advance();
        left = job_left(deadline);
        if (done.next != &done) {
            *handle = done.next->handle;
            status = finish(done.next, *handle, message);
            break;
        }
        if (used_count == spare_count)
            status = JOB_BAD_HANDLE;
        else if (left == 0)
            break;
        else if ((status = job_pause(&seen, left)) == JOB_OK)
            status = JOB_NONE;
    }
    pthread_mutex_unlock(&job_lock);
    return status;
}

int job_cancel(job_handle handle)
{
    pthread_mutex_lock(&job_lock);
    struct posted *posted = find(handle);
    if (posted != NULL && posted->stage != DONE)
        job_posted_remove(posted);
    if (posted != NULL)
        spend(handle);
    pthread_mutex_unlock(&job_lock);
    return posted != NULL ? JOB_OK : JOB_BAD_HANDLE;
}
