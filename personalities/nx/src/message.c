/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages that are sent and received at once. */
#include "core.h"

#include <limits.h>

/* -1 is any type; with the top bit set it is a mask of the types 0 to 30. */
static void select_types(struct job_select *select, long typesel, int32_t rank)
{
    *select = (struct job_select){.channel = JOB_USER, .rank = rank, .type = JOB_ANY};
    if ((int32_t)typesel >= 0) {
        select->type = (int32_t)typesel;
    } else if ((int32_t)typesel != -1) {
        select->types = (uint32_t)typesel;
    }
}

static long check(long type, long bytes)
{
    long status = nx_enter();
    if (status < 0)
        return status;
    if (type < 0 || type > INT32_MAX)
        return nx_wrong(JOB_BAD_TYPE, "type %ld", type);
    return bytes < 0 || bytes == LONG_MAX ? nx_wrong(NEOPVM_BAD_PARAMETER, "length %ld", bytes) : JOB_OK;
}

static long send_nodes(long type, const void *data, long bytes)
{
    int status = job_send_range(JOB_USER, nx_hosted, job_size(), (int32_t)type, data, (uint64_t)bytes);
    return status < 0 ? nx_wrong(status, "to all nodes") : JOB_OK;
}

long core_csend(long type, const void *data, long bytes, long node, long pid)
{
    (void)pid;
    long status = check(type, bytes);
    if (status < 0)
        return status;
    if (node == -1)
        return send_nodes(type, data, bytes);
    int32_t rank = nx_rank(node);
    if (rank < 0)
        return nx_wrong(JOB_BAD_RANK, "node %ld", node);
    int sent = job_send(JOB_USER, rank, (int32_t)type, data, (uint64_t)bytes);
    return sent < 0 ? nx_wrong(sent, "node %ld", node) : JOB_OK;
}

long core_gsendx(long type, const void *data, long bytes, const long *nodes, long count)
{
    long status = check(type, bytes);
    if (status >= 0 && count < 0)
        status = nx_wrong(NEOPVM_BAD_PARAMETER, "%ld nodes", count);
    for (long at = 0; at < count && status >= 0; at++)
        status = core_csend(type, data, bytes, nodes[at], 0);
    return status;
}

long nx_prepare(struct job_select *select, long typesel, long node, long room)
{
    long status = nx_enter();
    if (status < 0)
        return status;
    /* A mask may be written with its top bit as a sign, or as the 32nd bit of a long. */
    if (typesel < INT32_MIN || typesel > UINT32_MAX)
        return nx_wrong(JOB_BAD_TYPE, "type %ld", typesel);
    if (node != -1 && nx_rank(node) < 0)
        return nx_wrong(JOB_BAD_RANK, "node %ld", node);
    select_types(select, typesel, node == -1 ? JOB_ANY : nx_rank(node));
    return room < 0 ? nx_wrong(NEOPVM_BAD_PARAMETER, "length %ld", room) : JOB_OK;
}

static void fill(long *info)
{
    if (info == NULL)
        return;
    for (int at = 0; at < 8; at++)
        info[at] = 0;
    info[0] = nx_last()->type;
    info[1] = nx_last()->count;
    info[2] = nx_last()->node;
}

long core_crecvx(long typesel, void *data, long room, long node, long pid, long *info)
{
    struct job_select select;
    struct job_message message;
    (void)pid;
    long status = nx_prepare(&select, typesel, node, room);
    if (status < 0)
        return status;
    int taken = job_take(&select, JOB_ANY, &message);
    if (taken < 0)
        return nx_wrong(taken, "type %ld", typesel);
    nx_note(&message);
    fill(info);
    int put = job_put(&message, data, (uint64_t)room);
    if (put < 0)
        return nx_wrong(put, "type %ld from node %ld with %ld bytes, and there is room for %ld", nx_last()->type,
                        nx_last()->node, nx_last()->count, room);
    return nx_last()->count;
}

long core_crecv(long typesel, void *data, long room)
{
    return core_crecvx(typesel, data, room, -1, -1, NULL);
}

long core_csendrecv(long type, const void *out, long bytes, long node, long pid, long typesel, void *in, long room)
{
    long status = core_csend(type, out, bytes, node, pid);
    return status < 0 ? status : core_crecv(typesel, in, room);
}

static long probe(long typesel, long node, long *info, int64_t limit)
{
    struct job_select select;
    struct job_message message;
    long status = nx_prepare(&select, typesel, node, 0);
    if (status < 0)
        return status;
    int found = limit == 0 ? job_probe(&select, &message) : job_await(&select, limit, &message);
    if (found < 0)
        return nx_wrong(found, "type %ld", typesel);
    if (found != JOB_OK)
        return 0;
    nx_note(&message);
    fill(info);
    return 1;
}

long core_cprobe(long typesel)
{
    return probe(typesel, -1, NULL, -1);
}

long core_cprobex(long typesel, long node, long pid, long *info)
{
    (void)pid;
    return probe(typesel, node, info, -1);
}

long core_iprobe(long typesel)
{
    return probe(typesel, -1, NULL, 0);
}

long core_iprobex(long typesel, long node, long pid, long *info)
{
    (void)pid;
    return probe(typesel, node, info, 0);
}

long core_flushmsg(long typesel, long node, long pid)
{
    struct job_select select;
    struct job_message message;
    (void)pid;
    long status = nx_prepare(&select, typesel, node, 0);
    if (status < 0)
        return status;
    while ((status = job_take(&select, 0, &message)) == JOB_OK)
        job_free(&message);
    return status < 0 ? nx_wrong((int)status, "type %ld", typesel) : JOB_OK;
}
