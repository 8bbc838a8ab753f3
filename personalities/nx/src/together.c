/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls that all nodes make. */
#include "core.h"

#include <limits.h>

static long begin(void)
{
    long status = nx_enter();
    if (status >= 0 && nx_hosted && job_rank() == 0)
        return nx_wrong(NEOPVM_NOT_POSSIBLE, "called by the host program");
    return status;
}

static long end(int status, const char *what, long value)
{
    return status < 0 ? nx_wrong(status, "%s %ld", what, value) : JOB_OK;
}

long core_gsync(void)
{
    long status = begin();
    return status < 0 ? status : end(job_barrier(), "nodes", job_size() - nx_hosted);
}

long nx_combine(enum job_item item, enum job_operation operation, void *x, long count)
{
    long status = begin();
    if (status < 0)
        return status;
    if (count < 0)
        return nx_wrong(NEOPVM_BAD_PARAMETER, "%ld items", count);
    job_combine combine = job_combining(item, operation);
    return end(job_reduce_reading(x, (uint64_t)count, job_item_bytes(item), combine, NULL), "items", count);
}

struct user {
    void (*function)(void *, void *);
};

static void combine_by_user(void *into, const void *from, uint64_t count, void *with)
{
    const struct user *user = with;
    (void)count;
    user->function(into, (void *)(uintptr_t)from);
}

long core_gopf(void *x, long bytes, void *work, void (*function)(void *, void *))
{
    struct user user = {function};
    (void)work;
    long status = begin();
    if (status < 0)
        return status;
    if (bytes < 0)
        return nx_wrong(NEOPVM_BAD_PARAMETER, "length %ld", bytes);
    return end(job_reduce(x, 1, (uint64_t)bytes, combine_by_user, &user), "length", bytes);
}

long core_gcol(const void *x, long bytes, void *y, long room, long *count)
{
    uint64_t total = 0;
    long status = begin();
    if (status < 0)
        return status;
    if (bytes < 0 || room < 0)
        return nx_wrong(NEOPVM_BAD_PARAMETER, "lengths %ld and %ld", bytes, room);
    status = end(job_collect(x, (uint64_t)bytes, y, (uint64_t)room, NULL, &total), "room", room);
    if (status >= 0 && count != NULL)
        *count = (long)total;
    return status;
}

long core_gcolx(const void *x, const long *bytes, void *y)
{
    long status = begin(), room = 0;
    if (status < 0)
        return status;
    for (long node = 0; node < job_size() - nx_hosted; node++) {
        if (bytes[node] < 0 || bytes[node] > LONG_MAX - room)
            return nx_wrong(NEOPVM_BAD_PARAMETER, "length %ld of node %ld", bytes[node], node);
        room += bytes[node];
    }
    long mine = bytes[nx_node(job_rank())];
    return end(job_collect(x, (uint64_t)mine, y, (uint64_t)room, NULL, NULL), "room", room);
}
