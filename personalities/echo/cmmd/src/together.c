/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What all nodes of CMMD do together. */
#include <cmmd.h>
#include "cmmd_state.h"

static job_combine combining(const char *call, enum job_item item, CMMD_combiner_t combiner)
{
    static const enum job_operation operations[] = {
        [CMMD_combiner_add] = JOB_SUM,     [CMMD_combiner_max] = JOB_MAX,     [CMMD_combiner_min] = JOB_MIN,
        [CMMD_combiner_ior] = JOB_BIT_OR,  [CMMD_combiner_xor] = JOB_BIT_XOR, [CMMD_combiner_and] = JOB_BIT_AND,
    };
    job_combine combine = NULL;

    if (combiner <= CMMD_combiner_and)
        combine = job_combining(item, operations[combiner]);
    if (!combine)
        job_fatal(1, "%s: no combiner %d for this type", call, (int)combiner);
    return combine;
}

static void reduce(const char *call, enum job_item item, void *value, CMMD_combiner_t combiner)
{
    cmmd_must(call, cmmd_enter());
    cmmd_must(call, job_reduce_reading(value, 1, job_item_bytes(item), combining(call, item, combiner), NULL));
}

ECHO_CALL int CMMD_sync_with_nodes(void)
{
    int status = cmmd_enter();

    return status < 0 || job_barrier() < 0 ? -1 : 0;
}

ECHO_CALL int CMMD_reduce_int(int value, CMMD_combiner_t combiner)
{
    reduce("CMMD_reduce_int", JOB_INT, &value, combiner);
    return value;
}

/* As longs, which hold every unsigned number. */
ECHO_CALL unsigned CMMD_reduce_uint(unsigned value, CMMD_combiner_t combiner)
{
    long whole = (long)value;

    reduce("CMMD_reduce_uint", JOB_LONG, &whole, combiner);
    return (unsigned)whole;
}

ECHO_CALL float CMMD_reduce_float(float value, CMMD_combiner_t combiner)
{
    reduce("CMMD_reduce_float", JOB_FLOAT, &value, combiner);
    return value;
}

ECHO_CALL double CMMD_reduce_double(double value, CMMD_combiner_t combiner)
{
    reduce("CMMD_reduce_double", JOB_DOUBLE, &value, combiner);
    return value;
}

/* All nodes take part in each broadcast, so the number of a broadcast is the same on all. It is the type: who receives does
 * not know which node sends, and the next broadcast of another node may come first. */
static int32_t next_broadcast(void)
{
    static _Atomic uint32_t broadcasts;

    return TYPE_BROADCAST + (int32_t)(broadcasts++ % BROADCASTS);
}

static int check_broadcast(const void *data, int bytes)
{
    int status = cmmd_enter();

    return status < 0 || bytes < 0 || (bytes > 0 && !data) ? -1 : 0;
}

ECHO_CALL int CMMD_bc_to_nodes(void *data, int bytes)
{
    if (check_broadcast(data, bytes) < 0)
        return -1;
    return job_send_others(JOB_OWN, next_broadcast(), data, (uint64_t)bytes) < 0 ? -1 : 0;
}

ECHO_CALL int CMMD_receive_bc_from_node(void *data, int bytes)
{
    struct job_message message;

    if (check_broadcast(data, bytes) < 0)
        return -1;
    return job_receive(JOB_OWN, JOB_ANY, next_broadcast(), data, (uint64_t)bytes, &message) < 0 ? -1 : 0;
}
