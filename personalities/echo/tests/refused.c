/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Wrong calls of whichever interface's header there is: each gives -1 and goes on; nothing crashes or hangs. Run alone, and
 * by two nodes. */
#include <limits.h>
#include <stdint.h>
#include "../../pvm2/tests/check.h"

static char data[64];

#if __has_include(<mpl.h>)
#include <errno.h>
#include <mpl.h>

/* A wait for whichever is done first did not see that there is nobody who could send. */
static void alone(void)
{
    int from = DONTCARE, type = 3, id, any = DONTCARE;
    size_t bytes;
    if (getenv("NEOPVM_JOB") != NULL)
        return;
    CHECK_IS(mpc_recv(data, 8, &from, &type, &id), 0);
    CHECK(mpc_wait(&any, &bytes) == -1 && mperrno == EDEADLK);
    CHECK_IS(mpc_bsend(data, 8, 0, 3), 0);
    CHECK(mpc_wait(&any, &bytes) == 0 && any == id && bytes == 8);
}

static void wrong(void)
{
    int tasks, me, from, type, id = 12345, any = DONTCARE;
    size_t bytes;
    alone();
    CHECK_IS(mpc_environ(&tasks, &me), 0);
    CHECK_IS(mpc_bsend(data, 8, tasks, 1), -1);
    CHECK_IS(mpc_bsend(data, 8, -1, 1), -1);
    CHECK_IS(mpc_bsend(data, 8, me, -1), -1);
    CHECK_IS(mpc_bsend(NULL, 8, me, 1), -1);
    /* Which was one byte more than there is, and 0 when one was added for the end. */
    CHECK_IS(mpc_bsend(data, SIZE_MAX, me, 1), -1);
    CHECK_IS(mpc_bsend(data, SIZE_MAX / 2, me, 1), -1);
    from = tasks, type = 1;
    CHECK_IS(mpc_brecv(data, 8, &from, &type, &bytes), -1);
    from = me, type = -5;
    CHECK_IS(mpc_brecv(data, 8, &from, &type, &bytes), -1);
    CHECK_IS(mpc_bsend(data, 64, me, 1), 0);
    from = me, type = 1;
    CHECK_IS(mpc_brecv(data, 8, &from, &type, &bytes), -1);
    CHECK_IS(mpc_send(data, 8, tasks, 1, &id), -1);
    CHECK_IS(mpc_status(12345), -1);
    CHECK_IS(mpc_status(INT_MIN), -1);
    CHECK_IS(mpc_wait(&any, &bytes), -1);
    CHECK_IS(mpc_send(data, 8, me, 1, &id), 0);
    any = id;
    CHECK_IS(mpc_wait(&id, &bytes), 0);
    CHECK_IS(mpc_wait(&any, &bytes), -1);
    CHECK_IS(mpc_sync(77), -1);
}
#elif __has_include(<cmmd.h>)
#include <cmmd.h>

static void wrong(void)
{
    int me = CMMD_self_address(), all = CMMD_partition_size();
    CMMD_mcb sent;
    CHECK_IS(CMMD_send_block(all, 1, data, 8), -1);
    CHECK_IS(CMMD_send_noblock(me, -1, data, 8), -1);
    CHECK_IS(CMMD_send_noblock(me, 1, data, INT_MIN), -1);
    CHECK_IS(CMMD_send_noblock(me, 1, NULL, INT_MAX), -1);
    CHECK_IS(CMMD_receive_block(all, 1, data, 8), -1);
    CHECK_IS(CMMD_receive_block(me, 1, data, -8), -1);
    CHECK_IS(CMMD_send_noblock(me, 1, data, 64), 0);
    CHECK_IS(CMMD_receive_block(me, 1, data, 8), -1);
    CHECK_IS(CMMD_send_async(all, 1, data, 8), -1);
    CHECK_IS(CMMD_receive_async(me, 1, data, -1), -1);
    CHECK_IS(CMMD_msg_wait(12345), -1);
    CHECK_IS(CMMD_msg_done(-1), -1);
    sent = CMMD_send_async(me, 1, data, 8);
    CHECK_IS(CMMD_msg_wait(sent), 1);
    CHECK_IS(CMMD_msg_wait(sent), -1);
    CHECK_IS(CMMD_swap(all, data, 8), -1);
    CHECK_IS(CMMD_bc_to_nodes(data, -1), -1);
    CHECK_IS(CMMD_msg_pending(all, 1), -1);
}
#elif __has_include(<vertex.h>)
#include <vertex.h>

static void wrong(void)
{
    int node, process, host, dimension, flag, from, type = 1;
    whoami(&node, &process, &host, &dimension);
    CHECK_IS(nwrite(data, 8, host, 1, &flag), -1);
    CHECK_IS(nwrite(data, -8, node, 1, &flag), -1);
    CHECK_IS(nwrite(data, 8, node, INT_MIN, &flag), -1);
    CHECK_IS(nwrite(NULL, INT_MAX, node, 1, &flag), -1);
    from = host;
    CHECK_IS(nread(data, 8, &from, &type, &flag), -1);
    CHECK_IS(ntest(&from, &type), -1);
    from = node;
    CHECK_IS(nread(data, INT_MIN, &from, &type, &flag), -1);
    CHECK_IS(nwrite(data, 64, node, 1, &flag), 0);
    CHECK_IS(nread(data, 8, &from, &type, &flag), -1);
}
#else
#include <mpsc.h>

static void wrong(void)
{
    int me = mpsc_node(), from = mpsc_count(), type = 1;
    CHECK_IS(mpsc_send(from, 1, data, 8), -1);
    CHECK_IS(mpsc_send(me, -7, data, 8), -1);
    CHECK_IS(mpsc_send(me, 1, data, INT_MIN), -1);
    CHECK_IS(mpsc_send(me, 1, NULL, INT_MAX), -1);
    CHECK_IS(mpsc_receive(&from, &type, data, 8), -1);
    CHECK_IS(mpsc_test(&from, &type), -1);
    from = me;
    CHECK_IS(mpsc_receive(&from, &type, data, -1), -1);
    CHECK_IS(mpsc_send(me, 1, data, 64), 0);
    CHECK_IS(mpsc_receive(&from, &type, data, 8), -1);
}
#endif

int main(void)
{
    wrong();
    return 0;
}
