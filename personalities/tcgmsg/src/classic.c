/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The classic spelling of C: upper case with an underscore, longs by address. */
#include "calls.h"

#include "sndrcv.h"
#include <stdlib.h>

EXPORTED void PBEGIN_(int argc, char **argv)
{
    (void)argc, (void)argv;
    call_begin("PBEGIN_");
}

EXPORTED void PBEGINF_(void)
{
    call_begin("PBEGINF_");
}

EXPORTED void PBGINF_(void)
{
    call_begin("PBGINF_");
}

EXPORTED void PEND_(void)
{
    call_end();
}

EXPORTED long NNODES_(void)
{
    return call_nnodes();
}

EXPORTED long NODEID_(void)
{
    return call_nodeid();
}

EXPORTED long TCGREADY_(void)
{
    return call_ready();
}

EXPORTED void Error(char *text, long code)
{
    call_error(text, code);
}

EXPORTED void ERROR_(char *text, long *code)
{
    call_error(text, *code);
}

EXPORTED void PARERR_(long *code)
{
    call_parerr(*code);
}

EXPORTED void SND_(long *type, void *data, long *bytes, long *node, long *sync)
{
    call_snd(*type, data, *bytes, *node, *sync);
}

EXPORTED void RCV_(long *type, void *data, long *room, long *length, long *node, long *from, long *sync)
{
    call_rcv(*type, data, *room, length, *node, from, *sync);
}

EXPORTED long PROBE_(long *type, long *node)
{
    return call_probe(*type, *node);
}

EXPORTED void WAITCOM_(long *node)
{
    (void)node;
    call_waitcom();
}

EXPORTED void BRDCST_(long *type, void *data, long *bytes, long *root)
{
    call_brdcst(*type, data, *bytes, *root);
}

EXPORTED void SYNCH_(long *type)
{
    call_synch(*type);
}

EXPORTED void DGOP_(long *type, double *x, long *count, char *operation)
{
    call_gop("DGOP", *type, JOB_DOUBLE, x, *count, operation);
}

EXPORTED void IGOP_(long *type, long *x, long *count, char *operation)
{
    call_gop("IGOP", *type, JOB_LONG, x, *count, operation);
}

EXPORTED long NXTVAL_(long *mproc)
{
    return call_nxtval(*mproc);
}

EXPORTED void PFILECOPY_(long *type, long *node, char *file)
{
    call_pfcopy(*type, *node, file);
}

EXPORTED long MTIME_(void)
{
    return call_mtime();
}

EXPORTED double TCGTIME_(void)
{
    return call_time();
}

EXPORTED void STATS_(void)
{
    call_stats();
}

EXPORTED void LLOG_(void)
{
    call_llog();
}

EXPORTED void SETDBG_(long *on)
{
    call_setdbg(*on);
}

EXPORTED void NICEFTN_(long *increment)
{
    call_nice(*increment);
}

EXPORTED long MITOB_(long *count)
{
    return call_to_bytes("MITOB", *count, sizeof(long));
}

EXPORTED long MDTOB_(long *count)
{
    return call_to_bytes("MDTOB", *count, sizeof(double));
}

EXPORTED long MITOD_(long *count)
{
    return call_fits("MITOD", *count, sizeof(long), sizeof(double));
}

EXPORTED long MDTOI_(long *count)
{
    return call_fits("MDTOI", *count, sizeof(double), sizeof(long));
}

EXPORTED double DRAND48_(void)
{
    return drand48();
}

EXPORTED void SRAND48_(long *seed)
{
    srand48(*seed);
}

EXPORTED void EVON_(void)
{
}

EXPORTED void EVOFF_(void)
{
}

EXPORTED void EVBGIN_(char *text)
{
    (void)text;
}

EXPORTED void EVEND_(char *text)
{
    (void)text;
}

EXPORTED void EVENT_(char *text)
{
    (void)text;
}

EXPORTED void evlog(int key, ...)
{
    (void)key;
}
