/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * p4.h - the p4 interface on a NeoPVM machine (neopvm-p4(7)).
 *
 * For C since 1989, C++, and callers without prototypes. Functions that the program hands over are declared without
 * their arguments, so that old definitions of either kind fit. A call answers 0 or -1 unless said.
 */
#ifndef P4_INCLUDED
#define P4_INCLUDED

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P4VOID void
#define P4BOOL int
#ifndef TRUE
#define TRUE 1
#define FALSE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define P4_FUNCTION(result, name, arguments) result (*name) arguments
#else
#define P4_FUNCTION(result, name, arguments) result (*name)()
#endif

/* ---- Start and end ---- */

/* The first call; removes p4's own arguments (-p4...) from the list. */
int p4_initenv(int *argc, char **argv);
/* Reads the procgroup file and starts the processes that it names; does nothing in those. */
int p4_create_procgroup(void);
/* The last call of each process. */
int p4_wait_for_end(void);

/* The same as p4_create_procgroup with a table that the program fills: entry 0 are the processes beside the master. */
#define P4_MAX_PROCGROUP_ENTRIES 1024
struct p4_procgroup_entry {
    int numslaves_in_group;
    int rm_rank;
    char host_name[64];
    char slave_full_pathname[256];
    char username[10];
};
struct p4_procgroup {
    int num_entries;
    struct p4_procgroup_entry entries[P4_MAX_PROCGROUP_ENTRIES];
};
struct p4_procgroup *p4_alloc_procgroup(void);
int p4_startup(struct p4_procgroup *group);

/* Makes one more process of this cluster: it runs `fn`, and has no id (-1) and no messages. */
int p4_create(P4_FUNCTION(int, fn, (void)));

int p4_get_my_id(void);
int p4_num_total_ids(void);
int p4_num_total_slaves(void);

/* ---- Clusters: processes that share memory ---- */

int p4_get_my_cluster_id(void);
int p4_num_cluster_ids(void);
P4BOOL p4_am_i_cluster_master(void);
P4VOID p4_get_cluster_ids(int *first, int *last);
P4VOID p4_get_cluster_masters(int *count, int ids[]);
/* Gives all processes of the cluster the cluster master's pointer. */
P4VOID p4_cluster_shmem_sync(void **shared);

/* ---- Messages ---- */

#define P4NOX 0
#define P4INT 1
#define P4LNG 2
#define P4FLT 3
#define P4DBL 4

/* r: returns when the receiver has the message; x: with the data's type; b: msg is from p4_msg_alloc. */
int p4_send(int type, int to, const void *msg, int len);
int p4_sendr(int type, int to, const void *msg, int len);
int p4_sendx(int type, int to, const void *msg, int len, int data_type);
int p4_sendrx(int type, int to, const void *msg, int len, int data_type);
int p4_sendb(int type, int to, const void *msg, int len);
int p4_sendbr(int type, int to, const void *msg, int len);
int p4_sendbx(int type, int to, const void *msg, int len, int data_type);
int p4_sendbrx(int type, int to, const void *msg, int len, int data_type);

/* type and from go in (-1: any) and out; where *msg is NULL a buffer of the right length comes back. */
int p4_recv(int *type, int *from, char **msg, int *len);
int p4_rcv(int *type, int *from, char **msg, int *len);
P4BOOL p4_messages_available(int *type, int *from);
P4BOOL p4_any_messages_available(void);
int p4_waitformsg(void);

char *p4_msg_alloc(int len);
P4VOID p4_msg_free(char *msg);

/* ---- All processes ---- */

int p4_broadcast(int type, const void *data, int len);
int p4_broadcastx(int type, const void *data, int len, int data_type);
int p4_global_op(int type, void *x, int nelem, int size, P4_FUNCTION(void, op, (char *, char *, int)), int data_type);
int p4_global_barrier(int type);

P4VOID p4_int_sum_op(char *x, char *y, int nelem);
P4VOID p4_int_mult_op(char *x, char *y, int nelem);
P4VOID p4_int_max_op(char *x, char *y, int nelem);
P4VOID p4_int_min_op(char *x, char *y, int nelem);
P4VOID p4_int_absmax_op(char *x, char *y, int nelem);
P4VOID p4_int_absmin_op(char *x, char *y, int nelem);
P4VOID p4_dbl_sum_op(char *x, char *y, int nelem);
P4VOID p4_dbl_mult_op(char *x, char *y, int nelem);
P4VOID p4_dbl_max_op(char *x, char *y, int nelem);
P4VOID p4_dbl_min_op(char *x, char *y, int nelem);
P4VOID p4_dbl_absmax_op(char *x, char *y, int nelem);
P4VOID p4_dbl_absmin_op(char *x, char *y, int nelem);
P4VOID p4_flt_sum_op(char *x, char *y, int nelem);
P4VOID p4_flt_mult_op(char *x, char *y, int nelem);
P4VOID p4_flt_max_op(char *x, char *y, int nelem);
P4VOID p4_flt_min_op(char *x, char *y, int nelem);
P4VOID p4_flt_absmax_op(char *x, char *y, int nelem);
P4VOID p4_flt_absmin_op(char *x, char *y, int nelem);

