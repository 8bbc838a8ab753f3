/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Asynchronous messages and handlers. Ids above 0 are handles of job.h, those below MERGED_LAST merged ones. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MERGED_MAX 65536
#define MERGED_LAST (-1000) /* and below: no result of job.h */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct merged {
    long ids[2];
    int used;
} merged[MERGED_MAX];
static long merged_first;
/* Where irecvx wants to have it told, by the slot of the handle. */
static long *infos[JOB_HANDLES];

static long **info_of(long id)
{
    return &infos[id & (JOB_HANDLES - 1)];
}

long core_irecvx(long typesel, void *data, long room, long node, long pid, long *info)
{
    struct job_select select;
    job_handle handle;
    (void)pid;
    long status = nx_prepare(&select, typesel, node, room);
    if (status < 0)
        return status;
    int posted = job_post(&select, data, (uint64_t)room, &handle);
    if (posted < 0)
        return nx_wrong(posted, "type %ld", typesel);
    *info_of(handle) = info;
    return handle;
}

long core_irecv(long typesel, void *data, long room)
{
    return core_irecvx(typesel, data, room, -1, -1, NULL);
}

long core_isend(long type, const void *data, long bytes, long node, long pid)
{
    long status = core_csend(type, data, bytes, node, pid);
    if (status < 0)
        return status;
    struct job_message sent = {.source = job_rank(), .type = (int32_t)type, .bytes = (uint64_t)bytes};
    job_handle handle;
    int given = job_post_done(&sent, &handle);
    if (given < 0)
        return nx_wrong(given, "type %ld", type);
    *info_of(handle) = NULL;
    return handle;
}

long core_isendrecv(long type, const void *out, long bytes, long node, long pid, long typesel, void *in, long room)
{
    long id = core_irecv(typesel, in, room);
    long status = id < 0 ? id : core_csend(type, out, bytes, node, pid);
    if (status < 0 && id >= 0)
        job_cancel((job_handle)id);
    return status < 0 ? status : id;
}

/* An id that a program made up may have more bits than a handle; it becomes 0, which is no
 * handle. */
static job_handle handle_of(long id)
{
    return id > 0 && id <= INT32_MAX ? (job_handle)id : 0;
}

static long finish(long id, int status, const struct job_message *message)
{
    if (status == JOB_TOO_LONG)
        return nx_wrong(status, "id %ld: type %d from node %ld with %lu bytes", id, (int)message->type,
                        nx_node(message->source), (unsigned long)message->bytes);
    if (status < 0)
        return nx_wrong(status, "id %ld", id);
    nx_note(message);
    long *info = *info_of(id);
    for (int at = 0; info != NULL && at < 8; at++)
        info[at] = at == 0 ? nx_last()->type : at == 1 ? nx_last()->count : at == 2 ? nx_last()->node : 0;
    return 1;
}

static struct merged *find_merged(long id)
{
    long at = MERGED_LAST - id;
    return at >= 0 && at < MERGED_MAX && merged[at].used ? &merged[at] : NULL;
}

static void give_back(struct merged *both)
{
    both->used = 0;
}

/* ((a, b), c) becomes (a, (b, c)). */
static void turn(struct merged *both, struct merged *left)
{
    long id = both->ids[0];
    both->ids[0] = left->ids[0];
    left->ids[0] = left->ids[1];
    left->ids[1] = both->ids[1];
    both->ids[1] = id;
}

static void step_right(struct merged *both)
{
    struct merged *rest = find_merged(both->ids[1]);
    if (rest == NULL) {
        both->ids[0] = both->ids[1];
        both->ids[1] = -1;
        return;
    }
    memcpy(both->ids, rest->ids, sizeof both->ids);
    give_back(rest);
}

/*
 * An id of job.h comes to stand in ids[0], and what else was merged is in ids[1]: a program may merge as many as it likes,
 * so they are not followed by recursion. -1: there is none left. 0, which is no id: ids that were spent lead in a circle.
 */
static long next_of(struct merged *both)
{
    for (long steps = 0; steps <= 2 * MERGED_MAX; steps++) {
        struct merged *left = find_merged(both->ids[0]);
        if (left != NULL)
            turn(both, left);
        else if (both->ids[0] != -1)
            return both->ids[0];
        else if (both->ids[1] == -1)
            return -1;
        else
            step_right(both);
    }
    return 0;
}

static long wait_one(long id)
{
    struct job_message message = {.type = 0};
    return finish(id, job_wait(handle_of(id), JOB_ANY, &message), &message);
}

static long test_one(long id)
{
    struct job_message message = {.type = 0};
    int status = job_test(handle_of(id), &message);
    return status == JOB_NONE ? 0 : finish(id, status, &message);
}

