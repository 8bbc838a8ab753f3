/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* host PROGRAM N: a host program, which gives its nodes work; it is started by hand. */
#include <string.h>

#include "check.h"
#include "express.h"

static void be_host(const char *program, int nodes)
{
    int error = -1, handle = exopen("/dev/transputer", nodes, &error), type = 1, node, value, expected = 0;
    CHECK(handle > 0 && error == 0);
    CHECK(exload(handle, program, ALLNODES) == 0);
    CHECK(exstart(handle, ALLNODES) == 0);
    for (node = 0; node < nodes; node++) {
        value = 100 * node;
        expected += value + node;
        exwrite(&value, sizeof value, &node, &type);
    }
    for (node = 0; node < nodes; node++) {
        int src = DONTCARE;
        CHECK(exread(&value, sizeof value, &src, &type) == sizeof value);
        CHECK(value == expected);
    }
    printf("ok host of %d\n", nodes);
    CHECK(exclose(handle) == 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    be_host(argv[1], atoi(argv[2]));
    return 0;
}
