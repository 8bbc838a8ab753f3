/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CPS: each process sends its part to a place of its own in a block of process 1. */
#include <cps.h>
#include <stdio.h>
#include "pi.h"

enum { PROCESSES_MAX = 64 };

int main(void)
{
    static double parts[PROCESSES_MAX];
    int me, all, i, first = 1, everybody = ACP_ALL_PROCESSES, block = 1, meeting = 1, others, offset;
    int block_size = sizeof parts, size = sizeof parts[0];
    double part, total = 0;

    acp_init();
    acp_my_process(&me, &all);
    acp_declare_block(parts, &block_size, &block);
    acp_sync(&everybody, &meeting);
    part = strips_of(me - 1, all);
    if (me == 1) {
        others = all - 1;
        acp_wait_for_data(&others, &block);
        parts[0] = part;
        for (i = 0; i < all; i++)
            total += parts[i];
        printf("CPS: pi is %.8f by %d processes\n", total, all);
    } else {
        offset = (me - 1) * size;
        acp_send(&first, &part, &size, &block, &offset);
    }
    acp_stop_process();
    return 0;
}
