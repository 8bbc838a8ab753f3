/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NX has no first call: a process is a node from its start. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nx_hosted;
static long own_pid;
static _Thread_local struct nx_info last = {-1, -1, -1, -1};
static _Thread_local char reason[256];

long nx_wrong(int status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int used = vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    if (used >= 0 && used < (int)sizeof reason)
        snprintf(reason + used, sizeof reason - (size_t)used, ": %s", job_text(status));
    return status;
}

const char *nx_reason(void)
{
    return reason;
}

static void take_out(char **words, int count)
{
    while ((*words = words[count]) != NULL)
        words++;
}

/* `PROGRAM -sz N [-pn PARTITION]` by hand is a job of N nodes. */
static void start_by_hand(void)
{
    char **words = job_arguments();
    const char *size = NULL;
    for (int at = 1; words != NULL && words[at] != NULL; at++) {
        int is_size = strcmp(words[at], "-sz") == 0, is_partition = strcmp(words[at], "-pn") == 0;
        if (!is_size && !is_partition)
            continue;
        if (words[at + 1] == NULL)
            job_fatal(1, "%s needs a value behind it: -sz N -pn NAME", words[at]);
        if (is_size)
            size = words[at + 1];
        take_out(words + at--, 2);
    }
    if (size == NULL)
        return;
    const struct job_options options = {.interface = "nx"};
    if (job_count(size) < 0)
        job_fatal(1, "-sz %s: a program runs on 1 to 16384 nodes", size);
    job_begin(&options);
    job_become(job_count(size), NULL, words);
    job_fatal(1, "-sz %s: %s", size, job_reason());
}

static void begin(void)
{
    const struct job_options options = {.interface = "nx"};
    int state = job_begin(&options);
    if (state < 0)
        job_fatal(1, "this node cannot join its job: %s", job_text(state));
    atexit(job_leave);
}

__attribute__((constructor)) static void start(void)
{
    const char *keeper = getenv("NEOPVM_JOB"), *host = getenv("NEOPVM_NX_HOST");
    nx_hosted = host != NULL && *host == '1';
    unsetenv("NEOPVM_NX_HOST");
    if (keeper == NULL || *keeper == 0)
        start_by_hand();
    else
        begin();
}

long nx_enter(void)
{
    static int entered;
    if (entered)
        return JOB_OK;
    const struct job_options options = {.interface = "nx"};
    int status = job_enter(&options);
    if (status < 0)
        return nx_wrong(status, "this node cannot join its job");
    if (nx_hosted)
        job_together_from(1);
    entered = 1;
    return JOB_OK;
}

long nx_node(int32_t rank)
{
    return !nx_hosted ? rank : rank == 0 ? job_size() - 1 : rank - 1;
}

int32_t nx_rank(long node)
{
    long nodes = job_size() - nx_hosted;
    if (node >= 0 && node < nodes)
        return (int32_t)(node + nx_hosted);
    return nx_hosted && node == nodes ? 0 : -1;
}

struct nx_info *nx_last(void)
{
    return &last;
}

void nx_note(const struct job_message *message)
{
    last = (struct nx_info){message->type, (long)message->bytes, nx_node(message->source), 0};
}

long core_mynode(void)
{
    long status = nx_enter();
    return status < 0 ? status : nx_node(job_rank());
}

long core_numnodes(void)
{
    long status = nx_enter();
    return status < 0 ? status : job_size() - nx_hosted;
}

long core_myhost(void)
{
    return core_numnodes();
}

long core_nodedim(void)
{
    long nodes = core_numnodes(), dimension = 0;
    while (nodes > 0 && (1L << dimension) < nodes)
        dimension++;
    return nodes < 0 ? nodes : dimension;
}

long core_mypid(void)
{
    return own_pid;
}

long core_setpid(long pid)
{
    own_pid = pid;
    return JOB_OK;
}
