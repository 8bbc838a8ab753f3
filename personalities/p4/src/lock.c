/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Locks: a word that is 0 (free), 1 (held) or 2 (held, and a process may sleep for it), and the
 * holder, so that a waiting process can be told of the holder's end. As in p4, another process
 * may release a lock. */
#include "arena.h"
#include "failure.h"

#define FREE 0u
#define HELD 1u
#define AWAITED 2u

static void check_holder(const void *what)
{
    const p4_lock_t *lock = what;
    int holder = (int)__atomic_load_n(&lock->p4_holder, __ATOMIC_RELAXED);
    if (arena_lost(holder, 1)) {
        arena_let_keeper_tell(holder);
        fatal("a lock is held by a process that has ended (pid %d)", arena->process[holder].pid);
    }
    int dead = arena_any_dead();
    if (dead != 0) {
        arena_let_keeper_tell(dead);
        fatal("process %d of the cluster died while this one waited for a lock", arena->process[dead].pid);
    }
    if (arena_living() == 1)
        fatal("a lock is held, and no other process lives that could give it back");
}

static void wait_for(p4_lock_t *lock)
{
    if (arena == NULL)
        fatal("a lock is held, and there is no other process (p4_initenv was not called)");
    while (__atomic_exchange_n(&lock->p4_word, AWAITED, __ATOMIC_ACQUIRE) != FREE)
        arena_wait(&lock->p4_word, AWAITED, check_holder, lock);
}

void lock_take(p4_lock_t *lock)
{
    unsigned expected = FREE;
    if (!__atomic_compare_exchange_n(&lock->p4_word, &expected, HELD, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        wait_for(lock);
    __atomic_store_n(&lock->p4_holder, (unsigned)arena_me, __ATOMIC_RELAXED);
}

void lock_drop(p4_lock_t *lock)
{
    __atomic_store_n(&lock->p4_holder, 0u, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&lock->p4_word, FREE, __ATOMIC_RELEASE) == AWAITED)
        arena_wake(&lock->p4_word, 1);
}
