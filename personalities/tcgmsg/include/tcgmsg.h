/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tcgmsg.h - TCGMSG in the spelling of Global Arrays, on a NeoPVM machine. Arguments are values; see sndrcv.h for what
 * they mean.
 */
#ifndef NEOPVM_TCGMSG_H
#define NEOPVM_TCGMSG_H

#include "msgtypesc.h"

#ifdef __cplusplus
extern "C" {
#endif

void tcg_pbegin(int argc, char **argv);
void tcg_alt_pbegin(int *argc, char ***argv);
void tcg_pbeginf(void);
void tcg_pbginf(void);
void tcg_pend(void);
long tcg_nnodes(void);
long tcg_nodeid(void);
long tcg_ready(void);
void tcg_error(char *text, long code);
void tcg_parerr(long code);

void tcg_snd(long type, void *data, long bytes, long node, long sync);
void tcg_rcv(long type, void *data, long room, long *length, long node, long *from, long sync);
long tcg_probe(long type, long node);
void tcg_waitcom(long node);

void tcg_brdcst(long type, void *data, long bytes, long root);
void tcg_synch(long type);
void tcg_dgop(long type, double *x, long count, char *operation);
void tcg_igop(long type, long *x, long count, char *operation);
long tcg_nxtval(long mproc);
void tcg_pfcopy(long type, long node, char *file);

long tcg_mtime(void);
double tcg_time(void);
void tcg_stats(void);
void tcg_llog(void);
void tcg_setdbg(long on);
void tcg_niceftn(long increment);
long tcg_mitob(long count);
long tcg_mdtob(long count);
long tcg_mitod(long count);
long tcg_mdtoi(long count);
double tcg_drand48(void);
void tcg_srand48(long seed);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_TCGMSG_H */
