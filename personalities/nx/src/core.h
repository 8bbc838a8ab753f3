/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the calls of NX do. Each gives its result, or a negative result of job.h with its reason in nx_wrong; the plain
 * spelling makes that the end of the job, and the one with an underscore -1.
 */
#ifndef NEOPVM_NX_CORE_H
#define NEOPVM_NX_CORE_H

#include "job.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void (*nx_handler)(long type, long count, long node, long pid);
typedef void (*nx_fortran_handler)(int *type, int *count, int *node, int *pid);

struct nx_info {
    long type, count, node, pid;
};

/* start.c */
extern int nx_hosted;          /* rank 0 is a host program, and nodes begin with rank 1 */
long nx_wrong(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *nx_reason(void);
long nx_enter(void);           /* waits for the table where need be */
int32_t nx_rank(long node);    /* of a node, or of the host; -1 */
long nx_node(int32_t rank);
struct nx_info *nx_last(void); /* of the message that this thread received or probed last */
void nx_note(const struct job_message *message);
long core_mynode(void);
long core_numnodes(void);
long core_myhost(void);
long core_nodedim(void);
long core_mypid(void);
long core_setpid(long pid);

/* message.c */
long nx_prepare(struct job_select *select, long typesel, long node, long room);
long core_csend(long type, const void *data, long bytes, long node, long pid);
long core_gsendx(long type, const void *data, long bytes, const long *nodes, long count);
long core_crecv(long typesel, void *data, long room);
long core_crecvx(long typesel, void *data, long room, long node, long pid, long *info);
long core_csendrecv(long type, const void *out, long bytes, long node, long pid, long typesel, void *in, long room);
long core_cprobe(long typesel);
long core_cprobex(long typesel, long node, long pid, long *info);
long core_iprobe(long typesel);
long core_iprobex(long typesel, long node, long pid, long *info);
long core_flushmsg(long typesel, long node, long pid);

/* later.c */
long core_isend(long type, const void *data, long bytes, long node, long pid);
long core_irecv(long typesel, void *data, long room);
long core_irecvx(long typesel, void *data, long room, long node, long pid, long *info);
long core_isendrecv(long type, const void *out, long bytes, long node, long pid, long typesel, void *in, long room);
long core_msgwait(long id);
long core_msgdone(long id);
long core_msgcancel(long id);
long core_msgignore(long id);
long core_msgmerge(long one, long other);
struct nx_called {
    nx_handler handler; /* one of them is null */
    nx_fortran_handler fortran;
};
long core_hrecvx(long typesel, void *data, long room, long node, struct nx_called called);
long core_hsend(long type, const void *data, long bytes, long node, long pid, struct nx_called called);
long core_hsendrecv(long type, const void *out, long bytes, long node, long pid, long typesel, void *in, long room,
                    struct nx_called called);
long core_masktrap(long state);

/* together.c */
long core_gsync(void);
long nx_combine(enum job_item item, enum job_operation operation, void *x, long count);
long core_gopf(void *x, long bytes, void *work, void (*function)(void *, void *));
long core_gcol(const void *x, long bytes, void *y, long room, long *count);
long core_gcolx(const void *x, const long *bytes, void *y);

/* host.c */
long core_getcube(const char *type);
long core_load(const char *file, long node, long pid);
long core_waitall(long node, long pid);
long core_waitone(long node, long pid, long *from, long *from_pid, long *code);
long core_killcube(long node, long pid);

#endif
