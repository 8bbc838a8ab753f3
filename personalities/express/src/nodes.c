/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who the nodes are. Without a host program node N is rank N; with one it is rank N + 1, and rank 0 is the host. */
#include "nodes.h"

#include <stdarg.h>
#include <stdlib.h>

static int begun;
static int host; /* 1: there is a host program */

_Noreturn void fatal(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    output_give_up();
    job_vfatal(1, format, values);
    va_end(values);
}

void check(int result, const char *call)
{
    if (result != JOB_OK)
        fatal("%s: %s", call, job_text(result));
}

/* The first rank knows whether it is a host; the others learn it from it. */
static void learn_of_host(void)
{
    struct job_message message;
    int32_t word = host;
    if (job_rank() == 0)
        check(job_send_others(JOB_OWN, OWN_TYPE(KIND_START, 0), &word, sizeof word), "start");
    else
        check(job_receive(JOB_OWN, 0, OWN_TYPE(KIND_START, 0), &word, sizeof word, &message), "start");
    host = word != 0;
}

static void begin_node(void)
{
    static const struct job_options options = {.interface = "express"};
    int state = job_begin(&options);
    if (state < 0)
        fatal("start: %s", job_text(state));
    check(job_table(), "start");
    begun = 1;
    if (job_size() > 1)
        learn_of_host();
    if (!host)
        output_begin();
}

void begin_host(void)
{
    static const struct job_options options = {.interface = "express-host"};
    int state = job_begin(&options);
    if (state < 0)
        fatal("exopen: %s", job_text(state));
    if (begun)
        fatal("exopen: this is a node: a host program calls exopen before all others");
    if (state == JOB_ALONE) {
        char **arguments = job_arguments();
        char *none[] = {NULL};
        output_flush_buffers();
        check(job_become(0, NULL, arguments == NULL ? none : arguments), "exopen");
    }
    host = 1;
}

void host_started(void)
{
    check(job_table(), "exload");
    begun = 1;
    learn_of_host();
}

void need(void)
{
    if (begun)
        return;
    if (!host)
        begin_node();
    else if (!host_start_nodes())
        fatal("the host program has not loaded its nodes (exload)");
}

int node_count(void)
{
    return (int)job_size() - host;
}

int my_node(void)
{
    return node_of(job_rank());
}

int has_host(void)
{
    return host;
}

int32_t rank_of(int node, const char *call)
{
    if (node == HOST && host)
        return 0;
    if (node < 0 || node >= node_count())
        fatal("%s: node %d, but the nodes are 0 to %d%s", call, node, node_count() - 1, host ? ", and the host" : "");
    return (int32_t)(node + host);
}

int node_of(int32_t rank)
{
    return host && rank == 0 ? HOST : (int)rank - host;
}

int check_type(int type, const char *call)
{
    if (type < 0 || type > EX_TYPE_MAX)
        fatal("%s: type %d (0 to %d)", call, type, EX_TYPE_MAX);
    return type;
}

uint64_t check_length(const void *data, int length, const char *call)
{
    if (length < 0 || (data == NULL && length > 0))
        fatal("%s: %d bytes at %p", call, length, data);
    return (uint64_t)length;
}

static int dimensions_of(int nodes)
{
    int dimensions = 0;
    while ((1 << dimensions) < nodes)
        dimensions++;
    return dimensions;
}

EX_API int exparam(struct nodenv *env)
{
    need();
    if (env == NULL)
        fatal("exparam: a null pointer");
    env->procnum = my_node();
    env->nprocs = node_count();
    env->procid = 0;
    env->nhost = host;
    env->doscale = dimensions_of(node_count());
    return 0;
}

EX_API double extime(void)
{
    return job_seconds();
}
