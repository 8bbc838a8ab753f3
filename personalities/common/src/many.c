/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One message to many ranks. */
#include "state.h"

#include <stdlib.h>

/* A message of up to this many bytes goes to each rank of this host separately, which takes a
 * few hundred instructions, whereas a message for many takes thousands. A larger one is copied
 * once for all, and so are all messages for ranks of other hosts: they cross the link to a host
 * once. */
#define EACH_BYTES 4096

/* Those that a list names, or all between two. */
struct ranks {
    const int32_t *list;
    int32_t first;
    int32_t count;
    int skips_own;
};

static int32_t rank_at(const struct ranks *ranks, int32_t at)
{
    return ranks->list != NULL ? ranks->list[at] : ranks->first + at;
}

static int is_skipped(const struct ranks *ranks, int32_t rank)
{
    return ranks->skips_own && rank == job_this.rank;
}

static int goes_alone(int32_t rank, uint64_t bytes)
{
    return rank == job_this.rank ||
           (bytes <= EACH_BYTES && job_this.ranks[rank].host == job_this.ranks[job_this.rank].host);
}

static int send_once(int channel, const int32_t *tids, int32_t count, int32_t type, const void *data, uint64_t bytes)
{
    neopvm_buffer buffer = 0;
    if (!job_is_rank())
        return JOB_LEFT;
    int status = neopvm_new(NEOPVM_RAW, &buffer);
    if (status == NEOPVM_OK)
        status = neopvm_pack(buffer, NEOPVM_BYTE, data, bytes, 1);
    if (status == NEOPVM_OK)
        status = neopvm_multicast(buffer, tids, (uint64_t)count, type, job_this.contexts[channel]);
    neopvm_free(buffer);
    return status;
}

static int send_together(int channel, const struct ranks *ranks, int32_t type, const void *data, uint64_t bytes)
{
    int32_t *tids = calloc((size_t)ranks->count, sizeof *tids), count = 0;
    if (tids == NULL)
        return NEOPVM_NO_MEMORY;
    for (int32_t at = 0; at < ranks->count; at++)
        if (!goes_alone(rank_at(ranks, at), bytes))
            tids[count++] = job_this.ranks[rank_at(ranks, at)].tid;
    int status = send_once(channel, tids, count, type, data, bytes);
    free(tids);
    return status;
}

static int send_all(int channel, const struct ranks *ranks, int32_t type, const void *data, uint64_t bytes)
{
    int status = JOB_OK, others = 0;
    for (int32_t at = 0; at < ranks->count && status == JOB_OK; at++) {
        int32_t rank = rank_at(ranks, at);
        if (is_skipped(ranks, rank))
            continue;
        if (goes_alone(rank, bytes))
            status = job_core_send(channel, rank, type, data, bytes);
        else
            others = 1;
    }
    return status == JOB_OK && others ? send_together(channel, ranks, type, data, bytes) : status;
}

int job_send_many(int channel, const int32_t *list, int32_t count, int32_t type, const void *data, uint64_t bytes)
{
    struct ranks ranks = {.list = list, .count = count};
    int status = JOB_OK;
    for (int32_t at = 0; at < count && status == JOB_OK; at++)
        status = job_check_send(list[at], type, bytes);
    return status != JOB_OK ? status : send_all(channel, &ranks, type, data, bytes);
}

int job_send_range(int channel, int32_t first, int32_t end, int32_t type, const void *data, uint64_t bytes)
{
    struct ranks ranks = {.first = first, .count = end - first, .skips_own = 1};
    int status = job_check_send(job_this.rank, type, bytes);
    return status != JOB_OK ? status : send_all(channel, &ranks, type, data, bytes);
}

int job_send_others(int channel, int32_t type, const void *data, uint64_t bytes)
{
    return job_send_range(channel, 0, job_this.size, type, data, bytes);
}

int job_own_send_range(int32_t first, int32_t end, int32_t tag, const void *data, uint64_t bytes)
{
    struct ranks ranks = {.first = first, .count = end - first, .skips_own = 1};
    return send_all(JOB_OWN, &ranks, tag, data, bytes);
}
