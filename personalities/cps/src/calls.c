/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Subroutines that other processes call. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

#define SUBROUTINES 1024

static acp_subroutine subroutines[SUBROUTINES];

struct call {
    int32_t number;
    int32_t answer;
    int32_t room;
    int32_t bytes;
};

static int check_number(const int *number, const char *call)
{
    int value = number_at(number, call);
    if (value < 0 || value >= SUBROUTINES)
        fatal("%s: subroutine %d (0 to %d)", call, value, SUBROUTINES - 1);
    return value;
}

void call_declare(acp_subroutine subroutine, const int *number)
{
    need("acp_declare_subroutine");
    int value = check_number(number, "acp_declare_subroutine");
    if (subroutine == NULL)
        fatal("acp_declare_subroutine: no subroutine");
    __atomic_store_n(&subroutines[value], subroutine, __ATOMIC_RELEASE);
}

static void run(int number, int asker, void *data, int size, void *answer, int *room)
{
    acp_subroutine subroutine = __atomic_load_n(&subroutines[number], __ATOMIC_ACQUIRE);
    int most = *room;
    if (subroutine == NULL)
        fatal("acp_call: process %d calls subroutine %d, which process %d has not declared", asker, number,
              process_of(job_rank()));
    subroutine(data, &size, answer, room);
    if (*room < 0 || *room > most)
        fatal("acp_call: subroutine %d says that its answer has %d bytes; there was room for %d", number, *room, most);
}

static void serve_call(int32_t from, const unsigned char *data, uint64_t bytes)
{
    struct call call;
    if (bytes < sizeof call)
        return;
    memcpy(&call, data, sizeof call);
    if (call.number < 0 || call.number >= SUBROUTINES || call.room < 0 || (uint64_t)call.bytes != bytes - sizeof call)
        return;
    char *answer = malloc(call.room == 0 ? 1 : (size_t)call.room);
    if (answer == NULL)
        fatal("acp_call: no memory for an answer of %d bytes", (int)call.room);
    int room = call.room;
    run(call.number, process_of(from), (void *)(uintptr_t)(data + sizeof call), (int)call.bytes, answer, &room);
    check(job_send(JOB_OWN, from, call.answer, answer, (uint64_t)room), "acp_call");
    free(answer);
}

void calls_serve(void)
{
    serve_type(TYPE_CALL, serve_call);
}

static void ask(int32_t rank, const struct call *call, const void *data)
{
    char *whole = malloc(sizeof *call + (size_t)call->bytes);
    if (whole == NULL)
        fatal("acp_call: no memory for %d bytes", (int)call->bytes);
    memcpy(whole, call, sizeof *call);
    if (call->bytes > 0)
        memcpy(whole + sizeof *call, data, (size_t)call->bytes);
    check(job_send(JOB_OWN, rank, TYPE_CALL, whole, sizeof *call + (uint64_t)call->bytes), "acp_call");
    free(whole);
}

void call_remote(const int *process, const int *number, const void *data, const int *size, void *answer, int *room)
{
    static const char name[] = "acp_call";
    need(name);
    (void)length_at(data, size, name);
    (void)length_at(answer, room, name);
    struct call call = {check_number(number, name), answer_type(), *room, *size};
    int32_t rank = rank_of(number_at(process, name), name);
    struct job_message message;
    if (rank == job_rank()) {
        run(call.number, *process, (void *)(uintptr_t)data, *size, answer, room);
        return;
    }
    ask(rank, &call, data);
    check(job_receive(JOB_OWN, rank, call.answer, answer, (uint64_t)call.room, &message), name);
    *room = (int)message.bytes;
}
