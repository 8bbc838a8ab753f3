/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of programs. All arguments are addresses, so Fortran's differ by the underscore only. */
#include "process.h"

#define BOTH(name, fortran_name, arguments, done)                                                                      \
    ACP_API int name arguments                                                                                         \
    {                                                                                                                  \
        done;                                                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    ACP_API int fortran_name arguments;                                                                                \
    ACP_API int fortran_name arguments                                                                                 \
    {                                                                                                                  \
        done;                                                                                                          \
        return 0;                                                                                                      \
    }

BOTH(acp_init, acp_init_, (void), begin())
BOTH(acp_declare_block, acp_declare_block_,
     (void *block, const int *size, const int *number),
     block_declare(block, size, number))
BOTH(acp_sync, acp_sync_, (const int *who, const int *number), synchronise(who, number))
BOTH(acp_send, acp_send_,
     (const int *process, const void *data, const int *size, const int *block, const int *offset),
     block_send(process, data, size, block, offset))
BOTH(acp_wait_for_data, acp_wait_for_data_, (const int *count, const int *block), block_wait(count, block))
BOTH(acp_sleep, acp_sleep_, (const int *seconds), sleep_for(seconds))
BOTH(acp_stop_process, acp_stop_process_, (void), stop_process())
BOTH(acp_stop_job, acp_stop_job_, (void), stop_job())
BOTH(acp_my_process, acp_my_process_, (int *process, int *count), tell_process(process, count))
BOTH(acp_get, acp_get_,
     (const int *process, void *data, const int *size, const int *block, const int *offset),
     block_get(process, data, size, block, offset))
BOTH(acp_declare_subroutine, acp_declare_subroutine_,
     (acp_subroutine subroutine, const int *number),
     call_declare(subroutine, number))
BOTH(acp_call, acp_call_,
     (const int *process, const int *subroutine, const void *data, const int *size, void *answer, int *answer_size),
     call_remote(process, subroutine, data, size, answer, answer_size))
BOTH(acp_queue_process, acp_queue_process_, (const int *queue), queue_enter(queue))
BOTH(acp_dequeue_process, acp_dequeue_process_, (const int *queue, int *process), queue_take(queue, process))
BOTH(acp_wait_queue, acp_wait_queue_, (const int *queue, const int *count), queue_wait(queue, count))
