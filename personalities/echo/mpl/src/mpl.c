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
struct posted {
    struct posted *next;
    job_handle handle;
    int *from, *type;
};

static struct posted *posted;

static int note(job_handle handle, int *from, int *type)
{
    struct posted *one = malloc(sizeof *one);

    if (!one)
        return NEOPVM_NO_MEMORY;
    one->next = posted;
    one->handle = handle;
    one->from = from;
    one->type = type;
    posted = one;
    return JOB_OK;
}

int mpl_post_send(const void *data, size_t bytes, int to, int type, int *id)
{
    struct job_message message = {.source = to, .type = type, .bytes = bytes};
    int status;

    if (!id)
        return mpl_refuse(EINVAL);
    if (mpl_send(data, bytes, to, type) < 0)
        return -1;
    status = job_post_done(&message, id);
    if (status >= 0)
        status = note(*id, NULL, NULL);
    return mpl_result(status);
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
    status = job_post(&select, data, room, id);
    if (status >= 0)
        status = note(*id, from, type);
    return mpl_result(status);
}

/* Forgets one that is done, telling who sent it. */
static void finish(job_handle handle, const struct job_message *message)
{
    struct posted **at = &posted, *one;

    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    one = *at;
    if (!one)
        return;
    if (message)
        tell(message, one->from, one->type, NULL);
    *at = one->next;
    free(one);
}

int mpl_status(int id)
{
    struct job_message message;
    int status = job_test(id, &message);

    if (status == JOB_NONE)
        return mpl_refuse(0);
    if (status != JOB_BAD_HANDLE)
        finish(id, status == JOB_OK ? &message : NULL);
    if (status < 0)
        return mpl_result(status);
    return message.bytes > INT32_MAX ? INT32_MAX : (int)message.bytes;
}

/* The first that is done of those under way. */
static int wait_for_any(int *id, struct job_message *message)
{
    struct posted *one;
    int status;

    while (posted) {
        for (one = posted; one; one = one->next) {
            status = job_test(one->handle, message);
            if (status != JOB_NONE) {
                *id = one->handle;
                return status;
            }
        }
        status = job_wait(posted->handle, 1000000, message);
        if (status != JOB_NONE) {
            *id = posted->handle;
            return status;
        }
    }
    return JOB_BAD_HANDLE;
}

int mpl_wait(int *id, size_t *bytes)
{
    struct job_message message;
    int status;

    if (!id)
        return mpl_refuse(EINVAL);
    status = *id == DONTCARE ? wait_for_any(id, &message) : job_wait(*id, NEOPVM_FOREVER, &message);
    if (status != JOB_BAD_HANDLE)
        finish(*id, status == JOB_OK ? &message : NULL);
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
