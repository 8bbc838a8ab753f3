/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * unequal sum|broadcast ODD: the ranks whose bits are set in ODD have another length than the others, and the two
 * lengths are summed in different ways. That is told and ends the job; nobody waits for ever.
 */
#include <string.h>
#include <stdlib.h>
#include <tcgmsg.h>

static double x[20000];

int main(int argc, char **argv)
{
    long count;
    tcg_pbegin(argc, argv);
    count = atoi(argv[2]) >> tcg_nodeid() & 1 ? 20000 : 100;
    if (strcmp(argv[1], "sum") == 0)
        tcg_dgop(1, x, count, "+");
    else
        tcg_brdcst(1, x, count * (long)sizeof *x, 0);
    /* Who has heard nothing wrong waits for the others here. */
    tcg_synch(2);
    tcg_pend();
    return 0;
}
