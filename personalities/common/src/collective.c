/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All ranks together. Each message has a known source, so the order of a pair's messages keeps calls apart. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* A reduction goes on in pieces of so many bytes. */
#define PIECE_BYTES 131072

static int check_all(void)
{
    return job_this.told ? JOB_OK : JOB_NO_TABLE;
}

/* In each round everybody hears of twice as many. */
int job_barrier(void)
{
    int status = check_all();
    int32_t size = job_this.size, rank = job_this.rank, round = 0;
    for (int32_t far = 1; far < size && status == JOB_OK; far *= 2, round++) {
        status = job_own_send((rank + far) % size, TAG_BARRIER + round, NULL, 0);
        if (status == JOB_OK)
            status = job_own_receive((rank - far + size) % size, TAG_BARRIER + round, NULL, 0);
    }
    return status;
}

/* A binomial tree over the ranks as seen from the root. */
static int spread(int32_t root, int32_t tag, void *data, uint64_t bytes)
{
    int32_t size = job_this.size, place = (job_this.rank - root + size) % size, bit = 1;
    int status = JOB_OK;
    while (bit < size && !(place & bit))
        bit *= 2;
    if (place != 0)
        status = job_own_receive((place - bit + root) % size, tag, data, bytes);
    for (bit /= 2; bit > 0 && status == JOB_OK; bit /= 2)
        if (place + bit < size)
            status = job_own_send((place + bit + root) % size, tag, data, bytes);
    return status;
}

int job_broadcast(int32_t root, void *data, uint64_t bytes)
{
    int status = check_all();
    if (status == JOB_OK && (root < 0 || root >= job_this.size))
        status = JOB_BAD_RANK;
    return status != JOB_OK ? status : spread(root, TAG_BROADCAST, data, bytes);
}

struct reduction {
    unsigned char *data;
    unsigned char *other; /* room for what comes */
    uint64_t count;
    uint64_t bytes;
    job_combine combine;
    void *with;
};

/* The lower rank's items stand first on both sides, so both get the same bits. */
static void combine(struct reduction *of, int is_lower)
{
    if (is_lower) {
        of->combine(of->data, of->other, of->count, of->with);
        return;
    }
    of->combine(of->other, of->data, of->count, of->with);
    memcpy(of->data, of->other, of->bytes);
}

static int receive_and_combine(struct reduction *of, int32_t partner)
{
    int status = job_own_receive(partner, TAG_REDUCE, of->other, of->bytes);
    if (status == JOB_OK)
        combine(of, job_this.rank < partner);
    return status;
}

static int exchange(struct reduction *of, int32_t partner)
{
    int status = job_own_send(partner, TAG_REDUCE, of->data, of->bytes);
    return status == JOB_OK ? receive_and_combine(of, partner) : status;
}

/* Recursive doubling; ranks above the largest power of two have a partner below it that stands for them. */
static int reduce_piece(struct reduction *of)
{
    int32_t rank = job_this.rank, size = job_this.size, whole = 1;
    int status = JOB_OK;
    while (whole * 2 <= size)
        whole *= 2;
    if (rank >= whole) {
        status = job_own_send(rank - whole, TAG_REDUCE, of->data, of->bytes);
        return status == JOB_OK ? job_own_receive(rank - whole, TAG_REDUCE, of->data, of->bytes) : status;
    }
    if (rank + whole < size)
        status = receive_and_combine(of, rank + whole);
    for (int32_t bit = 1; bit < whole && status == JOB_OK; bit *= 2)
        status = exchange(of, rank ^ bit);
    if (rank + whole < size && status == JOB_OK)
        status = job_own_send(rank + whole, TAG_REDUCE, of->data, of->bytes);
    return status;
}

int job_reduce(void *data, uint64_t count, uint64_t item_bytes, job_combine how, void *with)
{
    unsigned char few[256];
    int status = check_all();
    if (status != JOB_OK || job_this.size == 1 || count == 0 || item_bytes == 0)
        return status;
    uint64_t each = item_bytes > PIECE_BYTES ? 1 : PIECE_BYTES / item_bytes;
    uint64_t most = (count < each ? count : each) * item_bytes;
    unsigned char *other = most <= sizeof few ? few : malloc(most);
    if (other == NULL)
        return NEOPVM_NO_MEMORY;
    for (uint64_t at = 0; at < count && status == JOB_OK; at += each) {
        uint64_t items = count - at < each ? count - at : each;
        struct reduction piece = {(unsigned char *)data + at * item_bytes, other, items, items * item_bytes, how, with};
        status = reduce_piece(&piece);
    }
    if (other != few)
        free(other);
    return status;
}

/* ---- Collecting ---- */

static int gather(unsigned char *all, const uint64_t *sizes, const void *mine)
{
    int status = JOB_OK;
    if (job_this.rank != 0)
        return job_own_send(0, TAG_COLLECT, mine, sizes[job_this.rank]);
    if (sizes[0] > 0)
        memcpy(all, mine, sizes[0]);
    all += sizes[0];
    for (int32_t rank = 1; rank < job_this.size && status == JOB_OK; rank++) {
        status = job_own_receive(rank, TAG_COLLECT, all, sizes[rank]);
        all += sizes[rank];
    }
    return status;
}

static int tell_sizes(uint64_t *sizes)
{
    int status = JOB_OK;
    if (job_this.rank != 0)
        status = job_own_send(0, TAG_COLLECT, &sizes[job_this.rank], sizeof *sizes);
    for (int32_t rank = 1; rank < job_this.size && job_this.rank == 0 && status == JOB_OK; rank++)
        status = job_own_receive(rank, TAG_COLLECT, &sizes[rank], sizeof *sizes);
    return status == JOB_OK ? spread(0, TAG_COLLECT, sizes, (uint64_t)job_this.size * sizeof *sizes) : status;
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
    uint64_t sum = 0, *counts = status == JOB_OK ? calloc((size_t)job_this.size, sizeof *counts) : NULL;
    if (status != JOB_OK || counts == NULL)
        return status != JOB_OK ? status : NEOPVM_NO_MEMORY;
    counts[job_this.rank] = bytes;
    status = tell_sizes(counts);
    for (int32_t rank = 0; rank < job_this.size; rank++)
        sum += counts[rank];
    if (status == JOB_OK)
        status = collect(mine, all, room, counts, sum);
    if (sizes != NULL)
        memcpy(sizes, counts, (size_t)job_this.size * sizeof *counts);
    if (total != NULL)
        *total = sum;
    free(counts);
    return status;
}
