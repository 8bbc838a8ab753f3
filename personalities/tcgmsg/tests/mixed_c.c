/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A node in C of a job that has others in Fortran (mixed_f.f): the same calls in the same order. */
#include "check.h"
#include "sndrcv.h"

int main(int argc, char **argv)
{
    long type = 1, root = 0, size = sizeof(long), value = 0, count = 2, sync = 1, got, from;
    double x[2], y[2];
    PBEGIN_(argc, argv);
    long me = NODEID_(), all = NNODES_(), next = (me + 1) % all, previous = (me + all - 1) % all;
    if (me == 0)
        value = 4711;
    BRDCST_(&type, &value, &size, &root);
    CHECK(value == 4711);
    x[0] = (double)me, x[1] = 1;
    DGOP_(&type, x, &count, "+");
    CHECK(x[0] == (double)(all * (all - 1) / 2) && x[1] == (double)all);
    size = sizeof x;
    x[0] = 0.5 + (double)me, x[1] = -x[0];
    SND_(&type, x, &size, &next, &sync);
    RCV_(&type, y, &size, &got, &previous, &from, &sync);
    CHECK(got == size && from == previous && y[0] == 0.5 + (double)previous && y[1] == -y[0]);
    CHECK(NXTVAL_(&all) >= 0);
    SYNCH_(&type);
    if (me == 0)
        printf("ok %ld nodes\n", all);
    PEND_();
    return 0;
}
