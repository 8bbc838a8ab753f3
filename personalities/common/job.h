/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * job.h - what the old interfaces (TCGMSG, p4, NX, Express, CPS ...) share: a job of ranks 0 to N-1.
 *
 * A job is a keeper and its ranks. The keeper is `pvm run --as NAME`: it reads the system's own file, starts the
 * ranks, tells each of them who the others are, watches them, and ends all when one fails. This file is what a rank
 * sees of it. It is compiled into each library and hidden there: no name of it is exported.
 *
 * All calls work on the one job of this process. None prints, none ends the process but job_fatal and job_become, and
 * none calls a public name of an old interface. Results are 0 or one of the negative JOB_ numbers below; which calls
 * can give which is said with them. Every call may come from any thread once job_begin has returned.
 *
 * Ranks are int32_t, JOB_ANY is any. Types are 0 to 2^31 - 1, JOB_ANY is any. Messages are bytes and go as they are in
 * memory. Messages of one rank with one type are received in the order in which they were sent.
 *
 * The channels of a job are contexts of the machine of its own. What a task that is no rank of the job sends into
 * them is dropped when a receive meets it.
 */
#ifndef NEOPVM_JOB_H
#define NEOPVM_JOB_H

#include <neopvm.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_ANY (-1)

#define JOB_OK 0
#define JOB_NONE 1            /* nothing has come by now: no error */
#define JOB_BAD_RANK (-101)   /* not 0 to size-1 */
#define JOB_BAD_TYPE (-102)   /* below 0 where it cannot be */
#define JOB_TOO_LONG (-103)   /* the message is longer than the room; it is gone */
#define JOB_BAD_HANDLE (-104) /* spent, cancelled, or never given */
#define JOB_NO_HANDLES (-105) /* JOB_HANDLES are in use */
#define JOB_NO_TABLE (-106)   /* before job_table, and the call needs the other ranks */
#define JOB_REFUSED (-107)    /* the keeper could not do it: job_reason tells why */
#define JOB_NOBODY (-108)     /* alone, and waits for ever for a message that nobody can send */
#define JOB_UNEQUAL (-109)    /* the ranks do not agree on the length of what they do together */
#define JOB_LEFT (-110)       /* this process has called pvm_exit: it is no rank any more */
#define JOB_ENDED (-111)      /* a rank that a call of all waits for has ended */
/* Others are results of neopvm.h (-1 to -32), such as NEOPVM_NO_ROOM. job_text knows all of them. */

#define JOB_HANDLES 65536

/* ---- Start and end ---- */

struct job_options {
    const char *interface;  /* NAME of `pvm run --as NAME` */
    const char *last_call;  /* "PEND": told where a rank ends without it; null where none is asked for */
};

enum job_state {
    JOB_ALONE,  /* no keeper has started this process: a job of one, which needs no machine */
    JOB_RANK    /* of a keeper's job */
};

/*
 * Finds out what this process is. Takes the keeper's word out of the environment, so that programs that this one starts
 * are no ranks. Does not wait: rank, size and the others are known after job_table. Alone, rank is 0 and size is 1 at
 * once, and nothing is asked of a machine. A second call changes nothing and returns the same.
 * Negative: no daemon answers (NEOPVM_NO_MACHINE), or the keeper speaks of another interface (JOB_REFUSED).
 */
int job_begin(const struct job_options *options);

/*
 * Replaces this process by its keeper: `pvm run --quiet --as NAME [-n count] [--hosts file] PROGRAM ARGS`, where the
 * program is the file of this process and the arguments are argv[1] and following. count 0 and file null are left
 * out. To be called while JOB_ALONE before the program has done anything that it should not do twice. Returns only if
 * `pvm` is not found or cannot be executed: JOB_REFUSED.
 */
int job_become(int32_t count, const char *file, char **argv);

/* The arguments of this process as the kernel has them, ending with null; for interfaces whose calls are not told
 * them. Owned by this file; null if they cannot be read. */
char **job_arguments(void);

