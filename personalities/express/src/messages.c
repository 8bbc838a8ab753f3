/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages from node to node. */
#include "nodes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct job_select selection(const int *src, const int *type, const char *call)
{
    need();
    if (src == NULL || type == NULL)
        fatal("%s: a null pointer", call);
    struct job_select select = {JOB_USER, JOB_ANY, JOB_ANY, 0};
    if (*src != DONTCARE)
        select.rank = rank_of(*src, call);
    if (*type != DONTCARE)
        select.type = check_type(*type, call);
    return select;
}

static struct job_message take(int *src, int *type, const char *call)
{
    struct job_select select = selection(src, type, call);
    struct job_message message;
    check(job_take(&select, NEOPVM_FOREVER, &message), call);
    *src = node_of(message.source);
    *type = (int)message.type;
    return message;
}

static _Noreturn void too_long(uint64_t bytes, uint64_t room, int src, int type, const char *call)
{
    fatal("%s: the message of node %d with type %d has %llu bytes, but there is room for %llu", call, src, type,
          (unsigned long long)bytes, (unsigned long long)room);
}

int read_message(void *buf, int len, int *src, int *type, const char *call)
{
    uint64_t room = check_length(buf, len, call);
    struct job_message message = take(src, type, call);
    uint64_t bytes = message.bytes;
    if (bytes > room)
        too_long(bytes, room, *src, *type, call);
    check(job_put(&message, buf, room), call);
    return (int)bytes;
}

int write_message(const void *buf, int len, int dest, int type, const char *call)
{
    need();
    uint64_t bytes = check_length(buf, len, call);
    check_type(type, call);
    if (dest != ALLNODES) {
        check(job_send(JOB_USER, rank_of(dest, call), type, buf, bytes), call);
        return len;
    }
    for (int node = 0; node < node_count(); node++) {
        if (node != my_node())
            check(job_send(JOB_USER, rank_of(node, call), type, buf, bytes), call);
    }
    return len;
}

int test_message(int *src, int *type)
{
    struct job_select select = selection(src, type, "extest");
    struct job_message message;
    int result = job_probe(&select, &message);
    if (result == JOB_NONE)
        return -1;
    check(result, "extest");
    *src = node_of(message.source);
    *type = (int)message.type;
    return message.bytes > INT_MAX ? INT_MAX : (int)message.bytes;
}

/* ---- Reads that go on beside the program ---- */

struct posted {
    int *src;
    int *type;
    int *status;
    uint64_t room;
};

static void finish_read(const struct job_message *message, void *with)
{
    struct posted *posted = with;
    if (message->bytes > posted->room)
        too_long(message->bytes, posted->room, node_of(message->source), (int)message->type, "exreceive");
    *posted->src = node_of(message->source);
    *posted->type = (int)message->type;
    __atomic_store_n(posted->status, (int)message->bytes, __ATOMIC_RELEASE);
    free(posted);
}

int post_read(void *buf, int len, int *src, int *type, int *status)
{
    static char nothing[1];
    struct job_select select = selection(src, type, "exreceive");
    uint64_t room = check_length(buf, len, "exreceive");
    struct posted *posted = malloc(sizeof *posted);
    if (status == NULL || posted == NULL)
        fatal("exreceive: %s", status == NULL ? "no place for the status" : "no memory");
    *posted = (struct posted){src, type, status, room};
    *status = -1;
    check(job_on_message(&select, buf == NULL ? nothing : buf, room, finish_read, posted), "exreceive");
    return 0;
}

struct handled {
    struct job_select select;
    handling handler;
    void *with;
};

/* Asks for the next one first, so that their order stays when the program's handler takes long. */
static void handle_one(const struct job_message *message, void *with)
{
    struct handled *handled = with;
    struct job_message own = *message;
    int len = (int)own.bytes;
    char *buf = malloc(own.bytes == 0 ? 1 : (size_t)own.bytes);
    if (buf == NULL || own.bytes > INT_MAX)
        fatal("exhandle: no memory for a message of %llu bytes", (unsigned long long)own.bytes);
    check(job_put(&own, buf, (uint64_t)len), "exhandle");
    check(job_on_message(&handled->select, NULL, 0, handle_one, handled), "exhandle");
    handled->handler(handled->with, buf, len, node_of(message->source), (int)message->type);
    free(buf);
}

void handle_messages(int src, int type, handling handler, void *with)
{
    struct handled *handled = malloc(sizeof *handled);
    if (handled == NULL)
        fatal("exhandle: no memory");
    *handled = (struct handled){selection(&src, &type, "exhandle"), handler, with};
    check(job_on_message(&handled->select, NULL, 0, handle_one, handled), "exhandle");
}

/* ---- Items that lie apart ---- */

static uint64_t check_vector(const void *buf, int size, int offset, int nitems, const char *call)
{
    if (size < 0 || nitems < 0 || (buf == NULL && size > 0 && nitems > 0) || (uint64_t)size * (uint64_t)nitems > INT_MAX)
        fatal("%s: %d items of %d bytes, %d apart, at %p", call, nitems, size, offset, buf);
    return (uint64_t)size * (uint64_t)nitems;
}

int vector_read(void *buf, int size, int offset, int nitems, int *src, int *type)
{
    uint64_t room = check_vector(buf, size, offset, nitems, "exvread");
    struct job_message message = take(src, type, "exvread");
    uint64_t bytes = message.bytes;
    if (bytes > room)
        too_long(bytes, room, *src, *type, "exvread");
    const char *from = job_bytes(&message);
    if (from == NULL && bytes > 0)
        fatal("exvread: the sender ended before the message was whole");
    for (uint64_t done = 0, item = 0; done < bytes; done += (uint64_t)size, item++) {
        uint64_t part = bytes - done < (uint64_t)size ? bytes - done : (uint64_t)size;
        memcpy((char *)buf + (int64_t)item * offset, from + done, part);
    }
    job_free(&message);
    return (int)bytes;
}

int vector_write(const void *buf, int size, int offset, int nitems, int dest, int type)
{
    uint64_t bytes = check_vector(buf, size, offset, nitems, "exvwrite");
    if (offset == size || nitems <= 1)
        return write_message(buf, (int)bytes, dest, type, "exvwrite");
    char *whole = malloc(bytes == 0 ? 1 : bytes);
    if (whole == NULL)
        fatal("exvwrite: no memory for %llu bytes", (unsigned long long)bytes);
    for (int item = 0; item < nitems; item++)
        memcpy(whole + (size_t)item * (size_t)size, (const char *)buf + (int64_t)item * offset, (size_t)size);
    int result = write_message(whole, (int)bytes, dest, type, "exvwrite");
    free(whole);
    return result;
}
