/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* p4's memory, locks, monitors, subscripts and barriers: what the program calls. */
#include "arena.h"
#include "export.h"
#include "failure.h"

#include <limits.h>

static void need(const void *pointer, const char *call)
{
    if (pointer == NULL)
        fatal("%s: a null pointer", call);
}

P4_API char *p4_malloc(int bytes)
{
    return bytes < 0 ? NULL : malloc(bytes == 0 ? 1 : (size_t)bytes);
}

P4_API void p4_free(void *memory)
{
    free(memory);
}

P4_API char *p4_shmalloc(int bytes)
{
    if (arena == NULL)
        fatal("p4_shmalloc: p4_initenv comes first");
    void *memory = bytes < 0 ? NULL : heap_take((size_t)bytes);
    if (memory == NULL)
        (void)failed("p4_shmalloc: no shared memory for %d bytes (of %zu; -p4gm BYTES gives more)", bytes, arena->bytes);
    return memory;
}

P4_API void p4_shfree(void *memory)
{
    if (memory != NULL && !heap_give(memory))
        (void)failed("p4_shfree: %p is not from p4_shmalloc, or was freed before", memory);
}

P4_API void p4_lock_init(p4_lock_t *lock)
{
    need(lock, "p4_lock_init");
    memset(lock, 0, sizeof *lock);
}

P4_API void p4_lock(p4_lock_t *lock)
{
    need(lock, "p4_lock");
    lock_take(lock);
}

P4_API void p4_unlock(p4_lock_t *lock)
{
    need(lock, "p4_unlock");
    lock_drop(lock);
}

P4_API void p4_moninit(p4_monitor_t *m, int queues)
{
    need(m, "p4_moninit");
    monitor_make(m, queues);
}

P4_API void p4_menter(p4_monitor_t *m)
{
    need(m, "p4_menter");
    monitor_enter(m);
}

P4_API void p4_mexit(p4_monitor_t *m)
{
    need(m, "p4_mexit");
    monitor_exit(m);
}

P4_API void p4_mdelay(p4_monitor_t *m, int queue)
{
    need(m, "p4_mdelay");
    monitor_delay(m, queue);
}

P4_API void p4_mcontinue(p4_monitor_t *m, int queue)
{
    need(m, "p4_mcontinue");
    monitor_continue(m, queue);
}

P4_API void p4_getsub_init(p4_getsub_monitor_t *gs)
{
    need(gs, "p4_getsub_init");
    memset(gs, 0, sizeof *gs);
    monitor_make(&gs->m, 1);
}

/* The last of those that find no more sets all back; each that is woken wakes the next one. */
static void end_of_subscripts(p4_getsub_monitor_t *gs, int nprocs)
{
    if (++gs->p4_over < nprocs) {
        monitor_delay(&gs->m, 0);
    } else {
        gs->p4_over = 0;
        gs->p4_next = 0;
    }
    monitor_continue(&gs->m, 0);
}

static void next_subscript(p4_getsub_monitor_t *gs, int *s, int max, int nprocs, int stride)
{
    need(gs, "p4_getsub");
    need(s, "p4_getsub");
    if (nprocs < 1 || stride < 1)
        fatal("p4_getsub: nprocs %d, stride %d", nprocs, stride);
    monitor_enter(&gs->m);
    if (gs->p4_next <= max) {
        *s = (int)gs->p4_next;
        gs->p4_next += stride;
        monitor_exit(&gs->m);
    } else {
        *s = -1;
        end_of_subscripts(gs, nprocs);
    }
}

P4_API void p4_getsubs(p4_getsub_monitor_t *gs, int *s, int max, int nprocs, int stride)
{
    next_subscript(gs, s, max, nprocs, stride);
}

P4_API void p4_getsub(p4_getsub_monitor_t *gs, int *s, int max, int nprocs)
{
    next_subscript(gs, s, max, nprocs, 1);
}

P4_API void p4_barrier_init(p4_barrier_monitor_t *b)
{
    need(b, "p4_barrier_init");
    memset(b, 0, sizeof *b);
    monitor_make(&b->m, 1);
}

P4_API void p4_barrier(p4_barrier_monitor_t *b, int nprocs)
{
    need(b, "p4_barrier");
    barrier_pass(b, nprocs);
}
