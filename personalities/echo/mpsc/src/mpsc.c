/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Our own calls in place of MPSC's, over a job. */
#include <mpsc.h>
#include "../../shared/echo.h"

static int enter(void)
{
    return echo_enter_as("mpsc", NULL);
}

static int length(const struct job_message *message)
{
    return message->bytes > INT32_MAX ? INT32_MAX : (int)message->bytes;
}

ECHO_CALL int mpsc_node(void)
{
    return enter() < 0 ? -1 : job_rank();
}

ECHO_CALL int mpsc_count(void)
{
    return enter() < 0 ? -1 : job_size();
}

ECHO_CALL int mpsc_send(int node, int type, const void *data, int bytes)
{
    if (enter() < 0 || bytes < 0 || (bytes > 0 && !data))
        return -1;
    return job_send(JOB_USER, node, type, data, (uint64_t)bytes) < 0 ? -1 : 0;
}

ECHO_CALL int mpsc_receive(int *node, int *type, void *data, int room)
{
    struct job_message message;

    if (enter() < 0 || room < 0 || (room > 0 && !data) || !node || !type)
        return -1;
    if (job_receive(JOB_USER, *node, *type, data, (uint64_t)room, &message) < 0)
        return -1;
    *node = message.source;
    *type = message.type;
    return length(&message);
}

ECHO_CALL int mpsc_test(int *node, int *type)
{
    struct job_message message;
    struct job_select select;

    if (enter() < 0 || !node || !type)
        return -1;
    select = echo_select(*node, *type);
    if (job_probe(&select, &message) != JOB_OK)
        return -1;
    *node = message.source;
    *type = message.type;
    return length(&message);
}

ECHO_CALL int mpsc_barrier(void)
{
    return enter() < 0 || job_barrier() < 0 ? -1 : 0;
}

ECHO_CALL double mpsc_clock(void)
{
    return job_seconds();
}
