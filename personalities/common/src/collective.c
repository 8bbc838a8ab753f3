/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls of all ranks. Each message has a known source, and the messages of a pair stay in order,
 * so calls cannot be mixed up. */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A reduction works in pieces of this many bytes. */
#define PIECE_BYTES 131072
/* Up to this many bytes are combined in all ranks at once, which takes the fewest steps; more
 * are combined in one rank, which takes the fewest copies. */
#define TREE_BYTES 32768
/* Copying a message of fewer bytes is faster than asking for its address. */
#define VIEWED_BYTES 1024
/* The number of barriers after which the ranks of one host join a group of the machine; joining
 * takes as long as a hundred barriers. */
#define GROUP_AFTER 20
/* The barriers of a group with more members would be kept by the daemon. */
#define GROUP_MOST 32

void job_together_from(int32_t first)
{
    job_this.together_first = first;
}

/* Members are numbered from 0. */
static int32_t members(void)
{
    return job_this.size - job_this.together_first;
}

static int32_t own_number(void)
{
    return job_this.rank - job_this.together_first;
}

static int tell(int32_t member, int32_t tag, const void *data, uint64_t bytes)
{
    return job_own_send(member + job_this.together_first, tag, data, bytes);
}

static int hear(int32_t member, int32_t tag, void *data, uint64_t bytes)
{
    return job_own_receive(member + job_this.together_first, tag, data, bytes);
}

static int check_all(void)
{
    if (!job_this.told)
        return JOB_NO_TABLE;
    return own_number() < 0 ? JOB_BAD_RANK : JOB_OK;
}

/* In each round a member has heard, directly or not, of twice as many others. */
static int barrier_by_messages(void)
{
    int status = JOB_OK;
    int32_t size = members(), rank = own_number(), round = 0;
    for (int32_t far = 1; far < size && status == JOB_OK; far *= 2, round++) {
        status = tell((rank + far) % size, TAG_BARRIER + round, NULL, 0);
        if (status == JOB_OK)
            status = hear((rank - far + size) % size, TAG_BARRIER + round, NULL, 0);
    }
    return status;
}

/* The group whose roster in shared memory keeps the barriers of ranks that are all on one host. */
static struct {
    int32_t tid; /* the member; a forked rank is another task, and joins for itself */
    int broken;  /* a member has ended */
    char name[64];
} group;

static int are_on_one_host(void)
{
    for (int32_t rank = job_this.together_first; rank < job_this.size; rank++)
        if (job_this.ranks[rank].host != job_this.ranks[job_this.together_first].host)
            return 0;
    return 1;
}

static int join_group(void)
{
    int32_t instance;
    snprintf(group.name, sizeof group.name, "ranks of job %d from %d", job_this.contexts[JOB_OWN],
             job_this.together_first);
    int status = neopvm_join(group.name, &instance);
    if (status == NEOPVM_OK)
        group.tid = job_this.tid;
    return status;
}

/* JOB_NONE: a member has ended, so no barrier of this group can be completed any more. */
static int barrier_by_group(void)
{
    if (group.broken)
        return JOB_NONE;
    int status = group.tid == job_this.tid ? JOB_OK : join_group();
    if (status == JOB_OK)
        status = neopvm_barrier(group.name, members());
    if (status != NEOPVM_NO_TASK)
        return status;
    group.broken = 1;
    return JOB_NONE;
}

/* All ranks call it in the same order, so the count is the same in all of them. */
static int is_for_group(void)
{
    static int32_t barriers;
    barriers += barriers <= GROUP_AFTER;
    return barriers > GROUP_AFTER && job_this.state == JOB_RANK && members() <= GROUP_MOST && are_on_one_host();
}

int job_barrier(void)
{
    int status = check_all();
    if (status != JOB_OK || members() < 2)
        return status;
    if (!job_is_rank())
        return JOB_LEFT;
    status = is_for_group() ? barrier_by_group() : JOB_NONE;
    /* The message of a rank that has ended does not come; a rank that waits for it gets an
     * error. */
    return status == JOB_NONE ? barrier_by_messages() : status;
}

/* Sends from the root to all ranks. A rank that expects another length gets the root's message,
 * too, and can report the difference. */
static int spread(int32_t root, int32_t tag, void *data, uint64_t bytes)
{
    if (own_number() != root)
        return hear(root, tag, data, bytes);
    return job_own_send_range(job_this.together_first, job_this.size, tag, data, bytes);
}

int job_broadcast(int32_t root, void *data, uint64_t bytes)
{
    int status = check_all();
    if (status == JOB_OK && (root < job_this.together_first || root >= job_this.size))
        status = JOB_BAD_RANK;
    if (status == JOB_OK && bytes > JOB_BYTES_MAX)
        status = NEOPVM_BAD_PARAMETER;
    return status != JOB_OK ? status : spread(root - job_this.together_first, TAG_BROADCAST, data, bytes);
}

