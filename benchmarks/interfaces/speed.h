/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What speed.c asks of an interface. Each file beside it has the calls of one; pvm.c those that the others stand beside. */
#ifndef SPEED_H
#define SPEED_H

enum { MOST = 1000000, RANKS_MOST = 64 };

/* A way to send, receive and work together. The functions that an interface lacks are null. */
struct way {
    const char *name;
    void (*prepare)(void); /* before each batch */
    void (*send_to)(int to, int bytes);
    void (*take)(int from, int bytes);
    void (*meet)(void);
    void (*sum)(double *x, int count);
    void (*broadcast)(int root, int bytes);
};

extern int me, all;
extern char *data; /* MOST bytes: what is sent, and where it is received */

double now(void); /* nanoseconds */
/* How many turns, up to `most`, take no longer than a batch should: the same number in all ranks, which all call it. */
int affordable(void (*turn)(const struct way *, int), int what, int most);
void tell(const char *key, const char *way, double median, double best, double ratio);

/* Of the interface. */
extern const struct way own;
extern const char *const beside; /* names of ways of pvm.c, with blanks between them */
void enter(int argc, char **argv);
void finish(void);
void extra(const char *what); /* a measurement that only this interface has */

/* pvm.c: the ways of the machine's own calls, between the ranks that these ids belong to. */
const struct way *pvm_way(const char *name);
int pvm_own_tid(void);
void pvm_learn(const int *tids);

#endif
