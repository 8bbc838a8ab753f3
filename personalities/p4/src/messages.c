/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <limits.h>

#include "export.h"
#include "failure.h"
#include "job.h"
#include "process.h"

static int check_data(int type, const void *data, int len, int data_type, const char *call)
{
    if (type < 0)
        return failed("%s: type %d (at least 0)", call, type);
    if (len < 0)
        return failed("%s: length %d", call, len);
    if (data == NULL && len > 0)
        return failed("%s: %d bytes at a null pointer", call, len);
    if (data_type < P4NOX || data_type > P4DBL)
        return failed("%s: data type %d (P4NOX, P4INT, P4LNG, P4FLT, P4DBL)", call, data_type);
    return 0;
}

/* A message to oneself is there at once: waiting for its receiver would be for ever. */
int send_message(int type, int to, const void *msg, int len, int data_type, int acknowledged, const char *call)
{
    int result;
    process_need(call);
    if (check_data(type, msg, len, data_type, call) != 0)
        return -1;
    if (acknowledged && to != (int)job_rank())
        result = job_send_acknowledged(JOB_USER, to, type, msg, (uint64_t)len);
    else
        result = job_send(JOB_USER, to, type, msg, (uint64_t)len);
    if (result == JOB_BAD_RANK)
        return failed("%s: to %d, but the processes are 0 to %d", call, to, (int)job_size() - 1);
    return result == JOB_OK ? 0 : failed("%s: to %d: %s", call, to, job_text(result));
}

static int send_buffer(int type, int to, const void *msg, int len, int data_type, int acknowledged, const char *call)
{
    long room = buffer_room(msg);
    if (room < 0)
        return failed("%s: %p is not from p4_msg_alloc", call, msg);
    if (len > room)
        return failed("%s: length %d, but the buffer has %ld bytes", call, len, room);
    return send_message(type, to, msg, len, data_type, acknowledged, call);
}

static int select_message(struct job_select *select, const int *type, const int *from, const char *call)
{
    process_need(call);
    if (type == NULL || from == NULL)
        return failed("%s: a null pointer", call);
    if (*type < -1)
        return failed("%s: type %d (at least 0, or -1 for any)", call, *type);
    if (*from < -1 || *from >= (int)job_size())
        return failed("%s: from %d, but the processes are 0 to %d (-1: any)", call, *from, (int)job_size() - 1);
    *select = (struct job_select){JOB_USER, *from, *type, 0};
    return 0;
}

static int too_long(uint64_t bytes, long room, const char *call)
{
    return failed("%s: a message of %llu bytes, but the buffer has %ld", call, (unsigned long long)bytes, room);
}

/* Under soft errors the program goes on, and finds the message where it was. */
static int check_room(const struct job_select *select, long room, const char *call)
{
    struct job_message waiting;
    int old = failure_soft(0);
    (void)failure_soft(old);
    if (!old || room < 0)
        return 0;
    int result = job_await(select, NEOPVM_FOREVER, &waiting);
    if (result != JOB_OK)
        return failed("%s: %s", call, job_text(result));
    return waiting.bytes > (uint64_t)room ? too_long(waiting.bytes, room, call) : 0;
}

static int take(int *type, int *from, long room, struct job_message *message, const char *call)
{
    struct job_select select;
    if (select_message(&select, type, from, call) != 0 || check_room(&select, room, call) != 0)
        return -1;
    int result = job_take(&select, NEOPVM_FOREVER, message);
    if (result != JOB_OK)
        return failed("%s: %s", call, job_text(result));
    *type = (int)message->type;
    *from = (int)message->source;
    return 0;
}

static int put(struct job_message *message, void *into, long room, int *len, const char *call)
{
    uint64_t bytes = message->bytes;
    if ((room >= 0 && bytes > (uint64_t)room) || bytes > INT_MAX) {
        job_free(message);
        return too_long(bytes, room, call);
    }
    int result = job_put(message, into, bytes);
    if (result != JOB_OK)
        return failed("%s: %s", call, job_text(result));
    *len = (int)bytes;
    return 0;
}

