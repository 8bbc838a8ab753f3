/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* refused WHAT: the last node makes one wrong call, and the other ones wait (tests/refused.sh). */
#include "tcgmsg.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define IS(name) (strcmp(what, name) == 0)

static double data[8];
static long length, from, one = 1;

static void two_nodes(const char *what, long me)
{
    if (IS("self"))
        tcg_snd(1, data, 8, me, 1);
    if (IS("node"))
        tcg_snd(1, data, 8, me + 1, 1);
    if (IS("node-negative"))
        tcg_snd(1, data, 8, -1, 1);
    if (IS("type"))
        tcg_snd((long)INT_MAX + 1, data, 8, 0, 1);
    if (IS("length"))
        tcg_snd(1, data, -1, 0, 1);
    if (IS("length-most"))
        tcg_snd(1, data, LONG_MAX, 0, 1);
    if (IS("rcv-node"))
        tcg_rcv(1, data, 8, &length, me + 1, &from, 1);
    if (IS("rcv-type"))
        tcg_rcv(-1, data, 8, &length, 0, &from, 1);
    if (IS("rcv-length"))
        tcg_rcv(1, data, -8, &length, 0, &from, 1);
    if (IS("rcv-short"))
        tcg_rcv(9, data, 8, &length, -1, &from, 1);
    if (IS("probe"))
        tcg_probe(1, LONG_MIN);
    if (IS("later-short")) {
        tcg_rcv(9, data, 8, &length, 0, &from, 0);
        tcg_waitcom(-1);
    }
}

static void all_nodes(const char *what, long all)
{
    if (IS("brdcst-length"))
        tcg_brdcst(1, data, -1, 0);
    if (IS("brdcst-root"))
        tcg_brdcst(1, data, 8, all);
    if (IS("dgop-count"))
        tcg_dgop(1, data, -1, "+");
    if (IS("dgop-overflow"))
        tcg_dgop(1, data, LONG_MAX / 4, "+");
    if (IS("dgop-operation"))
        tcg_dgop(1, data, 1, "or");
    if (IS("igop-operation"))
        tcg_igop(1, &one, 1, "xor");
    if (IS("nxtval"))
        tcg_nxtval(all + 1);
    if (IS("pfcopy"))
        tcg_pfcopy(1, all, "file");
    if (IS("mdtob"))
        tcg_mdtob(LONG_MAX / 4);
    if (IS("mitod"))
        tcg_mitod(-1);
    if (IS("markup"))
        tcg_error("two\nlines \033[31m<b>", 1);
    if (IS("twice"))
        tcg_pbeginf();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long me;
    tcg_pbeginf();
    me = tcg_nodeid();
    if (me == 0 && strstr(what, "short") != NULL)
        tcg_snd(9, data, 64, 1, 1);
    if (me == tcg_nnodes() - 1) {
        two_nodes(what, me);
        all_nodes(what, me + 1);
        fprintf(stderr, "%s is not refused\n", what);
        return 98;
    }
    tcg_rcv(1, data, 8, &length, -1, &from, 1);
    return 97;
}
