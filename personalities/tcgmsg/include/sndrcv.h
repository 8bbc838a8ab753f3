/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * sndrcv.h - TCGMSG in its classic C spelling, on a NeoPVM machine.
 *
 * Every argument but those of PBEGIN_, Error and texts is the address of a long. Errors end the job, with the node, the
 * call and the value. SYNC is 1 to wait (SND returns when the buffer may be used again) and 0 for a transfer that
 * WAITCOM_ completes.
 */
#ifndef NEOPVM_SNDRCV_H
#define NEOPVM_SNDRCV_H

#include "msgtypesc.h"

#ifndef NEOPVM_ARGS
#if defined(__STDC__) || defined(__cplusplus)
#define NEOPVM_ARGS(list) list
#else
#define NEOPVM_ARGS(list) ()
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Begin and end */
void PBEGIN_ NEOPVM_ARGS((int argc, char **argv));
void PBEGINF_ NEOPVM_ARGS((void));
void PBGINF_ NEOPVM_ARGS((void));
void PEND_ NEOPVM_ARGS((void));
long NNODES_ NEOPVM_ARGS((void));
long NODEID_ NEOPVM_ARGS((void));
long TCGREADY_ NEOPVM_ARGS((void));
void Error NEOPVM_ARGS((char *text, long code));
void ERROR_ NEOPVM_ARGS((char *text, long *code));
void PARERR_ NEOPVM_ARGS((long *code));

/* Messages: node -1 of RCV_ and PROBE_ is any */
void SND_ NEOPVM_ARGS((long *type, void *data, long *bytes, long *node, long *sync));
void RCV_ NEOPVM_ARGS((long *type, void *data, long *room, long *length, long *node, long *from, long *sync));
long PROBE_ NEOPVM_ARGS((long *type, long *node));
void WAITCOM_ NEOPVM_ARGS((long *node));

/* All nodes together */
void BRDCST_ NEOPVM_ARGS((long *type, void *data, long *bytes, long *root));
void SYNCH_ NEOPVM_ARGS((long *type));
void DGOP_ NEOPVM_ARGS((long *type, double *x, long *count, char *operation));
void IGOP_ NEOPVM_ARGS((long *type, long *x, long *count, char *operation));
long NXTVAL_ NEOPVM_ARGS((long *mproc));
void PFILECOPY_ NEOPVM_ARGS((long *type, long *node, char *file));

/* Clocks, statistics, sizes, random numbers */
long MTIME_ NEOPVM_ARGS((void));
double TCGTIME_ NEOPVM_ARGS((void));
void STATS_ NEOPVM_ARGS((void));
void LLOG_ NEOPVM_ARGS((void));
void SETDBG_ NEOPVM_ARGS((long *on));
void NICEFTN_ NEOPVM_ARGS((long *increment));
long MITOB_ NEOPVM_ARGS((long *count));
long MDTOB_ NEOPVM_ARGS((long *count));
long MITOD_ NEOPVM_ARGS((long *count));
long MDTOI_ NEOPVM_ARGS((long *count));
double DRAND48_ NEOPVM_ARGS((void));
void SRAND48_ NEOPVM_ARGS((long *seed));

/* Events: nothing is recorded */
void EVON_ NEOPVM_ARGS((void));
void EVOFF_ NEOPVM_ARGS((void));
void EVBGIN_ NEOPVM_ARGS((char *text));
void EVEND_ NEOPVM_ARGS((char *text));
void EVENT_ NEOPVM_ARGS((char *text));
#if defined(__STDC__) || defined(__cplusplus)
void evlog(int key, ...);
#else
void evlog();
#endif

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_SNDRCV_H */
