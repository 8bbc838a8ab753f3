/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages from and to ranks, straight by the core where it can select. */
#include "state.h"

#include <pvm3.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define IS_SINGLE __libc_single_threaded
#else
#define IS_SINGLE 0
#endif

/* A message of up to this many bytes stays until the next receive after it was copied. PVM keeps
 * every message that long; but the memory of a larger one is needed by its sender more than the
 * time is that freeing it takes. */
#define SPENT_BYTES 1048576

/* ---- Sending ---- */

static int keep_own(int channel, int32_t type, const void *data, uint64_t bytes)
{
    struct job_message message = {.source = 0, .type = type, .bytes = bytes, .own = malloc(bytes + 1)};
    if (message.own == NULL)
        return NEOPVM_NO_MEMORY;
    if (bytes > 0)
        memcpy(message.own, data, bytes);
    pthread_mutex_lock(&job_lock);
    int status = job_keep(channel, &message);
    pthread_mutex_unlock(&job_lock);
    return status;
}

/* After pvm_exit the next call of PVM makes the process another task, whose messages the ranks
 * ignore. */
int job_is_rank(void)
{
    return pvm_mytid() == job_this.tid;
}

int job_core_send(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes)
{
    if (job_this.state == JOB_ALONE)
        return keep_own(channel, type, data, bytes);
    if (!job_is_rank())
        return JOB_LEFT;
    return neopvm_send_items(NEOPVM_RAW, NEOPVM_BYTE, data, bytes, job_this.ranks[rank].tid, type,
                             job_this.contexts[channel]);
}

/* A length that no memory has is a negative one, or a product that went over. */
int job_check_send(int32_t rank, int32_t type, uint64_t bytes)
{
    if (!job_this.told)
        return JOB_NO_TABLE;
    if (rank < 0 || rank >= job_this.size)
        return JOB_BAD_RANK;
    if (bytes > JOB_BYTES_MAX)
        return NEOPVM_BAD_PARAMETER;
    return type < 0 ? JOB_BAD_TYPE : JOB_OK;
}

int job_send(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes)
{
    int status = job_check_send(rank, type, bytes);
    return status != JOB_OK ? status : job_core_send(channel, rank, type, data, bytes);
}

int job_own_send(int32_t rank, int32_t tag, const void *data, uint64_t bytes)
{
    return job_core_send(JOB_OWN, rank, tag, data, bytes);
}

static int send_marked(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes)
{
    neopvm_buffer buffer = 0;
    int status = neopvm_new(NEOPVM_RAW, &buffer);
    if (status == NEOPVM_OK)
        status = neopvm_pack(buffer, NEOPVM_BYTE, data, bytes, 1);
    if (status == NEOPVM_OK)
        status = pvm_setmwid(buffer, 1);
    if (status >= 0)
        status = neopvm_send(buffer, job_this.ranks[rank].tid, type, job_this.contexts[channel]);
    neopvm_free(buffer);
    return status;
}

int job_send_acknowledged(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes)
{
    int status = job_check_send(rank, type, bytes);
    if (status != JOB_OK)
        return status;
    /* A rank that waits for itself would wait for ever. */
    if (rank == job_this.rank)
        return job_core_send(channel, rank, type, data, bytes);
    status = send_marked(channel, rank, type, data, bytes);
    return status < 0 ? status : job_own_receive(rank, TAG_TAKEN, NULL, 0);
}

/* ---- Receiving ---- */

int job_check(const struct job_select *select)
{
    if (!job_this.told)
        return JOB_NO_TABLE;
    if (select->rank != JOB_ANY && (select->rank < 0 || select->rank >= job_this.size))
        return JOB_BAD_RANK;
    return select->type < JOB_ANY ? JOB_BAD_TYPE : JOB_OK;
}

static int32_t tid_wanted(const struct job_select *select)
{
    return select->rank == JOB_ANY ? NEOPVM_ANY : job_this.ranks[select->rank].tid;
}

static int is_none(const struct neopvm_received *raw)
{
    return raw->type == 0 && raw->buffer == 0;
}

static void acknowledge(const struct job_message *message)
{
    if (message->raw.info.wait_id != 0)
        job_own_send(message->source, TAG_TAKEN, NULL, 0);
}

/* A message that was copied out, and whose memory is still held. Freeing it is work for which
 * the sender's next message need not wait, so it is done before the next receive waits, as in
 * PVM. */
static _Atomic neopvm_buffer spent;

static void replace_spent(neopvm_buffer buffer)
{
    neopvm_buffer before = atomic_exchange_explicit(&spent, buffer, memory_order_relaxed);
    if (before != 0)
        neopvm_free(before);
}

