/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The spelling of Global Arrays: tcg_ and values. */
#include "calls.h"

#include "tcgmsg.h"
#include <stdlib.h>

EXPORTED void tcg_pbegin(int argc, char **argv)
{
    (void)argc, (void)argv;
    call_begin("tcg_pbegin");
}

EXPORTED void tcg_alt_pbegin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    call_begin("tcg_alt_pbegin");
}

EXPORTED void tcg_pbeginf(void)
{
    call_begin("tcg_pbeginf");
}

EXPORTED void tcg_pbginf(void)
{
    call_begin("tcg_pbginf");
}

EXPORTED void tcg_pend(void)
{
    call_end();
}

EXPORTED long tcg_nnodes(void)
{
    return call_nnodes();
}

EXPORTED long tcg_nodeid(void)
{
    return call_nodeid();
}

EXPORTED long tcg_ready(void)
{
    return call_ready();
}

EXPORTED void tcg_error(char *text, long code)
{
    call_error(text, code);
}

EXPORTED void tcg_parerr(long code)
{
    call_parerr(code);
}

EXPORTED void tcg_snd(long type, void *data, long bytes, long node, long sync)
{
    call_snd(type, data, bytes, node, sync);
}

EXPORTED void tcg_rcv(long type, void *data, long room, long *length, long node, long *from, long sync)
{
    call_rcv(type, data, room, length, node, from, sync);
}

EXPORTED long tcg_probe(long type, long node)
{
    return call_probe(type, node);
}

EXPORTED void tcg_waitcom(long node)
{
    (void)node;
    call_waitcom();
}

EXPORTED void tcg_brdcst(long type, void *data, long bytes, long root)
{
    call_brdcst(type, data, bytes, root);
}

EXPORTED void tcg_synch(long type)
{
    call_synch(type);
}

EXPORTED void tcg_dgop(long type, double *x, long count, char *operation)
{
    call_gop("DGOP", type, JOB_DOUBLE, x, count, operation);
}

EXPORTED void tcg_igop(long type, long *x, long count, char *operation)
{
    call_gop("IGOP", type, JOB_LONG, x, count, operation);
}

EXPORTED long tcg_nxtval(long mproc)
{
    return call_nxtval(mproc);
}

EXPORTED void tcg_pfcopy(long type, long node, char *file)
{
    call_pfcopy(type, node, file);
}

EXPORTED long tcg_mtime(void)
{
    return call_mtime();
}

EXPORTED double tcg_time(void)
{
    return call_time();
}

EXPORTED void tcg_stats(void)
{
    call_stats();
}

EXPORTED void tcg_llog(void)
{
    call_llog();
}

EXPORTED void tcg_setdbg(long on)
{
    call_setdbg(on);
}

EXPORTED void tcg_niceftn(long increment)
{
    call_nice(increment);
}

EXPORTED long tcg_mitob(long count)
{
    return call_to_bytes("MITOB", count, sizeof(long));
}

EXPORTED long tcg_mdtob(long count)
{
    return call_to_bytes("MDTOB", count, sizeof(double));
}

EXPORTED long tcg_mitod(long count)
{
    return call_fits("MITOD", count, sizeof(long), sizeof(double));
}

EXPORTED long tcg_mdtoi(long count)
{
    return call_fits("MDTOI", count, sizeof(double), sizeof(long));
}

EXPORTED double tcg_drand48(void)
{
    return drand48();
}

EXPORTED void tcg_srand48(long seed)
{
    srand48(seed);
}
