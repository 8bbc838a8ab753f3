/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PVM 2.4: a component that starts three more of its kind, which send it their parts. */
#include <pvmuser.h>
#include <stdio.h>
#include <string.h>
#include "pi.h"

enum { COMPONENTS = 4, PART = 1 };

int main(int argc, char **argv)
{
    char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    int i, me = enroll(name);
    double part, total;

    (void)argc;
    if (me < 0)
        return 1;
    for (i = 1; me == 0 && i < COMPONENTS; i++) {
        if (initiate(argv[0], NULL) < 0)
            return 1;
    }
    total = strips_of(me, COMPONENTS);
    if (me == 0) {
        for (i = 1; i < COMPONENTS; i++) {
            rcv(PART);
            getndfloat(&part, 1);
            total += part;
        }
        printf("PVM 2.4: pi is %.8f by %d components\n", total, COMPONENTS);
    } else {
        initsend();
        putndfloat(&total, 1);
        snd(name, 0, PART);
    }
    /* Who leaves gives its number to the next one that starts. */
    barrier(name, COMPONENTS);
    leave();
    return 0;
}
