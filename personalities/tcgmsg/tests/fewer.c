/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A barrier of NXTVAL for more nodes than are left: the one that came waited for ever. */
#include "check.h"
#include <sndrcv.h>

int main(int argc, char **argv)
{
    long two = -2;
    PBEGIN_(argc, argv);
    if (NODEID_() == 0)
        NXTVAL_(&two);
    PEND_();
    printf("NXTVAL(-2) has returned on node %ld\n", (long)NODEID_());
    return 0;
}
