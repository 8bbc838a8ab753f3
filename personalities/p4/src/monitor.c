/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Monitors. The monitor notes the process inside, which passes it directly to the next one on
 * leaving. So a process that is woken from a queue finds what the waker left, because no other
 * process comes between. The queues are lists of the processes' numbers. */
#include "arena.h"
#include "failure.h"

#define OWN_QUEUES 2

static struct process *self(void)
{
    if (arena == NULL)
        fatal("a monitor is used before p4_initenv");
    return &arena->process[arena_me];
}

static void append(p4_queue_t *queue)
{
    struct process *process = self();
    process->next = 0;
    __atomic_store_n(&process->granted, 0, __ATOMIC_RELAXED);
    if (queue->p4_first == 0)
        queue->p4_first = arena_me;
    else
        arena->process[queue->p4_last].next = arena_me;
    queue->p4_last = arena_me;
}

static int take_first(p4_queue_t *queue)
{
    int number = queue->p4_first;
    if (number < 0 || number > ARENA_PROCESSES)
        fatal("a monitor was overwritten (or p4_moninit was not called)");
    if (number != 0)
        queue->p4_first = arena->process[number].next;
    return number;
}

static void grant(int number)
{
    if (number == 0)
        return;
    __atomic_store_n(&arena->process[number].granted, 1, __ATOMIC_RELEASE);
    arena_wake(&arena->process[number].granted, 1);
}

static void check_others(const void *what)
{
    const p4_monitor_t *m = what;
    int owner = __atomic_load_n(&m->p4_owner, __ATOMIC_RELAXED);
    if (arena_lost(owner, 1)) {
        arena_let_keeper_tell(owner);
        fatal("a process has ended inside a monitor (pid %d)", arena->process[owner].pid);
    }
    int dead = arena_any_dead();
    if (dead != 0) {
        arena_let_keeper_tell(dead);
        fatal("process %d of the cluster died while this one waited in a monitor", arena->process[dead].pid);
    }
    if (arena_living() == 1)
        fatal("this process waits in a monitor, and no other process lives that could wake it");
}

static void wait_until_granted(p4_monitor_t *m)
{
    arena_wait(&self()->granted, 0, check_others, m);
}

static void check_inside(const p4_monitor_t *m, const char *call)
{
    if (__atomic_load_n(&m->p4_owner, __ATOMIC_RELAXED) != arena_me || arena_me == 0)
        fatal("%s: this process is not in the monitor", call);
}

static p4_queue_t *queue_of(p4_monitor_t *m, int queue, const char *call)
{
    if (queue < 0 || queue >= m->p4_queue_count)
        fatal("%s: queue %d of a monitor with %d queues", call, queue, m->p4_queue_count);
    return m->p4_more_queues == NULL ? &m->p4_own_queues[queue] : &m->p4_more_queues[queue];
}

static void set_owner(p4_monitor_t *m, int number)
{
    __atomic_store_n(&m->p4_owner, number, __ATOMIC_RELAXED);
}

void monitor_make(p4_monitor_t *m, int queues)
{
    memset(m, 0, sizeof *m);
    if (queues < 0 || queues > 1000000)
        fatal("p4_moninit: %d queues", queues);
    if (queues > OWN_QUEUES) {
        m->p4_more_queues = heap_take((size_t)queues * sizeof(p4_queue_t));
        if (m->p4_more_queues == NULL)
            fatal("p4_moninit: no shared memory for %d queues", queues);
        memset(m->p4_more_queues, 0, (size_t)queues * sizeof(p4_queue_t));
    }
    m->p4_queue_count = queues;
}

void monitor_enter(p4_monitor_t *m)
{
    (void)self();
    lock_take(&m->p4_guard);
    if (m->p4_owner == arena_me)
        fatal("p4_menter: this process is in the monitor already");
    int free_now = m->p4_owner == 0;
    if (free_now)
        set_owner(m, arena_me);
    else
        append(&m->p4_entry);
    lock_drop(&m->p4_guard);
    if (!free_now)
        wait_until_granted(m);
}

/* With the guard held: the monitor goes to `number`, or to the first who wants in. */
static void hand_over(p4_monitor_t *m, int number)
{
    if (number == 0)
        number = take_first(&m->p4_entry);
    set_owner(m, number);
    lock_drop(&m->p4_guard);
    grant(number);
}

void monitor_exit(p4_monitor_t *m)
{
    check_inside(m, "p4_mexit");
    lock_take(&m->p4_guard);
    hand_over(m, 0);
}

void monitor_delay(p4_monitor_t *m, int queue)
{
    check_inside(m, "p4_mdelay");
    p4_queue_t *place = queue_of(m, queue, "p4_mdelay");
    lock_take(&m->p4_guard);
    append(place);
    hand_over(m, 0);
    wait_until_granted(m);
}

void monitor_delay_for(p4_monitor_t *m, int queue, int next_queue)
{
    lock_take(&m->p4_guard);
    append(queue_of(m, queue, "p4_mdelay"));
    hand_over(m, take_first(queue_of(m, next_queue, "p4_mdelay")));
    wait_until_granted(m);
}

int monitor_waits(p4_monitor_t *m, int queue)
{
    return queue_of(m, queue, "p4_mdelay")->p4_first != 0;
}

void monitor_continue(p4_monitor_t *m, int queue)
{
    check_inside(m, "p4_mcontinue");
    p4_queue_t *place = queue_of(m, queue, "p4_mcontinue");
    lock_take(&m->p4_guard);
    hand_over(m, take_first(place));
}

void barrier_pass(p4_barrier_monitor_t *b, int nprocs)
{
    if (nprocs < 1)
        fatal("p4_barrier: nprocs %d", nprocs);
    monitor_enter(&b->m);
    if (++b->p4_arrived < nprocs)
        monitor_delay(&b->m, 0);
    else
        b->p4_arrived = 0;
    monitor_continue(&b->m, 0);
}
