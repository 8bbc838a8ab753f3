/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* PVM 2.4: `vsnd` and `vrcv`, or with OF_SND `snd` and `rcv`. */
#include <pvmuser.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "speed.h"

static char *name;

/* The first one starts the other, on SPEED_HOST where that is set. */
void enter(int argc, char **argv)
{
    (void)argc;
    name = strrchr(argv[0], '/') + 1;
    all = 2;
    me = enroll(name);
    if (me == 0 && (getenv("SPEED_HOST") ? initiateM(argv[0], getenv("SPEED_HOST")) : initiate(argv[0], NULL)) < 0)
        exit(1);
}

static void meet(void)
{
    barrier(name, all);
}

void finish(void)
{
    meet();
    leave();
}

static void send_to(int to, int bytes)
{
    initsend();
    putbytes(data, bytes);
#ifdef OF_SND
    snd(name, to, 5);
#else
    vsnd(name, to, 5);
#endif
}

static void take(int from, int bytes)
{
    (void)from;
#ifdef OF_SND
    rcv(5);
#else
    vrcv(5);
#endif
    getbytes(data, bytes);
}

const struct way own = {"own", NULL, send_to, take, meet, NULL, NULL};
#ifdef OF_SND
const char *const beside = "daemons";
#else
const char *const beside = "default default-any";
#endif

void extra(const char *what)
{
    (void)what;
}
