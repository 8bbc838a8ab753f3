/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CMMD over a job: messages, and what was received last. */
#include <cmmd.h>
#include "cmmd_state.h"

static struct job_message last;

int cmmd_enter(void)
{
    return echo_enter_as("cmmd", NULL);
}

/* A call without a way to tell that something is wrong ends the job. */
void cmmd_must(const char *call, int status)
{
    if (status < 0)
        job_fatal(1, "%s: %s", call, job_text(status));
}

static int check(const void *data, int bytes)
{
    int status = cmmd_enter();

    if (status < 0)
        return status;
    return bytes < 0 || (bytes > 0 && !data) ? JOB_TOO_LONG : JOB_OK;
}

static int send(int node, int tag, const void *data, int bytes)
{
    int status = check(data, bytes);

    /* An acknowledgement from oneself would be waited for by the one who is to give it. */
    if (status >= 0 && node == job_rank())
        status = job_send(JOB_USER, node, tag, data, (uint64_t)bytes);
    else if (status >= 0)
        status = job_send_acknowledged(JOB_USER, node, tag, data, (uint64_t)bytes);
    return status < 0 ? -1 : 0;
}

static int send_noblock(int node, int tag, const void *data, int bytes)
{
    int status = check(data, bytes);

    if (status >= 0)
        status = job_send(JOB_USER, node, tag, data, (uint64_t)bytes);
    return status < 0 ? -1 : 0;
}

static int receive(int node, int tag, void *data, int room)
{
    struct job_message message;
    int status = check(data, room);

    if (status >= 0)
        status = job_receive(JOB_USER, node, tag, data, (uint64_t)room, &message);
    if (status < 0)
        return -1;
    last = message;
    return 0;
}

ECHO_CALL int CMMD_self_address(void)
{
    cmmd_must("CMMD_self_address", cmmd_enter());
    return job_rank();
}

ECHO_CALL int CMMD_partition_size(void)
{
    cmmd_must("CMMD_partition_size", cmmd_enter());
    return job_size();
}

ECHO_CALL int CMMD_host_node(void)
{
    cmmd_must("CMMD_host_node", cmmd_enter());
    return job_size();
}

ECHO_CALL void CMMD_enable_host(void)
{
    cmmd_must("CMMD_enable_host", cmmd_enter());
}

ECHO_CALL int CMMD_fset_io_mode(void *stream, int mode)
{
    (void)stream;
    (void)mode;
    return 0;
}

ECHO_CALL int CMMD_send_block(int node, int tag, void *data, int bytes)
{
    return send(node, tag, data, bytes);
}

ECHO_CALL int CMMD_send(int node, int tag, void *data, int bytes)
{
    return send(node, tag, data, bytes);
}

ECHO_CALL int CMMD_send_noblock(int node, int tag, void *data, int bytes)
{
    return send_noblock(node, tag, data, bytes);
}

ECHO_CALL int CMMD_receive_block(int node, int tag, void *data, int room)
{
    return receive(node, tag, data, room);
}

ECHO_CALL int CMMD_receive(int node, int tag, void *data, int room)
{
    return receive(node, tag, data, room);
}

ECHO_CALL int CMMD_send_and_receive(int from, int from_tag, void *in, int room, int to, int to_tag, void *out, int bytes)
{
    int sent = send_noblock(to, to_tag, out, bytes);

    return sent < 0 ? sent : receive(from, from_tag, in, room);
}

/* In a channel of its own, so that it meets no message of the program. */
ECHO_CALL int CMMD_swap(int node, void *data, int bytes)
{
    int status = check(data, bytes);

    if (status >= 0)
        status = job_send(JOB_OWN, node, TYPE_SWAP, data, (uint64_t)bytes);
    if (status >= 0)
        status = job_receive(JOB_OWN, node, TYPE_SWAP, data, (uint64_t)bytes, &last);
    return status < 0 ? -1 : 0;
}

ECHO_CALL int CMMD_msg_pending(int node, int tag)
{
    struct job_select select = echo_select(node, tag);
    struct job_message message;
    int status = cmmd_enter();

    if (status >= 0)
        status = job_probe(&select, &message);
    if (status == JOB_OK)
        last = message;
    return status < 0 ? -1 : status == JOB_OK;
}

ECHO_CALL int CMMD_bytes_received(void)
{
    return last.bytes > INT32_MAX ? INT32_MAX : (int)last.bytes;
}

ECHO_CALL int CMMD_msg_sender(void)
{
    return last.source;
}

ECHO_CALL int CMMD_msg_tag(void)
{
    return last.type;
}

ECHO_CALL CMMD_mcb CMMD_send_async(int node, int tag, void *data, int bytes)
{
    struct job_message sent = {.source = node, .type = tag, .bytes = (uint64_t)bytes};
    job_handle handle;

    if (send_noblock(node, tag, data, bytes) < 0)
        return -1;
    return job_post_done(&sent, &handle) < 0 ? -1 : handle;
}

ECHO_CALL CMMD_mcb CMMD_receive_async(int node, int tag, void *data, int room)
{
    struct job_select select = echo_select(node, tag);
    job_handle handle;
    int status = check(data, room);

    if (status >= 0)
        status = job_post(&select, data, (uint64_t)room, &handle);
    return status < 0 ? -1 : handle;
}

/* 1, or 0 while it is under way, or -1. */
static int done(int status, const struct job_message *message)
{
    if (status == JOB_OK)
        last = *message;
    return status < 0 ? -1 : status == JOB_OK;
}

ECHO_CALL int CMMD_msg_done(CMMD_mcb transfer)
{
    struct job_message message;
    int status = job_test(transfer, &message);

    return done(status, &message);
}

ECHO_CALL int CMMD_msg_wait(CMMD_mcb transfer)
{
    struct job_message message;
    int status = job_wait(transfer, NEOPVM_FOREVER, &message);

    return done(status, &message);
}
