/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Queues of processes. Process 1 keeps them, in its thread of handlers. */
#include <stdlib.h>
#include <string.h>

#include "process.h"

enum { DO_ENTER, DO_TAKE, DO_WAIT };

struct request {
    int32_t what;
    int32_t queue;
    int32_t count;
    int32_t answer;
};

/* A process in a queue, or one that waits for something of it. */
struct entry {
    int32_t rank;
    int32_t what;
    int32_t count;
    int32_t answer;
    struct entry *next;
};

struct queue {
    int32_t number;
    int32_t length;
    struct entry *members;
    struct entry *waiting;
    struct queue *next;
};

static struct queue *queues;

static void *memory(size_t bytes)
{
    void *result = calloc(1, bytes);
    if (result == NULL)
        fatal("a queue of processes: no memory");
    return result;
}

static struct queue *find(int32_t number)
{
    struct queue *queue = queues;
    while (queue != NULL && queue->number != number)
        queue = queue->next;
    if (queue == NULL) {
        queue = memory(sizeof *queue);
        queue->number = number;
        queue->next = queues;
        queues = queue;
    }
    return queue;
}

static void append(struct entry **list, const struct entry *entry)
{
    struct entry *copy = memory(sizeof *copy);
    *copy = *entry;
    copy->next = NULL;
    while (*list != NULL)
        list = &(*list)->next;
    *list = copy;
}

static struct entry remove_first(struct entry **list)
{
    struct entry *first = *list;
    struct entry copy = *first;
    *list = first->next;
    free(first);
    return copy;
}

static void answer(const struct entry *entry, int32_t value)
{
    check(job_send(JOB_OWN, entry->rank, entry->answer, &value, sizeof value), "a queue of processes");
}

/* 1: this one's wait is over. */
static int satisfy(struct queue *queue, const struct entry *waiting)
{
    if (waiting->what == DO_WAIT && queue->length >= waiting->count) {
        answer(waiting, queue->length);
        return 1;
    }
    if (waiting->what == DO_TAKE && queue->length > 0) {
        struct entry member = remove_first(&queue->members);
        queue->length--;
        answer(waiting, process_of(member.rank));
        return 1;
    }
    return 0;
}

static void settle(struct queue *queue)
{
    struct entry **place = &queue->waiting;
    while (*place != NULL) {
        if (satisfy(queue, *place))
            (void)remove_first(place);
        else
            place = &(*place)->next;
    }
}

/* The answer to DO_ENTER goes out when the process stands there, so that what it does next is seen behind it. */
static void serve_queue(int32_t from, const unsigned char *data, uint64_t bytes)
{
    struct request request;
    if (bytes != sizeof request)
        return;
    memcpy(&request, data, sizeof request);
    struct queue *queue = find(request.queue);
    struct entry entry = {from, request.what, request.count, request.answer, NULL};
    if (request.what == DO_ENTER) {
        append(&queue->members, &entry);
        queue->length++;
        answer(&entry, queue->length);
    } else {
        append(&queue->waiting, &entry);
    }
    settle(queue);
}

void queues_serve(void)
{
    serve_type(TYPE_QUEUE, serve_queue);
}

static int32_t ask(int32_t what, const int *queue, int32_t count, const char *call)
{
    need(call);
    struct request request = {what, number_at(queue, call), count, answer_type()};
    struct job_message message;
    int32_t value = 0;
    if (in_handler() && job_rank() == 0)
        fatal("%s: a subroutine of process 1 cannot wait for the queues, which its thread keeps", call);
    check(job_send(JOB_OWN, 0, TYPE_QUEUE, &request, sizeof request), call);
    check(job_receive(JOB_OWN, 0, request.answer, &value, sizeof value, &message), call);
    return value;
}

void queue_enter(const int *queue)
{
    (void)ask(DO_ENTER, queue, 0, "acp_queue_process");
}

void queue_take(const int *queue, int *process)
{
    int value = (int)ask(DO_TAKE, queue, 0, "acp_dequeue_process");
    if (process != NULL)
        *process = value;
}

void queue_wait(const int *queue, const int *count)
{
    int wanted = number_at(count, "acp_wait_queue");
    if (wanted < 0)
        fatal("acp_wait_queue: %d processes", wanted);
    (void)ask(DO_WAIT, queue, wanted, "acp_wait_queue");
}
