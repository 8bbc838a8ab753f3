/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The last that a node does is to send much to another host: its leave must not come behind the news of its end. */
#include "check.h"
#include "tcgmsg.h"
#include <string.h>

enum { BYTES = 96 << 20 };

int main(int argc, char **argv)
{
    long got, from;
    tcg_pbegin(argc, argv);
    char *data = malloc(BYTES);
    memset(data, 5, BYTES);
    if (tcg_nodeid() == 1)
        tcg_snd(3, data, BYTES, 0, 1);
    if (tcg_nodeid() == 0) {
        tcg_rcv(3, data, BYTES, &got, 1, &from, 1);
        CHECK(got == BYTES && data[BYTES - 1] == 5);
        puts("ok");
    }
    free(data);
    tcg_pend();
    return 0;
}
