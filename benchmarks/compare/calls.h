/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a measured program asks of a message-passing system. The measured loops (compare.c) know only this; each
 * system has a file that gives it: calls_pvm.c, calls_mpi.c.
 */
#ifndef CALLS_H
#define CALLS_H

enum mode {
    PACKED,  /* copied into a buffer, sent, received, copied out; MPI sends and receives plainly */
    IN_PLACE /* sent from where it lies, received to where it shall lie */
};

/* Becomes one of `tasks` numbered tasks and learns which. Ends the program if that cannot be. */
int calls_begin(int *argc, char ***argv, int tasks);
void calls_end(void);

/* `bytes` is a multiple of 4 (or 0): the data are ints. */
void calls_send(enum mode mode, int to, const void *data, int bytes);
void calls_receive(enum mode mode, int from, void *data, int bytes);

/* An empty message that is never received. */
void calls_send_unwanted(int to);

/* Among all tasks. The sum of doubles ends up at task 0. */
void calls_barrier(void);
void calls_broadcast(int from, void *data, int bytes);
void calls_sum(double *data, int count);

/* Starts `tasks` trivial programs and waits until all have ended; negative where that is not offered. */
double calls_spawn_s(int tasks);

/* The name of the system, for the table. */
extern const char calls_name[];

#endif
