/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* MPL: task 0 receives the parts from whoever is ready. */
#include <mpl.h>
#include <stdio.h>
#include "pi.h"

int main(void)
{
    int tasks, me, i, from, type;
    double part, total;
    size_t bytes;

    mpc_environ(&tasks, &me);
    total = strips_of(me, tasks);
    if (me != 0)
        return mpc_bsend(&total, sizeof total, 0, 1) != 0;
    for (i = 1; i < tasks; i++) {
        from = DONTCARE;
        type = 1;
        mpc_brecv(&part, sizeof part, &from, &type, &bytes);
        total += part;
    }
    printf("MPL: pi is %.8f by %d tasks\n", total, tasks);
    return 0;
}
