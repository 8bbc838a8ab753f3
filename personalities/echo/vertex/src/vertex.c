/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vertex over a job. */
#include <vertex.h>
#include "../../shared/echo.h"

static int enter(void)
{
    return echo_enter_as("vertex", NULL);
}

static int length(const struct job_message *message)
{
    return message->bytes > INT32_MAX ? INT32_MAX : (int)message->bytes;
}

ECHO_CALL int nwrite(void *data, int bytes, int to, int type, int *flag)
{
    int status = enter();

    if (status < 0 || bytes < 0 || (bytes > 0 && !data))
        return -1;
    if (to == VERTEX_ALL)
        status = job_send_others(JOB_USER, type, data, (uint64_t)bytes);
    else
        status = job_send(JOB_USER, to, type, data, (uint64_t)bytes);
    if (status < 0)
        return -1;
    if (flag)
        *flag = 0;
    return 0;
}

ECHO_CALL int nread(void *data, int room, int *from, int *type, int *flag)
{
    struct job_message message;
    int status = enter();

    if (status < 0 || room < 0 || (room > 0 && !data) || !from || !type)
        return -1;
    if (job_receive(JOB_USER, *from, *type, data, (uint64_t)room, &message) < 0)
        return -1;
    *from = message.source;
    *type = message.type;
    if (flag)
        *flag = 0;
    return length(&message);
}

ECHO_CALL int ntest(int *from, int *type)
{
    struct job_message message;
    struct job_select select;
    int status = enter();

    if (status < 0 || !from || !type)
        return -1;
    select = echo_select(*from, *type);
    if (job_probe(&select, &message) != JOB_OK)
        return -1;
    *from = message.source;
    *type = message.type;
    return length(&message);
}

ECHO_CALL void whoami(int *node, int *process, int *host, int *dimension)
{
    int size, cube = 0, status = enter();

    if (status < 0)
        job_fatal(1, "whoami: %s", job_text(status));
    size = job_size();
    while (1 << cube < size)
        cube++;
    if (node)
        *node = job_rank();
    if (process)
        *process = 0;
    if (host)
        *host = size;
    if (dimension)
        *dimension = cube;
}
