/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* C-Linda: each part is a tuple that a process of eval becomes. */
#include <stdio.h>
#include "pi.h"

int real_main(int argc, char **argv)
{
    int i, processes = 4;
    double part, total = 0;

    (void)argc;
    (void)argv;
    for (i = 0; i < processes; i++)
        eval("part", strips_of(i, processes));
    for (i = 0; i < processes; i++) {
        in("part", ?part);
        total += part;
    }
    printf("C-Linda: pi is %.8f by %d processes\n", total, processes);
    return 0;
}
