/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cps.h - an interface in the style of Fermilab's CPS on a NeoPVM machine (neopvm-cps(7)).
 *
 * The first eight calls are known from a published program, with their arguments; what is further below is our own
 * definition. All arguments are addresses, so Fortran's names are the same. Processes are 1 to N. Results are 0; a call
 * that cannot do what was asked ends the job, and says why.
 */
#ifndef CPS_INCLUDED
#define CPS_INCLUDED

#ifdef __cplusplus
extern "C" {
#endif

#define ACP_ALL_PROCESSES (-1)

int acp_init(void);
/* Publishes memory under a number: others write it by acp_send and read it by acp_get. */
int acp_declare_block(void *block, const int *size, const int *number);
/* All processes, or this one and another one, wait for each other; the numbers of the two must agree. */
int acp_sync(const int *who, const int *number);
/* To a block of a process, from `offset` on. It is there when that process has waited for it. */
int acp_send(const int *process, const void *data, const int *size, const int *block, const int *offset);
/* Waits until `count` sends to a block of this process have come, and puts them there. */
int acp_wait_for_data(const int *count, const int *block);
int acp_sleep(const int *seconds);
int acp_stop_process(void);
/* Ends all processes, in good order. */
int acp_stop_job(void);

/* Which process this is, and how many there are. */
int acp_my_process(int *process, int *count);

/* Reads a block of another process, which takes no part in it. */
int acp_get(const int *process, void *data, const int *size, const int *block, const int *offset);

/* A subroutine that others call: it runs beside the program, in a thread of its own, one call at a time. It gets the
 * caller's bytes and the room for its answer, and sets how many bytes the answer has. */
typedef void (*acp_subroutine)(void *data, const int *size, void *answer, int *answer_size);
int acp_declare_subroutine(acp_subroutine subroutine, const int *number);
/* `answer_size` is the room, and then the bytes that came. */
int acp_call(const int *process, const int *subroutine, const void *data, const int *size, void *answer,
             int *answer_size);

/* Queues of processes, by number. */
int acp_queue_process(const int *queue);
int acp_dequeue_process(const int *queue, int *process);
/* Waits until `count` processes stand in the queue. */
int acp_wait_queue(const int *queue, const int *count);

#ifdef __cplusplus
}
#endif

#endif /* CPS_INCLUDED */
