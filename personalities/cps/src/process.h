/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parts of this library know of one another. Process N is rank N - 1. */
#ifndef CPS_PROCESS_H
#define CPS_PROCESS_H

#include "cps.h"
#include "job.h"

#define ACP_API __attribute__((visibility("default")))

/* Types in the job's own channel. Answers go to the thread that has asked: the program's, or that of handlers. */
enum {
    TYPE_GET = JOB_OWN_FIRST,
    TYPE_CALL,
    TYPE_QUEUE,
    TYPE_STOP,
    TYPE_SYNC,
    TYPE_ANSWER /* and the next one */
};

_Noreturn void fatal(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
void check(int result, const char *call);

void begin(void);
void need(const char *call);
int32_t rank_of(int process, const char *call);
int process_of(int32_t rank);
uint64_t length_at(const void *data, const int *size, const char *call);
int number_at(const int *place, const char *call);
/* 1 in the thread of handlers. */
int in_handler(void);
void set_in_handler(int on);
int32_t answer_type(void);
_Noreturn void end_process(void);

typedef void (*serving)(int32_t from, const unsigned char *data, uint64_t bytes);
/* From now on `serve` is called for each message of a type, in the thread of handlers. */
void serve_type(int32_t type, serving serve);

void blocks_serve(void);
void calls_serve(void);
void queues_serve(void);

void block_declare(void *memory, const int *size, const int *number);
void block_send(const int *process, const void *data, const int *size, const int *block, const int *offset);
void block_wait(const int *count, const int *block);
void block_get(const int *process, void *data, const int *size, const int *block, const int *offset);
void call_declare(acp_subroutine subroutine, const int *number);
void call_remote(const int *process, const int *number, const void *data, const int *size, void *answer, int *room);
void queue_enter(const int *queue);
void queue_take(const int *queue, int *process);
void queue_wait(const int *queue, const int *count);
void synchronise(const int *who, const int *number);
void sleep_for(const int *seconds);
_Noreturn void stop_process(void);
_Noreturn void stop_job(void);
void tell_process(int *process, int *count);

#endif
