/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each number of NXTVAL is had once, also by some of the nodes that begin anew without the others: `counter [EACH]`. */
#include "check.h"
#include "tcgmsg.h"

int main(int argc, char **argv)
{
    enum { EACH = 1000 };
    int each = argc > 1 ? atoi(argv[1]) : EACH;
    tcg_pbegin(argc, argv);
    long me = tcg_nodeid(), all = tcg_nnodes(), last = -1;
    static long had[EACH * 16];
    for (int round = 0; round < 3; round++) {
        for (int at = 0; at < each; at++) {
            long value = tcg_nxtval(all);
            CHECK(value > last && value < each * all);
            last = value;
            had[value]++;
        }
        tcg_nxtval(-all);
        last = -1;
    }
    tcg_igop(1, had, each * all, "+");
    for (long at = 0; at < each * all; at++)
        CHECK(had[at] == 3);
    /* The last node takes no part. */
    for (int round = 0; round < 20 && me < all - 1; round++)
        tcg_nxtval(-(all - 1));
    tcg_synch(2);
    if (me == 0)
        CHECK(tcg_nxtval(1) == 0);
    tcg_synch(3);
    if (me == 0)
        printf("ok\n");
    tcg_pend();
    return 0;
}
