/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A host program by hand: `host NODE-PROGRAM SIZE`. */
#include "check.h"
#include "nx.h"

int main(int argc, char **argv)
{
    long sum = 0, value = 0, from, pid, code, nodes = argc > 2 ? atol(argv[2]) : 2;
    char size[16];
    snprintf(size, sizeof size, "%ld", nodes);
    getcube("cube", size, "", 0);
    attachcube("cube");
    setpid(100);
    load(argv[1], -1, 0);
    CHECK(numnodes() == nodes && mynode() == myhost() && myhost() == nodes);
    value = 5;
    csend(1, (char *)&value, sizeof value, -1, 0);
    for (long node = 0; node < nodes; node++) {
        crecv(2, (char *)&value, sizeof value);
        CHECK(infonode() >= 0 && infonode() < nodes && value == 5 + infonode());
        sum += value;
    }
    CHECK(sum == 5 * nodes + nodes * (nodes - 1) / 2);
    /* The last node does not end by itself. */
    killproc(nodes - 1, 0);
    waitone(-1, 0, &from, &pid, &code);
    CHECK(from >= 0 && from < nodes);
    killcube(-1, 0);
    waitall(-1, 0);
    waitcube();
    relcube("cube");
    printf("ok\n");
    return 0;
}