static long cancel_one(long id)
{
    int status = job_cancel(handle_of(id));
    return status < 0 ? nx_wrong(status, "id %ld", id) : JOB_OK;
}

/* A receive that is done already does not keep the others posted. */
static long cancel_any(long id)
{
    cancel_one(id);
    return 1;
}

/* For all that were merged, up to the first error. */
static long for_each(struct merged *both, long (*call)(long id))
{
    long id, result = 1;
    while ((id = next_of(both)) != -1) {
        both->ids[0] = -1;
        if (result >= 0)
            result = call(id);
    }
    give_back(both);
    return result;
}

long core_msgwait(long id)
{
    struct merged *both = find_merged(id);
    if (id == -1)
        return 1;
    return both != NULL ? for_each(both, wait_one) : wait_one(id);
}

long core_msgdone(long id)
{
    struct merged *both = find_merged(id);
    long one;
    if (id == -1)
        return 1;
    if (both == NULL)
        return test_one(id);
    /* Receives that are done are released, and are not waited for any more. */
    while ((one = next_of(both)) != -1) {
        long done = test_one(one);
        if (done <= 0)
            return done;
        both->ids[0] = -1;
    }
    give_back(both);
    return 1;
}

long core_msgcancel(long id)
{
    struct merged *both = find_merged(id);
    if (id == -1)
        return JOB_OK;
    return both != NULL ? for_each(both, cancel_any) : cancel_one(id);
}

/* A receive that nobody waits for stays posted; its id is spent where it is done already. */
long core_msgignore(long id)
{
    long status = core_msgdone(id);
    return status < 0 ? status : JOB_OK;
}

long core_msgmerge(long one, long other)
{
    if (one == -1 || other == -1)
        return one == -1 ? other : one;
    pthread_mutex_lock(&lock);
    long at = merged_first;
    while (at < merged_first + MERGED_MAX && merged[at % MERGED_MAX].used)
        at++;
    int found = at < merged_first + MERGED_MAX;
    at %= MERGED_MAX;
    if (found) {
        merged[at] = (struct merged){{one, other}, 1};
        merged_first = at + 1;
    }
    pthread_mutex_unlock(&lock);
    return found ? MERGED_LAST - at : nx_wrong(JOB_NO_HANDLES, "ids %ld and %ld", one, other);
}

/* ---- Handlers ---- */

struct call {
    struct nx_called called;
    long room;
};

static void run_call(const struct job_message *message, void *with)
{
    struct call call = *(struct call *)with;
    free(with);
    nx_note(message);
    struct nx_info *info = nx_last();
    if (info->count > call.room)
        job_fatal(1, "hrecv: type %ld from node %ld with %ld bytes, and there is room for %ld", info->type, info->node,
                  info->count, call.room);
    if (call.called.handler != NULL) {
        call.called.handler(info->type, info->count, info->node, info->pid);
    } else {
        int type = (int)info->type, count = (int)info->count, node = (int)info->node, pid = 0;
        call.called.fortran(&type, &count, &node, &pid);
    }
}

static struct call *new_call(struct nx_called called, long room)
{
    struct call *call = malloc(sizeof *call);
    if (call != NULL)
        *call = (struct call){called, room};
    return call;
}

long core_hrecvx(long typesel, void *data, long room, long node, struct nx_called called)
{
    struct job_select select;
    long status = nx_prepare(&select, typesel, node, room);
    struct call *call = status < 0 ? NULL : new_call(called, room);
    if (call == NULL)
        return status < 0 ? status : nx_wrong(NEOPVM_NO_MEMORY, "type %ld", typesel);
    int posted = job_on_message(&select, data, (uint64_t)room, run_call, call);
    if (posted < 0)
        free(call);
    return posted < 0 ? nx_wrong(posted, "type %ld", typesel) : JOB_OK;
}

long core_hsend(long type, const void *data, long bytes, long node, long pid, struct nx_called called)
{
    long status = core_csend(type, data, bytes, node, pid);
    struct call *call = status < 0 ? NULL : new_call(called, bytes);
    if (call == NULL)
        return status < 0 ? status : nx_wrong(NEOPVM_NO_MEMORY, "type %ld", type);
    struct job_message sent = {.source = job_rank(), .type = (int32_t)type, .bytes = (uint64_t)bytes};
    int soon = job_call_soon(run_call, &sent, call);
    return soon < 0 ? nx_wrong(soon, "type %ld", type) : JOB_OK;
}

long core_masktrap(long state)
{
    return job_mask(state != 0);
}

long core_hsendrecv(long type, const void *out, long bytes, long node, long pid, long typesel, void *in, long room,
                    struct nx_called called)
{
    long status = core_hrecvx(typesel, in, room, -1, called);
    return status < 0 ? status : core_csend(type, out, bytes, node, pid);
}
