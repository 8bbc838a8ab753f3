/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Start, end, and waiting for one another. */
#include "process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int begun;
static __thread int handling;

_Noreturn void fatal(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fflush(NULL);
    job_vfatal(1, format, values);
    va_end(values);
}

void check(int result, const char *call)
{
    if (result != JOB_OK)
        fatal("%s: %s", call, job_text(result));
}

int in_handler(void)
{
    return handling;
}

void set_in_handler(int on)
{
    handling = on;
}

int32_t answer_type(void)
{
    return TYPE_ANSWER + handling;
}

void need(const char *call)
{
    if (!begun)
        fatal("%s: acp_init comes first", call);
}

int number_at(const int *place, const char *call)
{
    if (place == NULL)
        fatal("%s: a null pointer", call);
    return *place;
}

int32_t rank_of(int process, const char *call)
{
    if (process < 1 || process > (int)job_size())
        fatal("%s: process %d, but the processes are 1 to %d", call, process, (int)job_size());
    return (int32_t)(process - 1);
}

int process_of(int32_t rank)
{
    return (int)rank + 1;
}

uint64_t length_at(const void *data, const int *size, const char *call)
{
    int length = number_at(size, call);
    if (length < 0 || (data == NULL && length > 0))
        fatal("%s: %d bytes at %p", call, length, data);
    return (uint64_t)length;
}

/* ---- What others ask for ---- */

struct service {
    int32_t type;
    serving serve;
};

static void ask_for_next(struct service *service);

static void serve_one(const struct job_message *message, void *with)
{
    struct service *service = with;
    struct job_message own = *message;
    uint64_t bytes = own.bytes;
    unsigned char *data = malloc(bytes == 0 ? 1 : bytes);
    set_in_handler(1);
    if (data == NULL)
        fatal("no memory for %llu bytes that another process sends", (unsigned long long)bytes);
    check(job_put(&own, data, bytes), "a message of another process");
    ask_for_next(service);
    service->serve(message->source, data, bytes);
    free(data);
}

static void ask_for_next(struct service *service)
{
    const struct job_select select = {.channel = JOB_OWN, .rank = JOB_ANY, .type = service->type};
    check(job_on_message(&select, NULL, 0, serve_one, service), "acp_init");
}

void serve_type(int32_t type, serving serve)
{
    static struct service services[8];
    static int count;
    services[count] = (struct service){type, serve};
    ask_for_next(&services[count++]);
}

/* ---- Start and end ---- */

_Noreturn void end_process(void)
{
    job_leave();
    fflush(NULL);
    _exit(0);
}

static void serve_stop(int32_t from, const unsigned char *data, uint64_t bytes)
{
    (void)from;
    (void)data;
    (void)bytes;
    end_process();
}

void begin(void)
{
    static const struct job_options options = {.interface = "cps", .last_call = "acp_stop_process"};
    if (begun)
        fatal("acp_init: called a second time");
    int state = job_enter(&options);
    if (state < 0)
        check(state, "acp_init");
    begun = 1;
    if (job_size() > 1) {
        serve_type(TYPE_STOP, serve_stop);
        blocks_serve();
        calls_serve();
    }
    if (job_rank() == 0)
        queues_serve();
}

_Noreturn void stop_process(void)
{
    need("acp_stop_process");
    job_leave();
    exit(0);
}

_Noreturn void stop_job(void)
{
    need("acp_stop_job");
    if (job_size() > 1)
        check(job_send_others(JOB_OWN, TYPE_STOP, NULL, 0), "acp_stop_job");
    job_leave();
    exit(0);
}

void tell_process(int *process, int *count)
{
    need("acp_my_process");
    if (process != NULL)
        *process = process_of(job_rank());
    if (count != NULL)
        *count = (int)job_size();
}

void sleep_for(const int *seconds)
{
    struct timespec rest = {number_at(seconds, "acp_sleep"), 0};
    if (rest.tv_sec < 0)
        fatal("acp_sleep: %d seconds", *seconds);
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

/* ---- Waiting for one another ---- */

/* The smallest number, and the smallest of the complements: they belong together only if all are the same. A complement
 * never overflows, as the negative of the smallest number does. */
static void synchronise_all(int number)
{
    int32_t values[2] = {number, ~number};
    check(job_reduce_reading(values, 2, sizeof *values, job_combining(JOB_INT, JOB_MIN), NULL), "acp_sync");
    if (values[0] != ~values[1])
        fatal("acp_sync: the processes wait under different numbers (%d, and %d here)",
              (int)(values[0] == number ? ~values[1] : values[0]), number);
}

void synchronise(const int *who, const int *number)
{
    need("acp_sync");
    int32_t mine = number_at(number, "acp_sync");
    int32_t theirs;
    struct job_message message;
    if (number_at(who, "acp_sync") == ACP_ALL_PROCESSES) {
        synchronise_all(mine);
        return;
    }
    int32_t rank = rank_of(*who, "acp_sync");
    if (rank == job_rank())
        return;
    check(job_send(JOB_OWN, rank, TYPE_SYNC, &mine, sizeof mine), "acp_sync");
    check(job_receive(JOB_OWN, rank, TYPE_SYNC, &theirs, sizeof theirs, &message), "acp_sync");
    if (mine != theirs)
        fatal("acp_sync: process %d waits under number %d, this one under %d", *who, (int)theirs, (int)mine);
}
