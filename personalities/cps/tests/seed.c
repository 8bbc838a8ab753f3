/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* flags: -std=gnu89 -fcommon */
/* seed PGM: a round trip between two processes in the way in which CPS programs were written: K&R, all by address. */
#include <stdio.h>
#include <stdlib.h>

#include "cps.h"

int (*stop_funcs[])() = {acp_stop_process, acp_stop_job};
int buffer_no[] = {1, 2};
int buffer[1000];

static void give(pgm, size)
int pgm, size;
{
    int p1, p3, p4, p5;
    p1 = buffer_no[1 - pgm];
    p3 = size;
    p4 = buffer_no[1 - pgm];
    p5 = 0;
    acp_send(&p1, buffer, &p3, &p4, &p5);
}

static void get(pgm)
int pgm;
{
    int p1, p2;
    p1 = 1;
    p2 = buffer_no[pgm];
    acp_wait_for_data(&p1, &p2);
}

int main(argc, argv)
int argc;
char **argv;
{
    int p1, p2, pgm, i;
    pgm = atoi(argv[1]);
    acp_init();
    p1 = sizeof buffer;
    p2 = buffer_no[pgm];
    acp_declare_block(buffer, &p1, &p2);
    p1 = ACP_ALL_PROCESSES;
    p2 = 3;
    acp_sync(&p1, &p2);
    for (i = 0; i < 100; i++) {
        if (pgm == 0) {
            buffer[999] = i;
            give(pgm, (int)sizeof buffer);
            get(pgm);
            if (buffer[999] != i + 1)
                exit(1);
        } else {
            get(pgm);
            buffer[999]++;
            give(pgm, (int)sizeof buffer);
        }
    }
    if (pgm == 0)
        printf("ok 100 round trips\n");
    fflush(stdout);
    p1 = ACP_ALL_PROCESSES;
    p2 = 4;
    acp_sync(&p1, &p2);
    p1 = 0;
    acp_sleep(&p1);
    stop_funcs[pgm]();
    return 0;
}