void job_forget_spent(void)
{
    atomic_store(&spent, 0);
}

void job_free_later(struct job_message *message)
{
    if (message->raw.buffer == 0 || message->bytes > SPENT_BYTES) {
        job_free(message);
        return;
    }
    replace_spent(message->raw.buffer);
    message->raw.buffer = 0;
}

int job_core_take(const struct job_select *select, int64_t limit_ns, struct job_message *message)
{
    if (job_this.state == JOB_ALONE)
        return JOB_NONE;
    if (!job_is_rank())
        return JOB_LEFT;
    if (atomic_load_explicit(&spent, memory_order_relaxed) != 0)
        replace_spent(0);
    for (;;) {
        int status = neopvm_receive_items(tid_wanted(select), select->type, job_this.contexts[select->channel],
                                          limit_ns, &message->raw);
        if (status != NEOPVM_OK)
            return status;
        if (is_none(&message->raw))
            return JOB_NONE;
        message->own = NULL;
        message->type = message->raw.info.tag;
        message->bytes = message->raw.info.bytes;
        message->source = select->rank != JOB_ANY ? select->rank : job_rank_of(message->raw.info.source);
        if (message->source >= 0) {
            acknowledge(message);
            return JOB_OK;
        }
        neopvm_free(message->raw.buffer);
    }
}

static void drop(const struct neopvm_info *info, int32_t context)
{
    neopvm_buffer buffer = 0;
    if (neopvm_receive(info->source, info->tag, context, 0, &buffer) == NEOPVM_OK)
        neopvm_free(buffer);
}

int job_core_probe(const struct job_select *select, struct job_message *message)
{
    int32_t context = job_this.contexts[select->channel], found = 0;
    if (job_this.state == JOB_ALONE)
        return JOB_NONE;
    if (!job_is_rank())
        return JOB_LEFT;
    for (;;) {
        struct neopvm_info info;
        int status = neopvm_probe(tid_wanted(select), select->type, context, &info, &found);
        if (status != NEOPVM_OK || !found)
            return status != NEOPVM_OK ? status : JOB_NONE;
        message->source = job_rank_of(info.source);
        message->type = info.tag;
        message->bytes = info.bytes;
        if (message->source >= 0)
            return JOB_OK;
        drop(&info, context);
    }
}

void job_note_thread(void)
{
    static atomic_int noted;
    static _Thread_local int is_noted;
    if (is_noted)
        return;
    is_noted = 1;
    if (atomic_fetch_add(&noted, 1) > 0)
        atomic_store(&job_this.has_others, 1);
}

/* A second thread that receives may come while this one waits in the core, so that wait ends now and then. */
int64_t job_alone_slice(int64_t left)
{
    return left < 0 || left > JOB_ALONE_NS ? JOB_ALONE_NS : left;
}

/* With the lock: as long as nothing else may have the message, the core does the waiting. */
static int wait_for(const struct job_select *select, int64_t left, uint32_t *seen, struct job_message *message)
{
    int in_core = select->types == 0 && job_this.state != JOB_ALONE && !atomic_load(&job_this.has_others) &&
                  !job_overlaps(select);
    if (!in_core) {
        int status = job_pause(seen, left);
        return status == JOB_OK ? JOB_NONE : status;
    }
    pthread_mutex_unlock(&job_lock);
    int status = job_core_take(select, job_alone_slice(left), message);
    pthread_mutex_lock(&job_lock);
    return status;
}

static int take_slowly(const struct job_select *select, int64_t limit_ns, struct job_message *message)
{
    int64_t deadline = job_deadline(limit_ns), left;
    uint32_t seen = 0;
    pthread_mutex_lock(&job_lock);
    int status;
    for (;;) {
        job_advance();
        status = job_try_behind(select, message, 0);
        left = job_left(deadline);
        if (status != JOB_NONE || left == 0)
            break;
        status = wait_for(select, left, &seen, message);
        if (status != JOB_NONE)
            break;
    }
    pthread_mutex_unlock(&job_lock);
    return status;
}

static int is_short_way(const struct job_select *select)
{
    return select->types == 0 && job_this.state == JOB_RANK &&
           atomic_load_explicit(&job_this.kept, memory_order_acquire) == 0 &&
           !atomic_load_explicit(&job_this.has_others, memory_order_relaxed);
}

/*
 * As long as this thread is the only one that receives. In a process with one thread no second one can come while that
 * waits, so only where there are more the wait is cut into slices. The first look needs no clock.
 */
