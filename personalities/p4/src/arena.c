/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "arena.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"
#include "job.h"

#define USUAL_BYTES ((size_t)4096 << 20)
#define SMALLEST_BYTES ((size_t)16 << 20)
#define HEAP_OWN_BYTES 65536 /* what stands beside the blocks */

struct arena *arena;
int arena_me;

/* Pages that are never touched cost nothing; a small limit of the address space (ulimit -v) is honoured. */
static void *map_shared(size_t wanted, int exactly, size_t *bytes)
{
    for (*bytes = wanted;; *bytes /= 2) {
        void *memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED)
            return memory;
        if (exactly || *bytes <= SMALLEST_BYTES)
            fatal("no %zu bytes of shared memory: %s (-p4gm asks for less)", *bytes, strerror(errno));
    }
}

static void hold_life(struct process *process)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&process->life, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_mutex_lock(&process->life);
}

static void set_state(struct process *process, enum process_state state)
{
    __atomic_store_n(&process->state, (int)state, __ATOMIC_RELEASE);
}

static int state_of(const struct process *process)
{
    return __atomic_load_n(&process->state, __ATOMIC_ACQUIRE);
}

void arena_become(int number)
{
    struct process *process = &arena->process[number];
    arena_me = number;
    process->pid = (int)getpid();
    hold_life(process);
    set_state(process, PROCESS_ALIVE);
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

void arena_make(size_t wanted)
{
    size_t bytes, head = whole_pages(sizeof *arena);
    if (arena != NULL)
        return;
    size_t all = wanted > 0 ? head + whole_pages(wanted + HEAP_OWN_BYTES) : USUAL_BYTES;
    void *memory = map_shared(all, wanted > 0, &bytes);
    arena = memory;
    arena->bytes = bytes;
    heap_make((char *)memory + head, bytes - head);
    monitor_make(&arena->sync_barrier.m, 1);
    arena_become(arena_reserve(0));
    atexit(arena_leave);
}

int arena_reserve(int rank)
{
    int number = 0;
    lock_take(&arena->processes_lock);
    if (arena->processes < ARENA_PROCESSES) {
        number = ++arena->processes;
        arena->process[number].rank = rank;
        set_state(&arena->process[number], PROCESS_STARTING);
    }
    lock_drop(&arena->processes_lock);
    return number;
}

void arena_started(int number, int pid)
{
    struct process *process = &arena->process[number];
    while (state_of(process) == PROCESS_STARTING) {
        siginfo_t ended = {0};
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid &&
            state_of(process) == PROCESS_STARTING) {
            process->pid = pid;
            set_state(process, PROCESS_DEAD);
        }
        struct timespec moment = {0, 100000};
        nanosleep(&moment, NULL);
    }
}

/* Also at exit. A process that the program has forked by itself is not the one that the number means. */
void arena_leave(void)
{
    if (arena == NULL || arena_me == 0 || arena->process[arena_me].pid != (int)getpid())
        return;
    if (state_of(&arena->process[arena_me]) == PROCESS_ALIVE) {
        set_state(&arena->process[arena_me], PROCESS_LEFT);
        pthread_mutex_unlock(&arena->process[arena_me].life);
    }
}

/* Only its own process holds that mutex for long, so a process that gets it knows that the other
 * one has died. */
static void look_at(struct process *process)
{
    if (state_of(process) != PROCESS_ALIVE || process == &arena->process[arena_me])
        return;
    int result = pthread_mutex_trylock(&process->life);
    if (result == EOWNERDEAD || result == ENOTRECOVERABLE)
        set_state(process, PROCESS_DEAD);
    if (result == EOWNERDEAD || result == 0)
        pthread_mutex_unlock(&process->life);
}

static int count_in(enum process_state state, int *first)
{
    int count = 0;
    int processes = __atomic_load_n(&arena->processes, __ATOMIC_ACQUIRE);
    for (int number = processes; number >= 1; number--) {
        look_at(&arena->process[number]);
        if (state_of(&arena->process[number]) == (int)state) {
            count++;
            *first = number;
        }
    }
    return count;
}

int arena_living(void)
{
    int first = 0;
    return count_in(PROCESS_ALIVE, &first) + count_in(PROCESS_STARTING, &first);
}

int arena_any_dead(void)
{
    int first = 0;
    (void)count_in(PROCESS_DEAD, &first);
    return first;
}

int arena_lost(int number, int or_left)
{
    if (number < 1 || number > ARENA_PROCESSES)
        return 0;
    look_at(&arena->process[number]);
    int state = state_of(&arena->process[number]);
    return state == PROCESS_DEAD || (or_left && state == PROCESS_LEFT);
}

void arena_let_keeper_tell(int number)
{
    struct timespec left = {1, 0};
    if (job_state() != JOB_RANK || arena->process[number].rank < 0)
        return;
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

void arena_signal_others(int signal_number)
{
    for (int number = 1; number <= arena->processes; number++) {
        struct process *process = &arena->process[number];
        look_at(process);
        if (number != arena_me && state_of(process) == PROCESS_ALIVE)
            kill((pid_t)process->pid, signal_number);
    }
}

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    return syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

void arena_wake(uint32_t *word, int count)
{
    futex(word, FUTEX_WAKE, (uint32_t)count, NULL);
}

/* Most waits are short, so the word is checked a few times before a sleep. */
void arena_wait(uint32_t *word, uint32_t value, void (*check)(const void *), const void *what)
{
    const struct timespec interval = {0, 50 * 1000 * 1000};
    int yields = 50;
    /* The thread that changes the word may only need a core. */
    while (yields-- > 0 && __atomic_load_n(word, __ATOMIC_ACQUIRE) == value && job_yield()) {
    }
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
        if (futex(word, FUTEX_WAIT, value, &interval) == -1 && errno == ETIMEDOUT &&
            __atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
            check(what);
    }
}