/* ---- Shared memory and monitors of a cluster ---- */

char *p4_malloc(int bytes);
P4VOID p4_free(void *memory);
/* Memory at the same address in all processes of the cluster. */
char *p4_shmalloc(int bytes);
P4VOID p4_shfree(void *memory);

/* All of these are in memory of p4_shmalloc. Memory that is all 0 is ready, too; the fields are
 * the library's. */
typedef struct p4_lock_words {
    unsigned p4_word;
    unsigned p4_holder;
} p4_lock_t;
typedef struct p4_queue {
    int p4_first;
    int p4_last;
} p4_queue_t;
typedef struct p4_monitor {
    p4_lock_t p4_guard;
    int p4_owner;
    int p4_queue_count;
    p4_queue_t p4_entry;
    p4_queue_t p4_own_queues[2];
    p4_queue_t *p4_more_queues;
} p4_monitor_t;
typedef struct p4_getsub_monitor {
    p4_monitor_t m;
    long p4_next;
    int p4_over;
} p4_getsub_monitor_t;
typedef struct p4_barrier_monitor {
    p4_monitor_t m;
    int p4_arrived;
} p4_barrier_monitor_t;
typedef struct p4_askfor_monitor {
    p4_monitor_t m;
    int p4_waiting; /* for work */
    int p4_leaving; /* with the result */
    int p4_result;
    int p4_ended;
} p4_askfor_monitor_t;

P4VOID p4_lock_init(p4_lock_t *lock);
P4VOID p4_lock(p4_lock_t *lock);
P4VOID p4_unlock(p4_lock_t *lock);

P4VOID p4_moninit(p4_monitor_t *m, int queues);
P4VOID p4_menter(p4_monitor_t *m);
P4VOID p4_mexit(p4_monitor_t *m);
P4VOID p4_mdelay(p4_monitor_t *m, int queue);
/* Leaves the monitor to the first process of the queue, or, if the queue is empty, to a process
 * that waits to enter. */
P4VOID p4_mcontinue(p4_monitor_t *m, int queue);

P4VOID p4_getsub_init(p4_getsub_monitor_t *gs);
/* The next of 0, stride, 2*stride ... max; behind that each of nprocs callers gets -1 once. */
P4VOID p4_getsubs(p4_getsub_monitor_t *gs, int *s, int max, int nprocs, int stride);
P4VOID p4_getsub(p4_getsub_monitor_t *gs, int *s, int max, int nprocs);

P4VOID p4_barrier_init(p4_barrier_monitor_t *b);
P4VOID p4_barrier(p4_barrier_monitor_t *b, int nprocs);

P4VOID p4_askfor_init(p4_askfor_monitor_t *af);
/* 0: getprob found work; 1: there is none, and all nprocs ask; more: the code of p4_probend; -1:
 * p4_progend. */
int p4_askfor(p4_askfor_monitor_t *af, int nprocs, P4_FUNCTION(int, getprob, (void *)), void *problem, P4_FUNCTION(void, reset, (void)));
int p4_update(p4_askfor_monitor_t *af, P4_FUNCTION(int, putprob, (void *)), void *problem);
P4VOID p4_probend(p4_askfor_monitor_t *af, int code);
P4VOID p4_progend(p4_askfor_monitor_t *af);

/* ---- Time, output, errors ---- */

int p4_clock(void);                 /* milliseconds */
unsigned long p4_ustimer(void);     /* microseconds, up to p4_usrollover() */
unsigned long p4_usrollover(void);
double p4_usclock(void);            /* seconds */

P4VOID p4_dprintf(const char *fmt, ...);
P4VOID p4_dprintfl(int level, const char *fmt, ...);
int p4_get_dbg_level(void);
P4VOID p4_set_dbg_level(int level);

/* Ends all processes of the job. */
P4VOID p4_error(const char *what, int value);
/* 1: calls that fail return -1; 0 (the start): they end the job. Returns the old setting. */
int p4_soft_errors(int on);
/* 0: p4_error tells and returns; 1 (the start): it ends the job. Returns the old setting. */
int p4_set_hard_errors(int on);

char *p4_version(void);
char *p4_machine_type(void);
P4VOID p4_print_avail_buffs(void);
P4VOID p4_set_avail_buff(int index, int size);

/* ---- Event logs: nothing is logged ---- */

#define ALOG_TRUNCATE 0
#define ALOG_WRAP 1
#define ALOG_MASTER(id, flag)
#define ALOG_SETUP(id, flag)
#define ALOG_DEFINE(type, name, form)
#define ALOG_LOG(id, type, data, text)
#define ALOG_OUTPUT
#define ALOG_STATUS(flag)
#define ALOG_ENABLE
#define ALOG_DISABLE
#define ALOG_SETDIR(path)

#ifdef __cplusplus
}
#endif

#endif /* P4_INCLUDED */
