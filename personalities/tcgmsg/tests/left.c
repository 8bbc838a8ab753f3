/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A node that leaves the machine by pvm_exit is told at its next call; all waited for ever. */
#include "check.h"
#include <pvm3.h>
#include <sndrcv.h>

int main(int argc, char **argv)
{
    long type = 1;
    PBEGIN_(argc, argv);
    SYNCH_(&type);
    if (NODEID_() == NNODES_() - 1)
        pvm_exit();
    SYNCH_(&type);
    PEND_();
    printf("ok\n");
    return 0;
}