/*
 * A cluster is what one line of a procgroup file starts: `count` ranks on one host. Where the file says that the ranks
 * of a cluster share memory (p4), the keeper starts one process for each cluster, its first rank, and that process
 * makes the others by job_fork. job_cluster_wanted tells how many ranks the cluster of this process has in all, the
 * first included; 1 where nothing is to be forked (then the keeper has started every rank itself).
 */
int32_t job_cluster_wanted(void);

/*
 * Forks count-1 processes and enrols each; returns in all of them, with 0 in the caller and 1 to count-1 in the others,
 * and the ids are told to the keeper. A forked rank is killed with the process that forked it. What it does when it
 * has ended is up to the caller: it must not return from job_fork's caller into code meant for the first alone.
 * NEOPVM_NO_MEMORY: not all could be forked; those that were are gone again.
 */
int32_t job_fork(int32_t count);

/* Waits until every rank that this process has forked has ended. */
void job_wait_forked(void);

struct job_cluster {
    int32_t count;         /* ranks */
    const char *host;      /* name, or null for "the machine chooses"; "local" is the host of rank 0 */
    const char *program;   /* path there, or null for this process's */
    int32_t shares;        /* 1: one process, which forks the others (job_cluster_wanted); 0: count processes */
};

/*
 * Asks the keeper, from rank 0, to start the other clusters: those that it has read in the file where `clusters` is
 * null, else these. (The keeper of an interface whose ranks are all known at the start starts them by itself, and this
 * is not needed: TCGMSG, NX without a host program.) Cluster 0, that of rank 0, is clusters[0] with its count; the
 * caller has forked its others by job_fork already. Returns when the keeper has begun; job_table waits for the rest.
 * JOB_REFUSED with a job_reason, such as an unknown host; then nothing was started.
 */
int job_start(const struct job_cluster *clusters, int32_t count);

/*
 * Waits until the keeper has told the ranks, ids and hosts of all, which it does when the last of them is started and
 * all forked ones are announced. 0, or NEOPVM_NO_MACHINE. Alone it returns at once.
 */
int job_table(void);

/* job_begin and job_table. */
int job_enter(const struct job_options *options);

/*
 * This rank has done its part: what happens to it from now on is no failure of the job, unless it ends with a status
 * that is not 0. Its messages stay. The process stays a task until it ends.
 */
void job_leave(void);

/*
 * Ends the whole job: the keeper is told rank, host, code and text, tells the user, and ends all ranks within a
 * second; this process ends with status `code` & 255, or 1 where that is 0. Alone, the text is printed and the process
 * ends. The text is a line without its end; put in it the call and the value that was wrong.
 */
