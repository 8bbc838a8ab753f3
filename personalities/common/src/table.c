/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who is who. The table is written once and read without a lock. */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t place_of(int32_t tid)
{
    return ((uint32_t)tid * 2654435761u) & job_this.places_mask;
}

static int number_tids(void)
{
    uint32_t room = 4;
    while (room < 2 * (uint32_t)job_this.size)
        room *= 2;
    job_this.places = calloc(room, sizeof *job_this.places);
    if (job_this.places == NULL)
        return NEOPVM_NO_MEMORY;
    job_this.places_mask = room - 1;
    for (int32_t rank = 0; rank < job_this.size; rank++) {
        uint32_t at = place_of(job_this.ranks[rank].tid);
        while (job_this.places[at] != 0)
            at = (at + 1) & job_this.places_mask;
        job_this.places[at] = rank + 1;
    }
    return JOB_OK;
}

int32_t job_rank_of(int32_t tid)
{
    if (job_this.places == NULL)
        return -1;
    for (uint32_t at = place_of(tid); job_this.places[at] != 0; at = (at + 1) & job_this.places_mask) {
        int32_t rank = job_this.places[at] - 1;
        if (job_this.ranks[rank].tid == tid)
            return rank;
    }
    return -1;
}

static int make_room(int32_t size, int32_t clusters, int32_t hosts)
{
    job_this.ranks = calloc((size_t)size, sizeof *job_this.ranks);
    job_this.cluster_first = calloc((size_t)clusters + 1, sizeof *job_this.cluster_first);
    job_this.hosts = calloc((size_t)hosts, sizeof *job_this.hosts);
    job_this.size = size;
    job_this.cluster_count = clusters;
    job_this.host_count = hosts;
    return job_this.ranks != NULL && job_this.cluster_first != NULL && job_this.hosts != NULL ? JOB_OK
                                                                                             : NEOPVM_NO_MEMORY;
}

static void read_clusters(neopvm_buffer buffer, int *failed)
{
    int32_t next = 0;
    for (int32_t cluster = 0; cluster < job_this.cluster_count; cluster++) {
        int32_t count = job_read_number(buffer, 0, job_this.size - next, failed);
        for (int32_t rank = next; rank < next + count; rank++)
            job_this.ranks[rank].cluster = cluster;
        next += count;
        job_this.cluster_first[cluster + 1] = next;
    }
    if (next != job_this.size)
        *failed = 1;
}

static void read_ranks(neopvm_buffer buffer, int *failed)
{
    for (int32_t rank = 0; rank < job_this.size; rank++)
        job_this.ranks[rank].tid = job_read_number(buffer, 1, INT32_MAX, failed);
    for (int32_t rank = 0; rank < job_this.size; rank++)
        job_this.ranks[rank].host = job_read_number(buffer, 0, job_this.host_count - 1, failed);
    for (int32_t host = 0; host < job_this.host_count; host++) {
        job_this.hosts[host] = job_read_text(buffer);
        if (job_this.hosts[host] == NULL)
            *failed = 1;
    }
}

int job_read_table(neopvm_buffer buffer)
{
    int failed = 0;
    int32_t size = job_read_number(buffer, 1, JOB_RANKS_MAX, &failed);
    int32_t clusters = job_read_number(buffer, 1, size, &failed);
    int32_t hosts = job_read_number(buffer, 1, size, &failed);
    int status = make_room(size, clusters, hosts);
    if (status != JOB_OK)
        return status;
    read_clusters(buffer, &failed);
    read_ranks(buffer, &failed);
    status = number_tids();
    if (status != JOB_OK)
        return status;
    job_this.rank = job_rank_of(job_this.tid);
    if (failed || job_this.rank < 0) {
        job_refuse("what the keeper tells of the ranks makes no sense, or leaves this one out");
        return JOB_REFUSED;
    }
    return JOB_OK;
}

int job_alone_table(void)
{
    static char host[256];
    int status = make_room(1, 1, 1);
    if (status != JOB_OK)
        return status;
    if (gethostname(host, sizeof host - 1) != 0)
        snprintf(host, sizeof host, "localhost");
    job_this.hosts[0] = host;
    job_this.cluster_first[1] = 1;
    job_this.wanted = 1;
    job_this.told = 1;
    return JOB_ALONE;
}

int job_table(void)
{
    if (job_this.told)
        return JOB_OK;
    if (!job_this.began)
        return JOB_NO_TABLE;
    neopvm_buffer buffer = 0;
    int status = neopvm_receive(job_this.keeper, TAG_TABLE, job_this.contexts[JOB_OWN], JOB_FOREVER, &buffer);
    if (status == NEOPVM_OK)
        status = job_read_table(buffer);
    neopvm_free(buffer);
    job_this.told = status == JOB_OK;
    return status;
}

static int is_rank(int32_t rank)
{
    return rank >= 0 && rank < job_this.size && job_this.ranks != NULL;
}

static int is_cluster(int32_t cluster)
{
    return cluster >= 0 && cluster < job_this.cluster_count && job_this.cluster_first != NULL;
}

int job_state(void)
{
    return job_this.state;
}

int job_entered(void)
{
    return job_this.told && !atomic_load(&job_this.left);
}

int32_t job_rank(void)
{
    return job_this.rank;
}

int32_t job_size(void)
{
    return job_this.size > 0 ? job_this.size : 1;
}

int32_t job_tid(int32_t rank)
{
    return is_rank(rank) ? job_this.ranks[rank].tid : -1;
}

int32_t job_keeper(void)
{
    return job_this.keeper;
}

int32_t job_clusters(void)
{
    return job_this.cluster_count > 0 ? job_this.cluster_count : 1;
}

int32_t job_cluster_wanted(void)
{
    return job_this.wanted > 0 ? job_this.wanted : 1;
}

int32_t job_cluster_of(int32_t rank)
{
    return is_rank(rank) ? job_this.ranks[rank].cluster : -1;
}

int32_t job_cluster_first(int32_t cluster)
{
    return is_cluster(cluster) ? job_this.cluster_first[cluster] : -1;
}

int32_t job_cluster_size(int32_t cluster)
{
    return is_cluster(cluster) ? job_this.cluster_first[cluster + 1] - job_this.cluster_first[cluster] : -1;
}

const char *job_host_of(int32_t rank)
{
    const char *host = is_rank(rank) ? job_this.hosts[job_this.ranks[rank].host] : NULL;
    return host != NULL ? host : "?";
}
