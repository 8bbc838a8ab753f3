/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* watched FILE: node 0 of TCGMSG waits until FILE is there, and all others wait for node 0. */
#include <stdio.h>
#include <tcgmsg.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long word = 0;
    tcg_pbegin(argc, argv);
    while (tcg_nodeid() == 0 && access(argv[1], F_OK) != 0)
        usleep(1000);
    tcg_brdcst(1, &word, sizeof word, 0);
    if (tcg_nodeid() == 0)
        printf("ok\n");
    tcg_pend();
    return 0;
}