_Noreturn void job_fatal(int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
_Noreturn void job_vfatal(int code, const char *format, va_list values);

/* Why the last call of this thread said JOB_REFUSED; never null. */
const char *job_reason(void);
/* A result in words, job_reason for JOB_REFUSED; never null. */
const char *job_text(int result);

/* ---- Who is who: from a table in this process, without waiting ---- */

int job_state(void);              /* enum job_state; JOB_ALONE before job_begin */
int job_entered(void);            /* 1 between job_enter (or job_table) and job_leave */
int32_t job_rank(void);
int32_t job_size(void);
int32_t job_tid(int32_t rank);    /* -1: no such rank; 0 alone */
int32_t job_rank_of(int32_t tid); /* -1: not of this job */
int32_t job_clusters(void);
int32_t job_cluster_of(int32_t rank);
int32_t job_cluster_first(int32_t cluster); /* its ranks follow one another */
int32_t job_cluster_size(int32_t cluster);
const char *job_host_of(int32_t rank);      /* never null */
int32_t job_keeper(void);         /* its tid, 0 alone */

/* Waits until one of these ranks has ended that this process was not told of before; -1 where there is none left. */
int32_t job_await_end(const int32_t *ranks, int32_t count);
/* Has the keeper kill ranks whose ends are then no failure of the job. */
int job_kill(const int32_t *ranks, int32_t count);

/* ---- Messages ---- */

enum job_channel {
    JOB_USER,  /* what the program sends */
    JOB_OWN    /* what a library sends for itself: types JOB_OWN_FIRST and above; those below are of this file */
};
#define JOB_OWN_FIRST 65536

/*
 * Sends `bytes` bytes, which may be used again when it returns; never waits for the receiver, unless
 * neopvm_when_full says so. To oneself is allowed. One neopvm_send. JOB_BAD_RANK, JOB_BAD_TYPE.
 * Alone, a message to rank 0 is kept here.
 */
int job_send(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes);

/* The same, and returns when the receiver has taken the message (p4's "r" sends). Two messages. */
int job_send_acknowledged(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes);

/* To many, each once; this rank may be among them. Each host is sent the data once. */
int job_send_many(int channel, const int32_t *ranks, int32_t count, int32_t type, const void *data,
                  uint64_t bytes);
/* To all other ranks. */
int job_send_others(int channel, int32_t type, const void *data, uint64_t bytes);
/* To the ranks `first` to `end` - 1 but this one. */
int job_send_range(int channel, int32_t first, int32_t end, int32_t type, const void *data, uint64_t bytes);

struct job_message {
    int32_t source;  /* rank */
    int32_t type;
    uint64_t bytes;
    void *own;                  /* of this file: bytes of a message to oneself, alone */
    struct neopvm_received raw; /* of this file */
};

#define JOB_TYPES 0x80000000u

/* What a receive or probe wants. */
struct job_select {
    int32_t channel;
    int32_t rank;  /* or JOB_ANY */
    int32_t type;  /* or JOB_ANY */
    /* Not 0: JOB_TYPES and a bit for each of the types 0 to 30 that are wanted, and `type` is JOB_ANY. The core cannot
     * select by it: messages of other types are kept in a queue of this file, in which later receives look first. */
    uint32_t types;
};

/*
 * Takes the first message that fits, waiting up to limit_ns (negative: for ever; 0: not at all). JOB_OK: `message`
 * is to be given to job_put or job_free once. JOB_NONE: nothing came. JOB_BAD_RANK. An acknowledgement that the sender
 * waits for goes out here. Asynchronous receives that were posted earlier and fit come first.
 */
int job_take(const struct job_select *select, int64_t limit_ns, struct job_message *message);

/* Copies the bytes of a taken message to `data` and frees it. JOB_TOO_LONG: nothing is copied, and it is freed. */
int job_put(struct job_message *message, void *data, uint64_t room);
/* Where the bytes lie, until job_free. Null only if the sender died before the message was whole. */
const void *job_bytes(struct job_message *message);
void job_free(struct job_message *message);

/* job_take for ever and job_put; `message` (not null) tells source, type and bytes, and is freed. */
int job_receive(int32_t channel, int32_t rank, int32_t type, void *data, uint64_t room,
                struct job_message *message);

/* Tells of the first message that fits and leaves it: JOB_OK or JOB_NONE. `message` must not be freed. */
int job_probe(const struct job_select *select, struct job_message *message);
/* The same, and waits. */
int job_await(const struct job_select *select, int64_t limit_ns, struct job_message *message);

/* ---- Asynchronous receives ---- */

typedef int32_t job_handle; /* above 0 */

/* Posts a receive into `data`. Messages that fit several posted receives go to the earliest. */
int job_post(const struct job_select *select, void *data, uint64_t room, job_handle *handle);
/* A handle that is done, for asynchronous sends, which are done when the data are copied. */
int job_post_done(const struct job_message *message, job_handle *handle);
/* JOB_OK: done, `message` tells what came, and the handle is spent. JOB_NONE. JOB_TOO_LONG: done, nothing was copied,
 * the handle is spent. */
int job_test(job_handle handle, struct job_message *message);
int job_wait(job_handle handle, int64_t limit_ns, struct job_message *message);
/* The same for whichever handle is done first. JOB_BAD_HANDLE: there is none. */
int job_wait_any(int64_t limit_ns, job_handle *handle, struct job_message *message);
/* The handle is spent; a message that came for it is lost, one that had not stays for others. */
int job_cancel(job_handle handle);

/* ---- Handlers: called by a thread of their own while the program computes ---- */

typedef void (*job_handler)(const struct job_message *message, void *with);

/*
 * Once: when a message that fits has been received into `data`, `handler` is called with it, by one thread for all
 * handlers and one at a time. A handler may call everything here. The message is longer than `room`: the handler is
 * called with message->bytes above room, and data untouched. data null: the handler is given the message unread, and
 * calls job_put or job_free itself (on a copy of the struct).
 */
int job_on_message(const struct job_select *select, void *data, uint64_t room, job_handler handler, void *with);
/* Has the handler thread call this soon (hsend: done at once, but told by a handler). */
int job_call_soon(job_handler handler, const struct job_message *message, void *with);
/* 1: no handler begins until it is 0 again, and it returns when none runs (called by a handler: when it returns
 * itself). Returns what was set before. */
int job_mask(int on);

/* ---- All ranks together: every rank calls them in the same order. By trees of messages in JOB_OWN, and
 * barriers of one host's ranks in the memory of a group of the machine. JOB_ENDED, some seconds later, where a rank has
 * ended that has not made its part of the call ---- */

int job_barrier(void);
/* The calls of this section are for the ranks from `first` on alone (NX: the nodes, without their host). `root` is still
 * a rank of the job. To be called by all of them before the first of these calls. */
void job_together_from(int32_t first);
/* From `root` to all. JOB_UNEQUAL where a rank expects another length. */
int job_broadcast(int32_t root, void *data, uint64_t bytes);

/* Combines `count` items: into[i] = into[i] op from[i]. Must be associative and commutative. */
typedef void (*job_combine)(void *into, const void *from, uint64_t count, void *with);

/* All get the result in `data`; the same bits in all. `combine` may write over `from`, too. */
int job_reduce(void *data, uint64_t count, uint64_t item_bytes, job_combine combine, void *with);

/* With an operation that only reads `from`, which may then lie in a message. */
int job_reduce_reading(void *data, uint64_t count, uint64_t item_bytes, job_combine combine, void *with);

/* Each rank's bytes behind one another, in the order of ranks, in all. sizes (null, or job_size of them) tells the bytes
 * of each; JOB_TOO_LONG where they are more than room: then nothing is written, and all ranks with too little room
 * are told. */
int job_collect(const void *mine, uint64_t bytes, void *all, uint64_t room, uint64_t *sizes, uint64_t *total);

enum job_item { JOB_INT, JOB_LONG, JOB_FLOAT, JOB_DOUBLE };
enum job_operation {
    JOB_SUM, JOB_PRODUCT, JOB_MAX, JOB_MIN, JOB_ABSMAX, JOB_ABSMIN,
    JOB_BIT_AND, JOB_BIT_OR, JOB_BIT_XOR, JOB_AND, JOB_OR /* integers only */
};
/* Null where the pair makes no sense. */
job_combine job_combining(enum job_item item, enum job_operation operation);
uint64_t job_item_bytes(enum job_item item);

/* ---- The job's counter ---- */

/* The next value, beginning with 0, for whichever rank asks: on one host one instruction. */
int job_counter_next(int64_t *value);
/* Waits until so many ranks have called it, and sets the counter to 0. JOB_ENDED, some seconds later, where fewer live. */
int job_counter_meet(int32_t count);

/* ---- Odds and ends ---- */

/* A number of ranks in words of a user: 1 to 16384, or -1 for all else. */
int32_t job_count(const char *text);

/* Gives the core to others. 0: it was away for long, as programs that compute have it, so to sleep is sooner than to
 * yield again. */
int job_yield(void);
double job_seconds(void);        /* of a clock that never goes back */
double job_cpu_seconds(void);    /* this process has used */
/* A Fortran text of a hidden length: without the blanks behind, ended with 0, cut at room - 1. Returns `room_text`. */
char *job_fortran_text(const char *text, size_t length, char *room_text, size_t room);

#endif /* NEOPVM_JOB_H */
