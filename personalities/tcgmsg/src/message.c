/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages of two nodes. */
#include "calls.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Receives that WAITCOM waits for, in the order in which they were posted. */
static job_handle *pending;
static long pending_count, pending_room;

static void check_node(const char *call, long node, long least)
{
    if (node < least || node >= job_size())
        job_fatal(1, "%s: node %ld is not one of 0 to %d", call, node, (int)job_size() - 1);
}

static void check_type(const char *call, long type)
{
    if (type < 0 || type > INT32_MAX)
        job_fatal(1, "%s: type %ld is not one of 0 to %d", call, type, INT32_MAX);
}

static void check_length(const char *call, long length)
{
    if (length < 0 || length == LONG_MAX)
        job_fatal(1, "%s: a length of %ld bytes", call, length);
}

static void trace(const char *call, long type, long bytes, long node, long sync)
{
    if (!call_debug)
        return;
    printf("%ld: %s type=%ld, length=%ld, node=%ld, sync=%ld\n", (long)job_rank(), call, type, bytes, node, sync);
    fflush(stdout);
}

void call_snd(long type, const void *data, long bytes, long node, long sync)
{
    must_have_begun("SND");
    check_node("SND", node, 0);
    check_type("SND", type);
    check_length("SND", bytes);
    if (node == job_rank())
        job_fatal(1, "SND: node %ld sends to itself", node);
    trace("SND", type, bytes, node, sync);
    call_counts.sent++;
    call_counts.sent_bytes += (unsigned long)bytes;
    /* The data are copied, so an asynchronous one is complete, too. */
    must(job_send(JOB_USER, (int32_t)node, (int32_t)type, data, (uint64_t)bytes), "SND", "type", type);
}

static void remember(job_handle handle)
{
    if (pending_count == pending_room) {
        pending_room = pending_room * 2 + 16;
        job_handle *more = realloc(pending, (size_t)pending_room * sizeof *pending);
        if (more == NULL)
            job_fatal(1, "RCV: no memory for %ld asynchronous receives", pending_room);
        pending = more;
    }
    pending[pending_count++] = handle;
}

static void count_received(const struct job_message *message)
{
    call_counts.received++;
    call_counts.received_bytes += message->bytes;
}

static void check_received(int status, const char *call, const struct job_message *message, long room)
{
    if (status == JOB_TOO_LONG)
        job_fatal(1, "%s: a message of type %d from node %d has %lu bytes, and there is room for %ld", call,
                  (int)message->type, (int)message->source, (unsigned long)message->bytes, room);
    must(status, call, "type", message->type);
    count_received(message);
}

static void receive_later(const struct job_select *select, void *data, long room)
{
    job_handle handle;
    must(job_post(select, data, (uint64_t)room, &handle), "RCV", "type", select->type);
    remember(handle);
}

void call_rcv(long type, void *data, long room, long *length, long node, long *from, long sync)
{
    must_have_begun("RCV");
    check_node("RCV", node, -1);
    check_type("RCV", type);
    check_length("RCV", room);
    trace("RCV", type, room, node, sync);
    struct job_select select = {.channel = JOB_USER, .rank = (int32_t)node, .type = (int32_t)type};
    *length = -1;
    *from = node;
    if (!sync) {
        receive_later(&select, data, room);
        return;
    }
    struct job_message message = {.type = select.type};
    int status = job_take(&select, JOB_ANY, &message);
    if (status == JOB_OK)
        status = job_put(&message, data, (uint64_t)room);
    check_received(status, "RCV", &message, room);
    *length = (long)message.bytes;
    *from = message.source;
}

long call_probe(long type, long node)
{
    must_have_begun("PROBE");
    check_node("PROBE", node, -1);
    check_type("PROBE", type);
    struct job_select select = {.channel = JOB_USER, .rank = (int32_t)node, .type = (int32_t)type};
    struct job_message message;
    int status = job_probe(&select, &message);
    must(status, "PROBE", "type", type);
    return status == JOB_OK;
}

void call_waitcom(void)
{
    must_have_begun("WAITCOM");
    for (long at = 0; at < pending_count; at++) {
        struct job_message message = {.type = 0};
        int status = job_wait(pending[at], JOB_ANY, &message);
        if (status == JOB_TOO_LONG)
            job_fatal(1, "WAITCOM: a message of type %d from node %d has %lu bytes: more than its RCV had room for",
                      (int)message.type, (int)message.source, (unsigned long)message.bytes);
        must(status, "WAITCOM", "receive", at);
        count_received(&message);
    }
    pending_count = 0;
}
