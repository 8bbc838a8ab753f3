/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the three spellings of TCGMSG's calls do, by values. The spellings call these, and these call none of them. */
#ifndef NEOPVM_TCGMSG_CALLS_H
#define NEOPVM_TCGMSG_CALLS_H

#include "job.h"

/* Fortran's INTEGER in this library. */
#ifndef TCG_INTEGER
#define TCG_INTEGER long
#endif
typedef TCG_INTEGER integer;

#define EXPORTED __attribute__((visibility("default")))

/* start.c */
void call_begin(const char *call);
void call_end(void);
long call_nnodes(void);
long call_nodeid(void);
long call_ready(void);
_Noreturn void call_error(const char *text, long code);
_Noreturn void call_parerr(long code);
/* Ends the job where a result is an error; the call and the value that was wrong are told. */
void must(int status, const char *call, const char *what, long value);
void must_have_begun(const char *call);

/* message.c */
void call_snd(long type, const void *data, long bytes, long node, long sync);
/* Fills *length and *from, -1 for what is not known yet. */
void call_rcv(long type, void *data, long room, long *length, long node, long *from, long sync);
long call_probe(long type, long node);
void call_waitcom(void);

/* together.c */
void call_brdcst(long type, void *data, long bytes, long root);
void call_synch(long type);
void call_gop(const char *call, long type, enum job_item item, void *x, long count, const char *operation);
long call_nxtval(long mproc);
void call_pfcopy(long type, long node, const char *file);

/* odds.c */
extern struct tcg_counts {
    unsigned long sent, sent_bytes, received, received_bytes, together, numbers;
    double waited;
} call_counts;
extern long call_debug;
long call_mtime(void);
double call_time(void);
void call_stats(void);
void call_llog(void);
void call_setdbg(long on);
void call_nice(long increment);
long call_to_bytes(const char *call, long count, long each);
long call_fits(const char *call, long count, long from, long into);

#endif
