/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* posybl_worker ITERATIONS: the worker of the report's POSYBL. */
#include <posybl.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int iters, len, *buffer;

    out(lstring("Worker alive?"), lint(TRUE));
    for (iters = argc > 1 ? atoi(argv[1]) : 0; iters-- > 0;) {
        in(lstring("ping"), qlnint(&buffer, &len));
        out(lstring("pong"), lnint(buffer, len));
        free(buffer);
    }
    return 0;
}
