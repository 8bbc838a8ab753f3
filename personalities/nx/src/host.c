/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A host program: it is rank 0 of the job, and the nodes that it loads are the ranks behind it. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static char **programs; /* of each node, as far as it is loaded */
static long nodes;
static int started;

static void become_host(void)
{
    const struct job_options options = {.interface = "nx-host"};
    if (job_state() != JOB_ALONE || nx_hosted)
        return;
    job_begin(&options);
    job_become(0, NULL, job_arguments());
    job_fatal(1, "getcube: %s", job_reason());
}

/* "8" or "8f..." are eight nodes, "d3" a cube of three dimensions, nothing is one node. */
static long size_of(const char *type)
{
    if (type == NULL || *type == 0)
        return 1;
    const char *digits = *type == 'd' ? type + 1 : type;
    char *end;
    long number = strtol(digits, &end, 10);
    if (end == digits)
        return -1;
    if (*type == 'd')
        return number >= 0 && number <= 14 ? 1L << number : -1;
    return number;
}

long core_getcube(const char *type)
{
    become_host();
    long size = size_of(type);
    if (size < 1 || size > 16383)
        return nx_wrong(NEOPVM_BAD_PARAMETER, "a cube of type %s", type);
    if (programs != NULL)
        return nx_wrong(NEOPVM_ALREADY, "there is a cube of %ld nodes", nodes);
    programs = calloc((size_t)size, sizeof *programs);
    nodes = size;
    return programs == NULL ? nx_wrong(NEOPVM_NO_MEMORY, "%ld nodes", size) : JOB_OK;
}

static long is_loaded(void)
{
    for (long node = 0; node < nodes; node++)
        if (programs[node] == NULL)
            return 0;
    return 1;
}

/* Neighbours with one program are one cluster. */
static long start_nodes(void)
{
    struct job_cluster *clusters = calloc((size_t)nodes + 1, sizeof *clusters);
    int32_t count = 1;
    if (clusters == NULL)
        return nx_wrong(NEOPVM_NO_MEMORY, "%ld nodes", nodes);
    clusters[0].count = 1;
    for (long node = 0; node < nodes; node++) {
        if (node == 0 || strcmp(programs[node], programs[node - 1]) != 0)
            clusters[count++].program = programs[node];
        clusters[count - 1].count++;
    }
    int status = job_start(clusters, count);
    free(clusters);
    if (status < 0)
        return nx_wrong(status, "%s", status == JOB_REFUSED ? job_reason() : programs[0]);
    started = 1;
    return nx_enter();
}

long core_load(const char *file, long node, long pid)
{
    (void)pid;
    if (programs == NULL || !nx_hosted)
        return nx_wrong(NEOPVM_NOT_POSSIBLE, "load %s without a cube: getcube comes first", file);
    if (started)
        return nx_wrong(NEOPVM_ALREADY, "load %s: the nodes run", file);
    if (node < -1 || node >= nodes)
        return nx_wrong(JOB_BAD_RANK, "node %ld", node);
    for (long at = 0; at < nodes; at++) {
        if (node != -1 && node != at)
            continue;
        free(programs[at]);
        programs[at] = strdup(file);
    }
    return is_loaded() ? start_nodes() : JOB_OK;
}

static long list_nodes(long node, int32_t **ranks)
{
    long count = 0, status = nx_enter();
    if (status < 0)
        return status;
    if (node < -1 || (node >= 0 && (node >= job_size() - nx_hosted)))
        return nx_wrong(JOB_BAD_RANK, "node %ld", node);
    *ranks = calloc((size_t)job_size(), sizeof **ranks);
    if (*ranks == NULL)
        return nx_wrong(NEOPVM_NO_MEMORY, "%d nodes", (int)job_size());
    for (int32_t rank = nx_hosted; rank < job_size(); rank++)
        if (rank != job_rank() && (node == -1 || node == nx_node(rank)))
            (*ranks)[count++] = rank;
    return count;
}

static long await(long node, long all, int32_t *which)
{
    int32_t *ranks = NULL, ended = -1;
    long count = list_nodes(node, &ranks);
    if (!nx_hosted && count >= 0)
        count = nx_wrong(NEOPVM_NOT_POSSIBLE, "only a host program waits for nodes");
    for (long at = 0; count > 0 && at < (all ? count : 1); at++) {
        ended = job_await_end(ranks, (int32_t)count);
        if (ended < 0)
            break;
    }
    free(ranks);
    *which = ended;
    return count < 0 ? count : count > 0 && ended < -1 ? nx_wrong(ended, "node %ld", node) : JOB_OK;
}

long core_waitall(long node, long pid)
{
    int32_t which;
    (void)pid;
    return await(node, 1, &which);
}

long core_waitone(long node, long pid, long *from, long *from_pid, long *code)
{
    int32_t which;
    (void)pid;
    long status = await(node, 0, &which);
    if (status < 0)
        return status;
    *from = which >= 0 ? nx_node(which) : -1;
    *from_pid = 0;
    *code = 0;
    return JOB_OK;
}

long core_killcube(long node, long pid)
{
    int32_t *ranks = NULL;
    (void)pid;
    long count = list_nodes(node, &ranks);
    int status = count > 0 ? job_kill(ranks, (int32_t)count) : JOB_OK;
    free(ranks);
    if (count < 0)
        return count;
    return status < 0 ? nx_wrong(status, "node %ld", node) : JOB_OK;
}