struct reduction {
    unsigned char *data;
    unsigned char *other; /* room for what comes */
    uint64_t count;
    uint64_t bytes;
    job_combine combine;
    void *with;
    int only_reads; /* of `from`, which may lie in a message */
};

/* The items of the lower rank come first on both sides, so both get the same bits. The result
 * may be in the place of the other items: then the two change places. */
static void combine(struct reduction *of, int is_lower)
{
    if (is_lower) {
        of->combine(of->data, of->other, of->count, of->with);
        return;
    }
    unsigned char *result = of->other;
    of->combine(result, of->data, of->count, of->with);
    of->other = of->data;
    of->data = result;
}

/* Combines directly from the message, if that is worth the call and its items are laid out as in
 * memory; otherwise JOB_NONE. */
static int combine_message(struct reduction *of, struct job_message *message)
{
    if (!of->only_reads || message->bytes < VIEWED_BYTES)
        return JOB_NONE;
    const void *items = job_bytes(message);
    if (items == NULL || (uintptr_t)items % _Alignof(max_align_t) != 0)
        return JOB_NONE;
    of->combine(of->data, items, of->count, of->with);
    job_free_later(message);
    return JOB_OK;
}

static int receive_and_combine(struct reduction *of, int32_t partner)
{
    struct job_message message;
    int is_lower = own_number() < partner, status = job_take_of(partner + job_this.together_first, TAG_REDUCE, &message);
    if (status != JOB_OK)
        return status;
    if (message.bytes != of->bytes) {
        job_free(&message);
        return JOB_UNEQUAL;
    }
    if (is_lower && combine_message(of, &message) == JOB_OK)
        return JOB_OK;
    status = job_put(&message, of->other, of->bytes);
    if (status == JOB_OK)
        combine(of, is_lower);
    return status;
}

static int exchange(struct reduction *of, int32_t partner)
{
    int status = tell(partner, TAG_REDUCE, of->data, of->bytes);
    return status == JOB_OK ? receive_and_combine(of, partner) : status;
}

static int32_t whole_part(void)
{
    int32_t whole = 1;
    while (whole * 2 <= members())
        whole *= 2;
    return whole;
}

/* Recursive doubling. Ranks above the largest power of two are represented by a partner below
 * it. */
static int reduce_in_all(struct reduction *of)
{
    int32_t rank = own_number(), size = members(), whole = whole_part();
    int status = JOB_OK;
    if (rank >= whole) {
        status = tell(rank - whole, TAG_REDUCE, of->data, of->bytes);
        return status == JOB_OK ? hear(rank - whole, TAG_REDUCE, of->data, of->bytes) : status;
    }
    if (rank + whole < size)
        status = receive_and_combine(of, rank + whole);
    for (int32_t bit = 1; bit < whole && status == JOB_OK; bit *= 2)
        status = exchange(of, rank ^ bit);
    if (rank + whole < size && status == JOB_OK)
        status = tell(rank + whole, TAG_REDUCE, of->data, of->bytes);
    return status;
}

/* A binomial tree up to member 0, which gets the result. A member waits for it only when all its
 * pieces are under way. In each step a member hears from one of the members from which it hears
 * in reduce_in_all, so that two ranks whose lengths choose different ways meet somewhere and
 * report it. */
static int reduce_to_first(struct reduction *of)
{
    int32_t rank = own_number(), whole = whole_part();
    int status = JOB_OK;
    if (rank >= whole)
        return tell(rank - whole, TAG_REDUCE, of->data, of->bytes);
    if (rank + whole < members())
        status = receive_and_combine(of, rank + whole);
    for (int32_t bit = 1; bit < whole && status == JOB_OK; bit *= 2) {
        if (rank & bit)
            return tell(rank - bit, TAG_REDUCE, of->data, of->bytes);
        status = receive_and_combine(of, rank + bit);
    }
    return status;
}

static int in_pieces(int (*reduce)(struct reduction *of), const struct reduction *whole, uint64_t item_bytes,
                     uint64_t each)
{
    int status = JOB_OK;
    for (uint64_t at = 0; at < whole->count && status == JOB_OK; at += each) {
        struct reduction piece = *whole;
        unsigned char *home = whole->data + at * item_bytes;
        piece.count = whole->count - at < each ? whole->count - at : each;
        piece.data = home;
        piece.bytes = piece.count * item_bytes;
        status = reduce(&piece);
        if (piece.data != home)
            memcpy(home, piece.data, piece.bytes);
    }
    return status;
}

