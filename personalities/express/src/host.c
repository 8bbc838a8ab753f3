/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The host program: it says which program each node runs, and is rank 0 of the job. */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#define HANDLE 1
#define NODES_MAX 16383

static int nodes_wanted;
static char **programs; /* of each node */
static int is_started;

static void need_handle(int handle, const char *call)
{
    if (nodes_wanted == 0 || handle != HANDLE)
        fatal("%s: handle %d is none of exopen", call, handle);
}

int host_open(int nodes, int *error)
{
    begin_host();
    if (nodes_wanted != 0)
        fatal("exopen: called a second time");
    if (nodes < 1 || nodes > NODES_MAX)
        fatal("exopen: %d nodes (1 to %d)", nodes, NODES_MAX);
    programs = calloc((size_t)nodes, sizeof *programs);
    if (programs == NULL)
        fatal("exopen: no memory");
    nodes_wanted = nodes;
    if (error != NULL)
        *error = 0;
    return HANDLE;
}

static void name_program(int node, const char *program)
{
    free(programs[node]);
    programs[node] = strdup(program);
    if (programs[node] == NULL)
        fatal("exload: no memory");
}

int host_load(int handle, const char *program, int node)
{
    need_handle(handle, "exload");
    if (program == NULL || *program == '\0' || is_started)
        fatal("exload: %s", is_started ? "the nodes run already" : "no program");
    if (node != ALLNODES && (node < 0 || node >= nodes_wanted))
        fatal("exload: node %d, but the nodes are 0 to %d", node, nodes_wanted - 1);
    for (int i = node == ALLNODES ? 0 : node; i < (node == ALLNODES ? nodes_wanted : node + 1); i++)
        name_program(i, program);
    return 0;
}

/* Neighbours with the same program are one cluster; the first cluster is the host itself. */
static int32_t make_clusters(struct job_cluster *clusters)
{
    int32_t count = 1;
    clusters[0] = (struct job_cluster){1, "local", NULL, 0};
    for (int node = 0; node < nodes_wanted; node++) {
        if (programs[node] == NULL)
            fatal("exstart: node %d has no program (exload)", node);
        if (node > 0 && strcmp(programs[node], programs[node - 1]) == 0)
            clusters[count - 1].count++;
        else
            clusters[count++] = (struct job_cluster){1, NULL, programs[node], 0};
    }
    return count;
}

int host_start_nodes(void)
{
    if (is_started || nodes_wanted == 0)
        return is_started;
    struct job_cluster *clusters = calloc((size_t)nodes_wanted + 1, sizeof *clusters);
    if (clusters == NULL)
        fatal("exstart: no memory");
    int32_t count = make_clusters(clusters);
    is_started = 1;
    check(job_start(clusters, count), "exstart");
    free(clusters);
    host_started();
    return 1;
}

int host_start(int handle, int node)
{
    need_handle(handle, "exstart");
    if (node != ALLNODES && (node < 0 || node >= nodes_wanted))
        fatal("exstart: node %d, but the nodes are 0 to %d", node, nodes_wanted - 1);
    (void)host_start_nodes();
    return 0;
}

int host_close(int handle)
{
    need_handle(handle, "exclose");
    job_leave();
    return 0;
}
