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
#define JOB_NONE 1            /* no message has come in time: not an error */
#define JOB_BAD_RANK (-101)   /* the rank is not 0 to size-1 */
#define JOB_BAD_TYPE (-102)   /* the type is negative where it must not be */
#define JOB_TOO_LONG (-103)   /* the message is longer than the room, and is dropped */
#define JOB_BAD_HANDLE (-104) /* the handle is spent, cancelled, or was never given */
#define JOB_NO_HANDLES (-105) /* JOB_HANDLES are in use */
#define JOB_NO_TABLE (-106)   /* the call needs the other ranks, and job_table was not called */
#define JOB_REFUSED (-107)    /* the keeper could not do it: job_reason has the reason */
#define JOB_NOBODY (-108)     /* the process is alone and would wait for ever */
#define JOB_UNEQUAL (-109)    /* the ranks disagree on the length of data in a common call */
#define JOB_LEFT (-110)       /* this process has called pvm_exit: it is no rank any more */
#define JOB_ENDED (-111)      /* a rank that a call of all waits for has ended */
/* Other results are those of neopvm.h (-1 to -32), such as NEOPVM_NO_ROOM. job_text knows all of
 * them. */

#define JOB_HANDLES 65536

/* ---- Start and end ---- */

struct job_options {
    const char *interface;  /* NAME of `pvm run --as NAME` */
    const char *last_call;  /* such as "PEND": named when a rank ends without it; null if none is needed */
};

enum job_state {
    JOB_ALONE,  /* no keeper has started this process: a job of one, which needs no machine */
    JOB_RANK    /* of a keeper's job */
};

/* Finds out what this process is. Takes the keeper's variable out of the environment, so that
 * programs that this one starts do not count as ranks. Does not wait: rank, size and the other
 * ranks are known after job_table. In a process that is alone, rank is 0 and size is 1 at once,
 * and no machine is asked. A second call changes nothing and returns the result of the first.
 * Negative: no daemon answers (NEOPVM_NO_MACHINE), or the keeper names another interface
 * (JOB_REFUSED). */
int job_begin(const struct job_options *options);

/*
 * Replaces this process by its keeper: `pvm run --quiet --as NAME [-n count] [--hosts file] PROGRAM ARGS`, where the
 * program is the file of this process and the arguments are argv[1] and following. count 0 and file null are left
 * out. To be called while JOB_ALONE before the program has done anything that it should not do twice. Returns only if
 * `pvm` is not found or cannot be executed: JOB_REFUSED.
 */
int job_become(int32_t count, const char *file, char **argv);

/* The arguments of this process as the kernel has them, ending with null, for interfaces whose
 * calls do not get them. This file owns them; null if they cannot be read. */
char **job_arguments(void);

/*
 * A cluster is what one line of a procgroup file starts: `count` ranks on one host. Where the file says that the ranks
 * of a cluster share memory (p4), the keeper starts one process for each cluster, its first rank, and that process
 * makes the others by job_fork. job_cluster_wanted tells how many ranks the cluster of this process has in all, the
 * first included; 1 where nothing is to be forked (then the keeper has started every rank itself).
 */
int32_t job_cluster_wanted(void);

/* Forks count-1 processes and enrols each. Returns in all of them, with 0 in the caller and 1 to
 * count-1 in the others; the keeper gets their ids. A forked rank is killed together with the
 * process that forked it. The caller must take care that a forked rank ends by itself, and does
 * not return into code that is meant for the first rank alone. NEOPVM_NO_MEMORY: not all could
 * be forked, and those that were have been ended. */
int32_t job_fork(int32_t count);

/* Waits until every rank that this process has forked has ended. */
void job_wait_forked(void);