static int check_reduction(uint64_t count, uint64_t item_bytes)
{
    int status = check_all();
    if (status == JOB_OK && item_bytes > 0 && count > JOB_BYTES_MAX / item_bytes)
        status = NEOPVM_BAD_PARAMETER;
    return status;
}

/* A reduction with checked arguments; `of` has no buffer for messages yet. */
static int reduce(struct reduction *of, uint64_t item_bytes)
{
    unsigned char few[256];
    uint64_t each = item_bytes > PIECE_BYTES ? 1 : PIECE_BYTES / item_bytes;
    uint64_t most = (of->count < each ? of->count : each) * item_bytes;
    int is_large = of->bytes > TREE_BYTES;
    of->other = most <= sizeof few ? few : malloc(most);
    if (of->other == NULL)
        return NEOPVM_NO_MEMORY;
    int status = in_pieces(is_large ? reduce_to_first : reduce_in_all, of, item_bytes, each);
    if (status == JOB_OK && is_large)
        status = spread(0, TAG_REDUCE, of->data, of->bytes);
    if (of->other != few)
        free(of->other);
    return status;
}

static int reduce_by(struct reduction *of, uint64_t item_bytes)
{
    int status = check_reduction(of->count, item_bytes);
    of->bytes = of->count * item_bytes;
    return status != JOB_OK || members() == 1 || of->bytes == 0 ? status : reduce(of, item_bytes);
}

int job_reduce(void *data, uint64_t count, uint64_t item_bytes, job_combine how, void *with)
{
    struct reduction of = {.data = data, .count = count, .combine = how, .with = with};
    return reduce_by(&of, item_bytes);
}

int job_reduce_reading(void *data, uint64_t count, uint64_t item_bytes, job_combine how, void *with)
{
    struct reduction of = {.data = data, .count = count, .combine = how, .with = with, .only_reads = 1};
    return reduce_by(&of, item_bytes);
}

/* ---- Collecting ---- */

static int gather(unsigned char *all, const uint64_t *sizes, const void *mine)
{
    int status = JOB_OK;
    if (own_number() != 0)
        return tell(0, TAG_COLLECT, mine, sizes[own_number()]);
    if (sizes[0] > 0)
        memcpy(all, mine, sizes[0]);
    all += sizes[0];
    for (int32_t rank = 1; rank < members() && status == JOB_OK; rank++) {
        status = hear(rank, TAG_COLLECT, all, sizes[rank]);
        all += sizes[rank];
    }
    return status;
}

static int tell_sizes(uint64_t *sizes)
{
    int status = JOB_OK;
    if (own_number() != 0)
        status = tell(0, TAG_COLLECT, &sizes[own_number()], sizeof *sizes);
    for (int32_t rank = 1; rank < members() && own_number() == 0 && status == JOB_OK; rank++)
        status = hear(rank, TAG_COLLECT, &sizes[rank], sizeof *sizes);
    return status == JOB_OK ? spread(0, TAG_COLLECT, sizes, (uint64_t)members() * sizeof *sizes) : status;
}

static int collect(const void *mine, void *all, uint64_t room, const uint64_t *sizes, uint64_t total)
{
    unsigned char *place = total <= room ? all : malloc(total);
    if (place == NULL && total > 0)
        return NEOPVM_NO_MEMORY;
    int status = gather(place, sizes, mine);
    if (status == JOB_OK)
        status = spread(0, TAG_COLLECT, place, total);
    if (total > room) {
        free(place);
        status = status == JOB_OK ? JOB_TOO_LONG : status;
    }
    return status;
}

int job_collect(const void *mine, uint64_t bytes, void *all, uint64_t room, uint64_t *sizes, uint64_t *total)
{
    int status = check_all();
    uint64_t sum = 0, *counts = status == JOB_OK ? calloc((size_t)members(), sizeof *counts) : NULL;
    if (status != JOB_OK || counts == NULL)
        return status != JOB_OK ? status : NEOPVM_NO_MEMORY;
    counts[own_number()] = bytes;
    status = tell_sizes(counts);
    /* All ranks see the same sizes, so either all go on or none does. */
    for (int32_t rank = 0; rank < members() && status == JOB_OK; rank++) {
        if (counts[rank] > JOB_BYTES_MAX - sum)
            status = NEOPVM_BAD_PARAMETER;
        else
            sum += counts[rank];
    }
    if (status == JOB_OK)
        status = collect(mine, all, room, counts, sum);
    if (sizes != NULL)
        memcpy(sizes, counts, (size_t)members() * sizeof *counts);
    if (total != NULL)
        *total = sum;
    free(counts);
    return status;
}