int receive_message(int *type, int *from, char **msg, int *len)
{
    static const char call[] = "p4_recv";
    struct job_message message;
    if (msg == NULL || len == NULL)
        return failed("%s: a null pointer", call);
    long room = *msg == NULL ? -1 : buffer_room(*msg);
    if (*msg != NULL && room < 0)
        return failed("%s: %p is not from p4_msg_alloc, so nobody knows its length", call, (void *)*msg);
    if (take(type, from, room, &message, call) != 0)
        return -1;
    if (*msg != NULL)
        return put(&message, *msg, room, len, call);
    char *buffer = buffer_take((size_t)message.bytes);
    if (buffer == NULL) {
        unsigned long long bytes = message.bytes;
        job_free(&message);
        return failed("%s: no buffer of %llu bytes", call, bytes);
    }
    if (put(&message, buffer, -1, len, call) != 0) {
        (void)buffer_give(buffer);
        return -1;
    }
    *msg = buffer;
    return 0;
}

int receive_into(int *type, int *from, void *room, int room_bytes, int *len)
{
    static const char call[] = "p4recv";
    struct job_message message;
    if (room_bytes < 0)
        return failed("%s: a buffer of %d bytes", call, room_bytes);
    if (take(type, from, room_bytes, &message, call) != 0)
        return -1;
    return put(&message, room, room_bytes, len, call);
}

int message_available(int *type, int *from)
{
    struct job_select select;
    struct job_message message;
    if (select_message(&select, type, from, "p4_messages_available") != 0)
        return 0;
    int result = job_probe(&select, &message);
    if (result < 0)
        (void)failed("p4_messages_available: %s", job_text(result));
    if (result != JOB_OK)
        return 0;
    *type = (int)message.type;
    *from = (int)message.source;
    return 1;
}

static int wait_for_message(void)
{
    const struct job_select any = {JOB_USER, JOB_ANY, JOB_ANY, 0};
    struct job_message message;
    process_need("p4_waitformsg");
    int result = job_await(&any, NEOPVM_FOREVER, &message);
    return result == JOB_OK ? 1 : failed("p4_waitformsg: %s", job_text(result));
}

P4_API int p4_send(int type, int to, const void *msg, int len)
{
    return send_message(type, to, msg, len, P4NOX, 0, "p4_send");
}

P4_API int p4_sendr(int type, int to, const void *msg, int len)
{
    return send_message(type, to, msg, len, P4NOX, 1, "p4_sendr");
}

P4_API int p4_sendx(int type, int to, const void *msg, int len, int data_type)
{
    return send_message(type, to, msg, len, data_type, 0, "p4_sendx");
}

P4_API int p4_sendrx(int type, int to, const void *msg, int len, int data_type)
{
    return send_message(type, to, msg, len, data_type, 1, "p4_sendrx");
}

P4_API int p4_sendb(int type, int to, const void *msg, int len)
{
    return send_buffer(type, to, msg, len, P4NOX, 0, "p4_sendb");
}

P4_API int p4_sendbr(int type, int to, const void *msg, int len)
{
    return send_buffer(type, to, msg, len, P4NOX, 1, "p4_sendbr");
}

P4_API int p4_sendbx(int type, int to, const void *msg, int len, int data_type)
{
    return send_buffer(type, to, msg, len, data_type, 0, "p4_sendbx");
}

P4_API int p4_sendbrx(int type, int to, const void *msg, int len, int data_type)
{
    return send_buffer(type, to, msg, len, data_type, 1, "p4_sendbrx");
}

P4_API int p4_recv(int *type, int *from, char **msg, int *len)
{
    return receive_message(type, from, msg, len);
}

P4_API int p4_rcv(int *type, int *from, char **msg, int *len)
{
    return receive_message(type, from, msg, len);
}

P4_API int p4_messages_available(int *type, int *from)
{
    return message_available(type, from);
}

P4_API int p4_any_messages_available(void)
{
    int type = -1;
    int from = -1;
    return message_available(&type, &from);
}

P4_API int p4_waitformsg(void)
{
    return wait_for_message();
}