struct job_cluster {
    int32_t count;         /* ranks */
    const char *host;      /* name, or null: the machine chooses; "local" is the host of rank 0 */
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

/* This rank has done its part: its end is not a failure of the job from now on, unless its
 * status is not 0. Its messages stay. The process stays a task until it ends. */
void job_leave(void);

/* Ends the whole job: the keeper gets rank, host, code and text, prints them, and ends all ranks
 * within a second; this process ends with status `code` & 255, or 1 if that is 0. In a process
 * that is alone, the text is printed and the process ends. The text is one line without its end;
 * it should name the call and the wrong value. */
_Noreturn void job_fatal(int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
_Noreturn void job_vfatal(int code, const char *format, va_list values);

/* The reason for the last JOB_REFUSED of this thread; never null. */
const char *job_reason(void);
/* A result in words, job_reason for JOB_REFUSED; never null. */
const char *job_text(int result);

/* ---- Ranks and hosts: from a table in this process, without waiting ---- */

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

/* Waits until one of these ranks has ended whose end this process has not been told; -1 if there
 * is none. */
int32_t job_await_end(const int32_t *ranks, int32_t count);
/* Has the keeper kill ranks whose ends are then no failure of the job. */
int job_kill(const int32_t *ranks, int32_t count);

/* ---- Messages ---- */

enum job_channel {
    JOB_USER,  /* messages of the program */
    JOB_OWN    /* messages of a library: types from JOB_OWN_FIRST on; lower ones belong to this file */
};
#define JOB_OWN_FIRST 65536

/* Sends `bytes` bytes, which may be used again when the call returns. It does not wait for the
 * receiver, unless neopvm_when_full says so. A message to oneself is allowed. One neopvm_send.
 * JOB_BAD_RANK, JOB_BAD_TYPE. In a process that is alone, a message to rank 0 is kept here. */
int job_send(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes);

/* Like job_send, but returns when the receiver has taken the message (p4's "r" sends). Two
 * messages. */
int job_send_acknowledged(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes);

/* Sends to many ranks, once to each; this rank may be among them. Each host gets the data once. */
int job_send_many(int channel, const int32_t *ranks, int32_t count, int32_t type, const void *data,
                  uint64_t bytes);
/* Sends to all other ranks. */
int job_send_others(int channel, int32_t type, const void *data, uint64_t bytes);
/* Sends to the ranks `first` to `end` - 1 except this one. */
int job_send_range(int channel, int32_t first, int32_t end, int32_t type, const void *data, uint64_t bytes);

struct job_message {
    int32_t source;  /* rank */
    int32_t type;
    uint64_t bytes;
    void *own;                  /* of this file: bytes of a message to oneself, alone */
    struct neopvm_received raw; /* of this file */
};

#define JOB_TYPES 0x80000000u

/* The messages that a receive or a probe accepts. */
struct job_select {
    int32_t channel;
    int32_t rank;  /* or JOB_ANY */
    int32_t type;  /* or JOB_ANY */
    /* If it is not 0: JOB_TYPES and a bit for each accepted type of 0 to 30; `type` is JOB_ANY.
     * The core cannot select by such a set: messages of other types go to a queue of this file,
     * which later receives search first. */
    uint32_t types;
};

/* Takes the first message that fits, and waits up to limit_ns (negative: for ever; 0: not at
 * all). JOB_OK: `message` must be given to job_put or job_free once. JOB_NONE: no message came.
 * JOB_BAD_RANK. An acknowledgement for the sender is sent here. Asynchronous receives that were
 * posted earlier and fit come first. */
int job_take(const struct job_select *select, int64_t limit_ns, struct job_message *message);

/* Copies the bytes of a taken message to `data` and frees it. JOB_TOO_LONG: nothing is copied, and it is freed. */
int job_put(struct job_message *message, void *data, uint64_t room);
/* The address of the bytes, until job_free. Null only if the sender died before the message was
 * whole. */
const void *job_bytes(struct job_message *message);
void job_free(struct job_message *message);

/* job_take for ever and job_put; `message` (not null) tells source, type and bytes, and is freed. */
int job_receive(int32_t channel, int32_t rank, int32_t type, void *data, uint64_t room,
                struct job_message *message);

/* Describes the first message that fits, and leaves it: JOB_OK or JOB_NONE. `message` must not
 * be freed. */
int job_probe(const struct job_select *select, struct job_message *message);
/* Like job_probe, but waits. */
int job_await(const struct job_select *select, int64_t limit_ns, struct job_message *message);

/* ---- Asynchronous receives ---- */

typedef int32_t job_handle; /* above 0 */

/* Posts a receive into `data`. A message that fits several posted receives goes to the earliest. */
int job_post(const struct job_select *select, void *data, uint64_t room, job_handle *handle);
/* Makes a handle that is done at once, for asynchronous sends, whose data are copied. */
int job_post_done(const struct job_message *message, job_handle *handle);
/* JOB_OK: done, `message` describes what came, and the handle is spent. JOB_NONE: not done.
 * JOB_TOO_LONG: done, but nothing was copied, and the handle is spent. */
int job_test(job_handle handle, struct job_message *message);
int job_wait(job_handle handle, int64_t limit_ns, struct job_message *message);
/* Like job_test for the first handle that is done. JOB_BAD_HANDLE: there is none. */
int job_wait_any(int64_t limit_ns, job_handle *handle, struct job_message *message);
/* Cancels a receive; the handle is spent. A message that has come for it is lost; one that comes
 * later goes to others. */
int job_cancel(job_handle handle);

/* ---- Handlers: called by a thread of their own while the program computes ---- */

typedef void (*job_handler)(const struct job_message *message, void *with);

/* Posts one receive with a handler. When a message that fits has been received into `data`,
 * `handler` is called with it. One thread calls all handlers, one at a time. A handler may use
 * all calls of this file. If the message is longer than `room`, message->bytes is above room,
 * and data is unchanged. If data is null, the handler gets the message unread, and calls job_put
 * or job_free itself (on a copy of the struct). */
int job_on_message(const struct job_select *select, void *data, uint64_t room, job_handler handler, void *with);
/* Lets the handler thread call this handler soon (hsend: done at once, but reported by a
 * handler). */
int job_call_soon(job_handler handler, const struct job_message *message, void *with);
/* 1: no handler begins until the mask is 0 again; the call returns when none runs (in a handler:
 * when that handler returns). Returns the old value. */
int job_mask(int on);

/* ---- Calls of all ranks: every rank makes them in the same order. They use trees of messages
 * in JOB_OWN; barriers of one host's ranks use the memory of a group of the machine. JOB_ENDED
 * follows, some seconds later, if a rank has ended without its part of the call ---- */

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

/* For an operation that only reads `from`, which may then be inside a message. */
int job_reduce_reading(void *data, uint64_t count, uint64_t item_bytes, job_combine combine, void *with);

/* Collects the bytes of all ranks, in the order of ranks, on all of them. sizes (null, or
 * job_size of them) gets the bytes of each. JOB_TOO_LONG if they are more than room: nothing is
 * written then, and all ranks with too little room get this result. */
int job_collect(const void *mine, uint64_t bytes, void *all, uint64_t room, uint64_t *sizes, uint64_t *total);

enum job_item { JOB_INT, JOB_LONG, JOB_FLOAT, JOB_DOUBLE };
enum job_operation {
    JOB_SUM, JOB_PRODUCT, JOB_MAX, JOB_MIN, JOB_ABSMAX, JOB_ABSMIN,
    JOB_BIT_AND, JOB_BIT_OR, JOB_BIT_XOR, JOB_AND, JOB_OR /* integers only */
};
/* Null if the operation does not exist for this type. */
job_combine job_combining(enum job_item item, enum job_operation operation);
uint64_t job_item_bytes(enum job_item item);

/* ---- The job's counter ---- */

/* The next value, beginning with 0, for the rank that asks: on one host one instruction. */
int job_counter_next(int64_t *value);
/* Waits until this many ranks have called it, and sets the counter to 0. JOB_ENDED, some seconds
 * later, if fewer are alive. */
int job_counter_meet(int32_t count);

/* ---- Odds and ends ---- */

/* A number of ranks from a user's text: 1 to 16384, or -1 for anything else. */
int32_t job_count(const char *text);

/* Gives the core to other threads. 0: they had it for long, as programs that compute do; then a
 * sleep is better than a further yield. */
int job_yield(void);
double job_seconds(void);        /* of a clock that never goes back */
double job_cpu_seconds(void);    /* this process has used */
/* A Fortran text of a hidden length: without the blanks behind, ended with 0, cut at room - 1. Returns `room_text`. */
char *job_fortran_text(const char *text, size_t length, char *room_text, size_t room);

#endif /* NEOPVM_JOB_H */
