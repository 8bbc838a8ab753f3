/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the eight programs share: start, ranks, messages, sums, random numbers, verification,
 * output. README.md says how a program uses it; nas_common.f90 is the same for Fortran.
 */
#ifndef NAS_H
#define NAS_H

/* What a program allows beside class and tasks: the flags of nas_options. */
#define NAS_SIZE 1       /* --size and --iterations */
#define NAS_STEP 2       /* --step */
#define NAS_SELF 4       /* --self */
#define NAS_MASTERED 8   /* --shape thesis has a master beside the workers */
#define NAS_ITERATIONS 16 /* --iterations alone */

#define NAS_MASTER (-1)  /* in place of a rank */

#define NAS_DEFAULT 0    /* encodings; the numbers are those of pvm3.h */
#define NAS_RAW 1
#define NAS_INPLACE 2

/* Doubles and ints alone, in this order: nas_common.f90 has the same type. */
struct nas_run {
    double step;       /* --step, else 0 */
    int tasks;         /* workers */
    int rank;          /* 0 .. tasks-1, or NAS_MASTER */
    int first;         /* 1: this task prints the report: the master, else rank 0 */
    int thesis;        /* 1: --shape thesis */
    int self;          /* 1: --self */
    int encoding;      /* NAS_DEFAULT, NAS_RAW, NAS_INPLACE */
    int class_letter;  /* 'S' 'W' 'A' 'B', or 'U' where --size stands alone */
    int size[3];       /* --size, else 0 */
    int iterations;    /* --iterations, else 0 */
};
extern struct nas_run nas;

/* 1. Start and end */
void nas_options(int argc, char **argv, const char *name, int flags);
void nas_require_tasks(int (*takes)(int tasks), const char *rule);
void nas_begin(double bytes_a_task);
void nas_poll(void);
_Noreturn void nas_fail(const char *format, ...);
_Noreturn void nas_end(void);

/* 2. Messages: of doubles and of ints, from rank to rank */
void nas_send(int to, int tag, const double *items, int count);
void nas_recv(int from, int tag, double *items, int count);
void nas_send_ints(int to, int tag, const int *items, int count);
int nas_recv_ints(int from, int tag, int *items, int most);
int nas_has_come(int from, int tag);
void nas_sum(double *items, int count);
void nas_sum_longs(long *items, int count);
void nas_max(double *items, int count);
void nas_broadcast(double *items, int count);
void nas_barrier(void);

/* 3. Time and random numbers (RNR-94-007, section 2.3) */
double nas_seconds(void);
void nas_timed(int begins); /* the timed section begins, or ends: for those who record */
double nas_random(double *seed, double factor);
void nas_randoms(int count, double *seed, double factor, double *out);
double nas_seed_after(double seed, double factor, long steps);

/* 4. The answer */
void nas_quantity(const char *name, double got, double wanted, double tolerance);
void nas_norm(const char *name, double got);
void nas_report(const char *size, int iterations, double seconds, double operations);

#endif
