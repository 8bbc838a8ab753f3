/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The memory that the processes of one cluster share, and who they are. It is mapped once, before any of them is
 * forked, so an address means the same in all of them, and nothing has a name that could stay behind.
 */
#ifndef P4_ARENA_H
#define P4_ARENA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "p4.h"

#define ARENA_PROCESSES 1024

enum process_state { PROCESS_NONE, PROCESS_STARTING, PROCESS_ALIVE, PROCESS_LEFT, PROCESS_DEAD };

/* One process of the cluster. Its number here (from 1; 0 is nobody) stands in locks and queues. */
struct process {
    pthread_mutex_t life; /* held as long as the process lives: the kernel gives it back when it dies */
    int state;
    int pid;
    int rank;         /* -1: made by p4_create */
    uint32_t granted; /* what it waits for in a queue has come */
    int next;         /* behind it in that queue */
    char padding[64];
};

struct arena {
    size_t bytes;
    int processes; /* numbers given out so far */
    p4_lock_t processes_lock;
    p4_lock_t heap_lock;
    void *sync_pointer; /* of p4_cluster_shmem_sync */
    p4_barrier_monitor_t sync_barrier;
    struct process process[ARENA_PROCESSES + 1];
};

extern struct arena *arena;
/* The number of this process; 0 before the arena was made. */
extern int arena_me;

/* Maps memory for at least so many bytes of the program, 0 for the usual size, and becomes its first process. */
void arena_make(size_t wanted);

/* Gives out the number of a process that is about to be forked; 0 where there are too many. */
int arena_reserve(int rank);
/* In the forked child: this process is that number from now on. */
void arena_become(int number);
/* In the parent: the child lives. Waits until it has become its number or has died. */
void arena_started(int number, int pid);
/* This process ends in good order. */
void arena_leave(void);

/* How many processes of the cluster live, this one included. */
int arena_living(void);
/* A process that died or, where `or_left`, has ended at all; 0 for none. */
int arena_lost(int number, int or_left);
int arena_any_dead(void);
/* Called before a waiting process reports a death: the keeper hears of it, too, and knows which
 * rank it was and how it ended. */
void arena_let_keeper_tell(int number);
/* Sends a signal to all other living processes of the cluster. */
void arena_signal_others(int signal_number);

/* Waits until `*word` is no longer `value`; looks up at intervals, then checks with `check` that it can still come. */
void arena_wait(uint32_t *word, uint32_t value, void (*check)(const void *), const void *what);
void arena_wake(uint32_t *word, int count);

/* ---- heap.c ---- */
void heap_make(void *memory, size_t bytes);
void *heap_take(size_t bytes);
/* 0 if heap_take has not returned this memory. */
int heap_give(void *memory);

/* ---- lock.c ---- */
void lock_take(p4_lock_t *lock);
void lock_drop(p4_lock_t *lock);

/* ---- monitor.c ---- */
void monitor_make(p4_monitor_t *m, int queues);
void monitor_enter(p4_monitor_t *m);
void monitor_exit(p4_monitor_t *m);
void monitor_delay(p4_monitor_t *m, int queue);
/* Waits in a queue and leaves the monitor to the first of another queue. */
void monitor_delay_for(p4_monitor_t *m, int queue, int next_queue);
int monitor_waits(p4_monitor_t *m, int queue);
void monitor_continue(p4_monitor_t *m, int queue);
void barrier_pass(p4_barrier_monitor_t *b, int nprocs);

#endif
