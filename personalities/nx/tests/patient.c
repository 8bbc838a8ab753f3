/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A host program that waits for nodes, which are this program, too, and take two seconds: `patient NODE-PROGRAM`. */
#include "check.h"
#include "nx.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        CHECK(mynode() >= 0);
        sleep(2);
        return 0;
    }
    getcube("cube", "2", "", 0);
    double begin = dclock();
    load(argv[1], -1, 0);
    printf("waiting\n");
    fflush(stdout);
    waitall(-1, 0);
    CHECK(dclock() - begin > 1.5);
    printf("ok\n");
    return 0;
}
