/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What MPL's calls do. */
#include <mpl.h>
#include "mpl_calls.h"

ECHO_CALL int mperrno;

int mpl_enter(void)
{
    return echo_enter_as("mpl", "MP_PROCS");
}

int mpl_refuse(int number)
{
    mperrno = number;
    return -1;
}

int mpl_result(int status)
{
    return status >= 0 ? 0 : mpl_refuse(echo_errno(status));
}

int mpl_environ(int *tasks, int *me)
{
    int status = mpl_enter();

    if (status >= 0 && tasks)
        *tasks = job_size();
    if (status >= 0 && me)
        *me = job_rank();
    return mpl_result(status);
}

int mpl_send(const void *data, size_t bytes, int to, int type)
{
    int status = mpl_enter();

    if (status < 0)
        return mpl_result(status);
    if (bytes > 0 && !data)
        return mpl_refuse(EINVAL);
    return mpl_result(job_send(JOB_USER, to, type, data, bytes));
}

/* Tells who sent what. */
static void tell(const struct job_message *message, int *from, int *type, size_t *bytes)
{
    if (from)
        *from = message->source;
    if (type)
        *type = message->type;
    if (bytes)
        *bytes = message->bytes;
}

int mpl_receive(void *data, size_t room, int *from, int *type, size_t *bytes)
{
    struct job_message message;
    int status = mpl_enter();

    if (status < 0)
        return mpl_result(status);
    if (!from || !type || (room > 0 && !data))
        return mpl_refuse(EINVAL);
    status = job_receive(JOB_USER, *from, *type, data, room, &message);
    if (status >= 0)
        tell(&message, from, type, bytes);
    return mpl_result(status);
}

int mpl_send_receive(const void *out, size_t bytes, int to, int type, void *in, size_t room, int *from, size_t *got)
{
    int any = type, result = mpl_send(out, bytes, to, type);

    return result < 0 ? result : mpl_receive(in, room, from, &any, got);
}

/* Receives that are under way, and where their sender and type are to be told. */
static struct posted {
    int *from, *type;
} posted[JOB_HANDLES];

/* That of a handle; of a number that is none, that of some other. */
static struct posted *posted_of(job_handle handle)
{
    return &posted[handle & (JOB_HANDLES - 1)];
}

static int note(int status, const int *id, int *from, int *type)
{
    if (status >= 0)
        *posted_of(*id) = (struct posted){from, type};
    return mpl_result(status);
}

int mpl_post_send(const void *data, size_t bytes, int to, int type, int *id)
{
    struct job_message message = {.source = to, .type = type, .bytes = bytes};

    if (!id)
        return mpl_refuse(EINVAL);
    if (mpl_send(data, bytes, to, type) < 0)
        return -1;
    return note(job_post_done(&message, id), id, NULL, NULL);
}

int mpl_post_receive(void *data, size_t room, int *from, int *type, int *id)
{
    struct job_select select;
    int status = mpl_enter();

    if (status < 0)
        return mpl_result(status);
    if (!from || !type || !id || (room > 0 && !data))
        return mpl_refuse(EINVAL);
    select = echo_select(*from, *type);
    return note(job_post(&select, data, room, id), id, from, type);
}

static void tell_posted(int status, job_handle handle, const struct job_message *message)
{
    if (status == JOB_OK)
        tell(message, posted_of(handle)->from, posted_of(handle)->type, NULL);
}

int mpl_status(int id)
{
    struct job_message message;
    int status = job_test(id, &message);

    if (status == JOB_NONE)
        return mpl_refuse(0);
    tell_posted(status, id, &message);
    if (status < 0)
        return mpl_result(status);
    return message.bytes > INT32_MAX ? INT32_MAX : (int)message.bytes;
}

int mpl_wait(int *id, size_t *bytes)
{
    struct job_message message;
    int status;

    if (!id)
        return mpl_refuse(EINVAL);
    if (*id == DONTCARE)
        status = job_wait_any(NEOPVM_FOREVER, id, &message);
    else
        status = job_wait(*id, NEOPVM_FOREVER, &message);
    tell_posted(status, *id, &message);
    if (status == JOB_OK && bytes)
        *bytes = message.bytes;
    return mpl_result(status);
}

int mpl_probe(int *from, int *type, size_t *bytes)
{
    struct job_message message;
    struct job_select select;
    int status = mpl_enter();

    if (status < 0)
        return mpl_result(status);
    if (!from || !type)
        return mpl_refuse(EINVAL);
    select = echo_select(*from, *type);
    status = job_probe(&select, &message);
    if (status == JOB_OK)
        tell(&message, from, type, bytes);
    else if (status == JOB_NONE && bytes)
        *bytes = (size_t)-1;
    return mpl_result(status);
}

int mpl_sync(int group)
{
    int status = mpl_enter();

    if (status >= 0 && group != ALLGRP)
        return mpl_refuse(EINVAL);
    return mpl_result(status < 0 ? status : job_barrier());
}

int mpl_broadcast(void *data, size_t bytes, int root, int group)
{
    int status = mpl_enter();

    if (status >= 0 && (group != ALLGRP || (bytes > 0 && !data)))
        return mpl_refuse(EINVAL);
    return mpl_result(status < 0 ? status : job_broadcast(root, data, bytes));
}

int mpl_stopall(int code)
{
    mpl_enter();
    job_fatal(code, "mpc_stopall: code %d", code);
}
