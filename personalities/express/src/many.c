/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls of many nodes: of a list of them, or of all. */
#include "nodes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Who stands twice in a list would wait for itself. */
static void each_once(const struct nodes *nodes, const char *call)
{
    unsigned char *seen = calloc((size_t)job_size(), 1);
    if (seen == NULL)
        fatal("%s: no memory", call);
    for (int i = 0; i < nodes->count; i++)
        if (seen[nodes->ranks[i]]++)
            fatal("%s: place %d of the list of %d nodes is a node that was named before", call, i, nodes->count);
    free(seen);
}

static struct nodes list_of(int nnodes, const int *list, int type, const char *call)
{
    need();
    check_type(type, call);
    int all = nnodes == ALLNODES;
    struct nodes nodes = {NULL, all ? node_count() : nnodes, -1, all && !has_host()};
    if (nodes.count < 1 || nodes.count > node_count() + 1 || (!all && list == NULL))
        fatal("%s: a list of %d nodes", call, nnodes);
    nodes.ranks = malloc((size_t)nodes.count * sizeof *nodes.ranks);
    if (nodes.ranks == NULL)
        fatal("%s: no memory", call);
    for (int i = 0; i < nodes.count; i++) {
        nodes.ranks[i] = rank_of(all ? i : list[i], call);
        if (nodes.ranks[i] == job_rank())
            nodes.me = i;
    }
    if (!all)
        each_once(&nodes, call);
    return nodes;
}

static void be_in(const struct nodes *nodes, const char *call)
{
    if (nodes->me < 0)
        fatal("%s: node %d calls it, but is not in the list", call, my_node());
}

static void receive_from(int32_t rank, int32_t type, void *data, uint64_t bytes, const char *call)
{
    struct job_message message;
    int result = job_receive(JOB_OWN, rank, type, data, bytes, &message);
    if (result == JOB_TOO_LONG || (result == JOB_OK && message.bytes != bytes))
        fatal("%s: node %d gives another number of bytes than this node's %llu", call, node_of(rank),
              (unsigned long long)bytes);
    check(result, call);
}

static int receive_broadcast(void *buf, int len, int32_t origin, int type)
{
    struct job_message message;
    int result = job_receive(JOB_OWN, origin, OWN_TYPE(KIND_BROADCAST, type), buf, (uint64_t)len, &message);
    if (result == JOB_TOO_LONG)
        fatal("exbroadcast: node %d sends more than the %d bytes that this node has room for", node_of(origin), len);
    check(result, "exbroadcast");
    return (int)message.bytes;
}

static void send_broadcast(const struct nodes *nodes, const void *buf, int len, int type)
{
    int32_t own = OWN_TYPE(KIND_BROADCAST, type);
    if (nodes->all) {
        check(job_send_others(JOB_OWN, own, buf, (uint64_t)len), "exbroadcast");
        return;
    }
    int others = 0;
    for (int i = 0; i < nodes->count; i++) {
        if (nodes->ranks[i] != job_rank())
            nodes->ranks[others++] = nodes->ranks[i];
    }
    if (others > 0)
        check(job_send_many(JOB_OWN, nodes->ranks, others, own, buf, (uint64_t)len), "exbroadcast");
}

int broadcast_to(void *buf, int origin, int len, int nnodes, const int *list, int type)
{
    struct nodes nodes = list_of(nnodes, list, type, "exbroadcast");
    int32_t from = rank_of(origin, "exbroadcast");
    (void)check_length(buf, len, "exbroadcast");
    int bytes = len;
    if (from == job_rank()) {
        send_broadcast(&nodes, buf, len, type);
    } else {
        be_in(&nodes, "exbroadcast");
        bytes = receive_broadcast(buf, len, from, type);
    }
    free(nodes.ranks);
    return bytes;
}

/* ---- Reductions: up a binomial tree to the first of the list, and down again ---- */

struct combination {
    combining func;
    void *with;
    int size;
};

static void combine_items(void *into, const void *from, uint64_t count, void *with)
{
    const struct combination *combination = with;
    for (uint64_t i = 0; i < count; i++)
        combination->func((char *)into + i * (uint64_t)combination->size,
                          (char *)(uintptr_t)from + i * (uint64_t)combination->size, combination->size, combination->with);
}

static void send_to(const struct nodes *nodes, int place, int32_t type, const void *data, uint64_t bytes)
{
    check(job_send(JOB_OWN, nodes->ranks[place], type, data, bytes), "excombine");
}

