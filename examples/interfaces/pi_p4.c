/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* p4: the processes of one host add up in memory that they share, under a monitor, and the master waits at a barrier. */
#include <p4.h>
#include <stdio.h>
#include "pi.h"

struct shared {
    p4_monitor_t monitor;
    p4_barrier_monitor_t everybody;
    double total;
};

int main(int argc, char **argv)
{
    struct shared *shared;
    double part;

    p4_initenv(&argc, argv);
    /* What is allocated before the processes are made is at one address in all of them. */
    shared = (struct shared *)p4_shmalloc(sizeof *shared);
    p4_moninit(&shared->monitor, 0);
    p4_barrier_init(&shared->everybody);
    shared->total = 0;
    p4_create_procgroup();

    part = strips_of(p4_get_my_id(), p4_num_total_ids());
    p4_menter(&shared->monitor);
    shared->total += part;
    p4_mexit(&shared->monitor);
    p4_barrier(&shared->everybody, p4_num_total_ids());
    if (p4_get_my_id() == 0)
        printf("p4: pi is %.8f by %d processes\n", shared->total, p4_num_total_ids());
    p4_wait_for_end();
    return 0;
}
