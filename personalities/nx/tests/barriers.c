/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * barriers HOW: many barriers, of which those after the twentieth meet in a group of the machine. Rank 2 leaves them in the
 * middle, killed (1) or ending with status 3 (2): all ranks that wait in one end with it, and none is told to have failed.
 */
#include <nx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int how = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 2000;

    for (int i = 0; i < count || how; i++) {
        gsync();
        if (how && mynode() == 2 && i == 100) {
            if (how == 1)
                raise(SIGKILL);
            exit(3);
        }
    }
    if (mynode() == 0)
        printf("ok\n");
    return 0;
}