static void go_up(const struct nodes *nodes, void *buf, int nitems, int type, struct combination *combination)
{
    uint64_t bytes = (uint64_t)nitems * (uint64_t)combination->size;
    char *other = malloc(bytes == 0 ? 1 : bytes);
    if (other == NULL)
        fatal("excombine: no memory for %llu bytes", (unsigned long long)bytes);
    for (int step = 1; step < nodes->count; step *= 2) {
        if ((nodes->me & step) != 0) {
            send_to(nodes, nodes->me - step, OWN_TYPE(KIND_COMBINE, type), buf, bytes);
            break;
        }
        if (nodes->me + step < nodes->count) {
            receive_from(nodes->ranks[nodes->me + step], OWN_TYPE(KIND_COMBINE, type), other, bytes, "excombine");
            combine_items(buf, other, (uint64_t)nitems, combination);
        }
    }
    free(other);
}

static void go_down(const struct nodes *nodes, void *buf, uint64_t bytes, int type)
{
    int step = 1;
    while (step < nodes->count && (nodes->me & step) == 0)
        step *= 2;
    if (nodes->me != 0)
        receive_from(nodes->ranks[nodes->me - step], OWN_TYPE(KIND_RESULT, type), buf, bytes, "excombine");
    for (step /= 2; step >= 1; step /= 2) {
        if (nodes->me + step < nodes->count)
            send_to(nodes, nodes->me + step, OWN_TYPE(KIND_RESULT, type), buf, bytes);
    }
}

void combine_all(void *buf, int size, int nitems, int nnodes, const int *list, int type, combining func, void *with)
{
    struct nodes nodes = list_of(nnodes, list, type, "excombine");
    struct combination combination = {func, with, size};
    if (size < 0 || nitems < 0 || (buf == NULL && nitems > 0))
        fatal("excombine: %d items of %d bytes at %p", nitems, size, buf);
    be_in(&nodes, "excombine");
    if (nodes.all && size > 0) {
        check(job_reduce(buf, (uint64_t)nitems, (uint64_t)size, combine_items, &combination), "excombine");
    } else {
        go_up(&nodes, buf, nitems, type, &combination);
        go_down(&nodes, buf, (uint64_t)nitems * (uint64_t)size, type);
    }
    free(nodes.ranks);
}

void synchronise(void)
{
    need();
    if (!has_host())
        check(job_barrier(), "exsync");
    else if (my_node() != HOST)
        combine_all(NULL, 0, 0, ALLNODES, NULL, EX_TYPE_MAX, NULL, NULL);
    else
        fatal("exsync: is for the nodes, not for the host program");
}

/* ---- Concatenation ---- */

static int take_part(int32_t rank, int type, char *result, int room, int done)
{
    struct job_message message;
    int result_code = job_receive(JOB_OWN, rank, OWN_TYPE(KIND_CONCAT, type), result + done, (uint64_t)(room - done), &message);
    if (result_code == JOB_TOO_LONG)
        fatal("exconcat: there is room for %d bytes, and node %d's go beyond them", room, node_of(rank));
    check(result_code, "exconcat");
    return (int)message.bytes;
}

static int own_part(const void *mine, int bytes, char *result, int room, int done)
{
    if (bytes > room - done)
        fatal("exconcat: there is room for %d bytes, and this node's go beyond them", room);
    if (bytes > 0)
        memcpy(result + done, mine, (size_t)bytes);
    return bytes;
}

int concat_all(const void *mine, int bytes, void *result, int room, int *sizes, int nnodes, const int *list, int type)
{
    struct nodes nodes = list_of(nnodes, list, type, "exconcat");
    int done = 0;
    be_in(&nodes, "exconcat");
    (void)check_length(mine, bytes, "exconcat");
    (void)check_length(result, room, "exconcat");
    for (int i = 0; i < nodes.count; i++) {
        int to = (nodes.me + i) % nodes.count;
        if (to != nodes.me)
            check(job_send(JOB_OWN, nodes.ranks[to], OWN_TYPE(KIND_CONCAT, type), mine, (uint64_t)bytes), "exconcat");
    }
    for (int i = 0; i < nodes.count; i++) {
        int part = i == nodes.me ? own_part(mine, bytes, result, room, done)
                                 : take_part(nodes.ranks[i], type, result, room, done);
        if (sizes != NULL)
            sizes[i] = part;
        done += part;
    }
    free(nodes.ranks);
    return done;
}
