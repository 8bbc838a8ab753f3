/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* wrong WHAT: the last node does what it should not, and the others wait for ever. */
#include "sndrcv.h"
#include "tcgmsg.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long me, all;

static void sends(long type, long length, long node)
{
    static char data[64];
    tcg_snd(type, data, length, node, 1);
}

static void receives(long room)
{
    static char data[64];
    long length, from;
    tcg_rcv(9, data, room, &length, -1, &from, 1);
}

static void misbehave(const char *what)
{
    double x = 1;
    long code = 3;
    if (strcmp(what, "error") == 0)
        Error("it is wrong", 7);
    if (strcmp(what, "error2") == 0)
        ERROR_("it is wrong", &code);
    if (strcmp(what, "parerr") == 0)
        PARERR_(&code);
    if (strcmp(what, "twice") == 0)
        tcg_pbegin(0, NULL);
    if (strcmp(what, "self") == 0)
        sends(1, 8, me);
    if (strcmp(what, "node") == 0)
        sends(1, 8, all);
    if (strcmp(what, "length") == 0)
        sends(1, -1, 0);
    if (strcmp(what, "type") == 0)
        sends(-1, 8, 0);
    if (strcmp(what, "short") == 0)
        receives(8);
    if (strcmp(what, "unequal") == 0)
        tcg_brdcst(1, &x, 4, 0);
    if (strcmp(what, "nxtval") == 0)
        tcg_nxtval(0);
    if (strcmp(what, "operation") == 0)
        tcg_dgop(1, &x, 1, "xor");
    if (strcmp(what, "alone") == 0)
        receives(8);
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    exit(0);
}

int main(int argc, char **argv)
{
    double x = 1;
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "early") == 0)
        NNODES_();
    PBEGINF_();
    me = tcg_nodeid(), all = tcg_nnodes();
    if (me == 0 && strcmp(what, "short") == 0)
        sends(9, 64, all - 1);
    if (me == 0 && strcmp(what, "unequal") == 0)
        tcg_brdcst(1, &x, 8, 0);
    if (me == all - 1)
        misbehave(what);
    receives(8);
    fprintf(stderr, "nobody has ended the job\n");
    return 98;
}
