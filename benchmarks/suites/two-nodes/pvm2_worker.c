/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The worker of the report's PVM 2.4.1. It enrolls under the name of its file, as PVM 2's programs must. */
#include <pvmuser.h>
#include <stdlib.h>
#include <string.h>
#include "../measure.h"
#include "pvm2.h"

static void fill(char *buffer, int size)
{
    must(initsend(), "initsend");
    must(putbytes(buffer, size), "putbytes");
}

static void pong(const struct plan *plan, char *buffer, int size)
{
    int iters;

    if (!plan->packed)
        fill(buffer, size);
    for (iters = plan->iterations; iters-- > 0;) {
        must(plan->direct ? vrcv(MSGTYPE) : rcv(MSGTYPE), "rcv");
        if (plan->packed) {
            must(getbytes(buffer, size), "getbytes");
            fill(buffer, size);
        }
        must(plan->direct ? vsnd("pvm_time", 0, MSGTYPE) : snd("pvm_time", 0, MSGTYPE), "snd");
    }
}

int main(int argc, char **argv)
{
    char *name = strrchr(argv[0], '/');
    struct plan plan;
    int size;

    (void)argc;
    must(enroll(name ? name + 1 : argv[0]), "enroll");
    for (;;) {
        int *buffer;

        must(rcv(MSGTYPE), "rcv");
        must(getbytes((char *)&plan, sizeof plan), "getbytes");
        must(getnint(&size, 1), "getnint");
        if (plan.iterations == 0)
            return leave() != PvmOk;
        buffer = measure_filled(size);
        must(ready("synchcalled"), "ready");
        pong(&plan, (char *)buffer, size);
        free(buffer);
    }
}
