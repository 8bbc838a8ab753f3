/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What a measured program asks of a message-passing system. The measured loops know only this; each system has a file
 * that gives it: pvm.c (PVM 3, so NeoPVM and PVM 3.4.6), mpi.c, and nx.c, express.c, p4.c and tcgmsg.c, which share ranks.h.
 * Another interface needs one more file.
 *
 * `bytes` is a multiple of 4 (or 0): the data are ints. Tasks are numbered from 0.
 */
#ifndef CALLS_H
#define CALLS_H

/* Where MPI and the like know one way only, every mode is that way. */
enum mode {
    RAW,      /* copied into a buffer as it is, sent, received, copied out */
    ENCODED,  /* the same in the encoding that every host understands: PVM's default */
    IN_PLACE, /* sent from where it lies, received to where it shall lie */
    UNPACKED  /* a buffer that was filled once is sent again and again; what comes is not copied out */
};

enum route {
    DIRECT, /* from task to task */
    DAEMONS /* through the daemons, where there are some */
};

/* Before calls_begin: the other tasks are to run another program, which talks as this one does. Only PVM can. */
void calls_partner(const char *program);
/* Becomes one of `tasks` tasks, spread over the hosts one after the other, and says which. Ends the program if it cannot. */
int calls_begin(int *argc, char ***argv, int tasks, enum route route);
void calls_end(void);

void calls_send(enum mode mode, int to, const void *data, int bytes);
void calls_receive(enum mode mode, int from, void *data, int bytes);

/* Sends to one task and receives from another (or the same), all tasks at the same time. */
void calls_shift(int to, const void *out, int from, void *in, int bytes);

/* Among all tasks. */
void calls_barrier(void);
void calls_broadcast(int from, void *data, int bytes);
/* Every task gets the sums. */
void calls_sum(double *data, int count);
/* `bytes` for each task out of `out`, in its order; the same in `in`. */
void calls_exchange_all(const char *out, char *in, int bytes);

/*
 * Memory that others read without its owner's taking part, one at a time, only where a system has such: PVM 3 has not, and
 * the program ends. All tasks call expose and withdraw; `data` are the owner's, and are copied into that memory.
 */
void calls_expose(int owner, const void *data, int bytes);
void calls_get(int owner, void *data, int bytes);
void calls_withdraw(void);

#endif
