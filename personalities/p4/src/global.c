/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls of all processes, and who shares memory with whom. */
#include <limits.h>

#include "arena.h"
#include "export.h"
#include "failure.h"
#include "job.h"
#include "process.h"

int broadcast_message(int type, const void *data, int len, int data_type)
{
    static const char call[] = "p4_broadcast";
    process_need(call);
    if (type < 0 || len < 0 || (data == NULL && len > 0) || data_type < P4NOX || data_type > P4DBL)
        return failed("%s: type %d, %d bytes at %p, data type %d", call, type, len, data, data_type);
    int result = job_send_others(JOB_USER, type, data, (uint64_t)len);
    return result == JOB_OK ? 0 : failed("%s: %s", call, job_text(result));
}

struct operation {
    P4_FUNCTION(void, op, (char *, char *, int));
    size_t item;
};

/* In parts where there are more items than an int counts. */
static void combine(void *into, const void *from, uint64_t count, void *with)
{
    const struct operation *operation = with;
    for (uint64_t done = 0; done < count;) {
        uint64_t part = count - done > INT_MAX ? INT_MAX : count - done;
        operation->op((char *)into + done * operation->item, (char *)(uintptr_t)from + done * operation->item, (int)part);
        done += part;
    }
}

static int size_of(int data_type)
{
    static const int sizes[] = {0, sizeof(int), sizeof(long), sizeof(float), sizeof(double)};
    return data_type < P4NOX || data_type > P4DBL ? -1 : sizes[data_type];
}

int global_operation(void *x, int nelem, int size, P4_FUNCTION(void, op, (char *, char *, int)), int data_type)
{
    static const char call[] = "p4_global_op";
    struct operation operation = {op, (size_t)size};
    process_need(call);
    if (x == NULL || op == NULL || nelem < 0 || size < 1)
        return failed("%s: %d elements of %d bytes at %p", call, nelem, size, x);
    if (size_of(data_type) < 0)
        return failed("%s: data type %d (P4NOX, P4INT, P4LNG, P4FLT, P4DBL)", call, data_type);
    if (data_type != P4NOX && size != size_of(data_type))
        return failed("%s: size %d of elements that have %d bytes", call, size, size_of(data_type));
    int result = (is_own_operation(op) ? job_reduce_reading : job_reduce)(x, (uint64_t)nelem, (uint64_t)size, combine,
                                                                         &operation);
    return result == JOB_OK ? 0 : failed("%s: %s", call, job_text(result));
}

int global_barrier(void)
{
    process_need("p4_global_barrier");
    int result = job_barrier();
    return result == JOB_OK ? 0 : failed("p4_global_barrier: %s", job_text(result));
}

static int32_t my_cluster(void)
{
    return job_cluster_of(job_rank());
}

int cluster_id(void)
{
    return process_id() < 0 ? -1 : (int)(job_rank() - job_cluster_first(my_cluster()));
}

void cluster_ids(int *first, int *last)
{
    process_need("p4_get_cluster_ids");
    if (first != NULL)
        *first = (int)job_cluster_first(my_cluster());
    if (last != NULL)
        *last = (int)(job_cluster_first(my_cluster()) + job_cluster_size(my_cluster())) - 1;
}

void cluster_masters(int *count, int *ids)
{
    process_need("p4_get_cluster_masters");
    if (count == NULL || ids == NULL)
        fatal("p4_get_cluster_masters: a null pointer");
    *count = (int)job_clusters();
    for (int i = 0; i < *count; i++)
        ids[i] = (int)job_cluster_first(i);
}

/* The second barrier keeps the master from the next pointer before all have this one. */
static void share_pointer(void **shared)
{
    process_need("p4_cluster_shmem_sync");
    if (shared == NULL)
        fatal("p4_cluster_shmem_sync: a null pointer");
    int processes = (int)job_cluster_size(my_cluster());
    if (cluster_id() == 0)
        arena->sync_pointer = *shared;
    barrier_pass(&arena->sync_barrier, processes);
    *shared = arena->sync_pointer;
    barrier_pass(&arena->sync_barrier, processes);
}

P4_API int p4_broadcast(int type, const void *data, int len)
{
    return broadcast_message(type, data, len, P4NOX);
}

P4_API int p4_broadcastx(int type, const void *data, int len, int data_type)
{
    return broadcast_message(type, data, len, data_type);
}

P4_API int p4_global_op(int type, void *x, int nelem, int size, P4_FUNCTION(void, op, (char *, char *, int)),
                        int data_type)
{
    (void)type;
    return global_operation(x, nelem, size, op, data_type);
}

P4_API int p4_global_barrier(int type)
{
    (void)type;
    return global_barrier();
}

P4_API int p4_get_my_cluster_id(void)
{
    return cluster_id();
}

P4_API int p4_num_cluster_ids(void)
{
    return (int)job_cluster_size(my_cluster());
}

P4_API int p4_am_i_cluster_master(void)
{
    return cluster_id() == 0;
}

P4_API void p4_get_cluster_ids(int *first, int *last)
{
    cluster_ids(first, last);
}

P4_API void p4_get_cluster_masters(int *count, int ids[])
{
    cluster_masters(count, ids);
}

P4_API void p4_cluster_shmem_sync(void **shared)
{
    share_pointer(shared);
}