static int take_straight(const struct job_select *select, int64_t limit_ns, struct job_message *message)
{
    if (IS_SINGLE)
        return job_core_take(select, limit_ns, message);
    int status = job_core_take(select, 0, message);
    while (status == JOB_NONE && limit_ns < 0 && is_short_way(select))
        status = job_core_take(select, JOB_ALONE_NS, message);
    return status == JOB_NONE && limit_ns != 0 ? take_slowly(select, limit_ns, message) : status;
}

int job_take(const struct job_select *select, int64_t limit_ns, struct job_message *message)
{
    int status = job_check(select);
    if (status != JOB_OK)
        return status;
    job_note_thread();
    return is_short_way(select) ? take_straight(select, limit_ns, message) : take_slowly(select, limit_ns, message);
}

int job_probe(const struct job_select *select, struct job_message *message)
{
    int status = job_check(select);
    if (status != JOB_OK)
        return status;
    job_note_thread();
    if (is_short_way(select))
        return job_looked(job_core_probe(select, message));
    pthread_mutex_lock(&job_lock);
    job_advance();
    status = job_try_behind(select, message, 1);
    pthread_mutex_unlock(&job_lock);
    return job_looked(status);
}

int job_await(const struct job_select *select, int64_t limit_ns, struct job_message *message)
{
    int64_t deadline = job_deadline(limit_ns), left;
    uint32_t seen = 0;
    for (;;) {
        int status = job_probe(select, message);
        left = job_left(deadline);
        if (status != JOB_NONE || left == 0)
            return status;
        pthread_mutex_lock(&job_lock);
        status = job_pause(&seen, left);
        pthread_mutex_unlock(&job_lock);
        if (status != JOB_OK)
            return status;
    }
}

/* ---- What was taken ---- */

void job_free(struct job_message *message)
{
    neopvm_free(message->raw.buffer);
    message->raw.buffer = 0;
    free(message->own);
    message->own = NULL;
}

const void *job_bytes(struct job_message *message)
{
    const void *data = NULL;
    uint64_t bytes = 0;
    if (message->own != NULL)
        return message->own;
    if (message->raw.buffer == 0)
        return message->raw.items;
    return neopvm_view(message->raw.buffer, &data, &bytes) == NEOPVM_OK ? data : NULL;
}

static int copy_out(struct job_message *message, void *data)
{
    if (message->bytes == 0)
        return JOB_OK;
    if (message->raw.buffer != 0)
        return neopvm_unpack(message->raw.buffer, NEOPVM_BYTE, data, message->bytes, 1);
    memcpy(data, message->own != NULL ? message->own : message->raw.items, message->bytes);
    return JOB_OK;
}

int job_put(struct job_message *message, void *data, uint64_t room)
{
    int status = message->bytes > room ? JOB_TOO_LONG : copy_out(message, data);
    if (message->raw.buffer != 0 || message->own != NULL)
        job_free_later(message);
    return status;
}

int job_receive(int32_t channel, int32_t rank, int32_t type, void *data, uint64_t room, struct job_message *message)
{
    struct job_select select = {.channel = channel, .rank = rank, .type = type};
    int status = job_take(&select, JOB_FOREVER, message);
    return status != JOB_OK ? status : job_put(message, data, room);
}

int job_has_ended(int32_t rank)
{
    struct neopvm_task task;
    uint64_t count = 0;
    int status = neopvm_tasks(job_this.ranks[rank].tid, &task, 1, &count);
    return status == NEOPVM_NO_TASK || (status == NEOPVM_OK && count == 0);
}

/* The machine is asked about the rank only when no message has come for a while. A message that
 * the rank sent before its end may still be under way then, so there is one more wait after the
 * answer. */
int job_take_of(int32_t rank, int32_t tag, struct job_message *message)
{
    struct job_select select = {.channel = JOB_OWN, .rank = rank, .type = tag};
    int ended = 0, status = job_core_take(&select, JOB_PATIENCE_NS, message);
    while (status == JOB_NONE && !ended) {
        ended = job_has_ended(rank);
        status = job_core_take(&select, JOB_PATIENCE_NS, message);
    }
    return status == JOB_NONE ? JOB_ENDED : status;
}

int job_own_receive(int32_t rank, int32_t tag, void *data, uint64_t bytes)
{
    struct job_message message;
    int status = job_take_of(rank, tag, &message);
    if (status != JOB_OK)
        return status;
    int is_equal = message.bytes == bytes;
    status = job_put(&message, data, bytes);
    return is_equal ? status : JOB_UNEQUAL;
}
