/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* host PROGRAM N: a host program, which gives its nodes work; started by hand. `host` itself is the nodes' program. */
#include <string.h>

#include "check.h"
#include "express.h"

static void be_node(void)
{
    struct nodenv env;
    int host = HOST, type = 1, value, i, sum = 0, all = ALLNODES;
    exparam(&env);
    CHECK(env.nhost == 1 && env.procnum >= 0 && env.procnum < env.nprocs);
    CHECK(exread(&value, sizeof value, &host, &type) == sizeof value);
    value += env.procnum;
    exsync();
    CHECK(exwrite(&value, sizeof value, &all, &type) == sizeof value);
    for (i = 1; i < env.nprocs; i++) {
        int src = DONTCARE, other;
        CHECK(exread(&other, sizeof other, &src, &type) == sizeof other);
        sum += other;
    }
    sum += value;
    CHECK(exwrite(&sum, sizeof sum, &host, &type) == sizeof sum);
}

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
    printf("host of %d\n", nodes);
    CHECK(exclose(handle) == 0);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        be_host(argv[1], atoi(argv[2]));
    else
        be_node();
    return 0;
}
