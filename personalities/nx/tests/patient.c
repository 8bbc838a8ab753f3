/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * patient NODE-PROGRAM FILE: a host program that waits for two nodes. `patient FILE`: such a node, which ends when the file is
 * there.
 */
#include "check.h"
#include "nx.h"
#include <unistd.h>

static int is_there(const char *file)
{
    return access(file, F_OK) == 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2 || argc == 3);
    if (argc == 2) {
        CHECK(mynode() >= 0);
        while (!is_there(argv[1]))
            usleep(1000);
        return 0;
    }
    getcube("cube", "2", "", 0);
    load(argv[1], -1, 0);
    printf("waiting\n");
    fflush(stdout);
    waitall(-1, 0);
    CHECK(is_there(argv[2]));
    printf("ok\n");
    return 0;
}
