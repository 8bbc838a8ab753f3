/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The shape of a program of its time: a master that is started by hand and a worker that it initiates, K&R C, without a
 * prototype that helps. `worker` is this program under another name.
 */
#include "pvm.h"
#include "check.h"

#define MSGTYPE 1000

static char buffer[1000000], copy[1000000];
static int sizes[] = {0, 100, 4000, 40000, 1000000};

static void turn(name, size, direct)
    char *name;
    int size, direct;
{
    initsend();
    CHECK_IS(putbytes(buffer, size), PvmOk);
    CHECK_IS(direct ? vsnd(name, 0, MSGTYPE) : snd(name, 0, MSGTYPE), PvmOk);
}

static int worker()
{
    int i, direct;

    CHECK_IS(enroll("worker"), 0);
    ready("synchcalled");
    for (direct = 0; direct < 2; direct++) {
        for (i = 0; i < 5; i++) {
            vrcv(MSGTYPE);
            CHECK_IS(getbytes(buffer, sizes[i]), PvmOk);
            turn("pvm_time", sizes[i], direct);
        }
    }
    return leave();
}

int main(argc, argv)
    int argc;
    char **argv;
{
    int i, direct;
    char *slash = strrchr(argv[0], '/');

    if (!strcmp(slash ? slash + 1 : argv[0], "worker"))
        return worker();
    for (i = 0; i < (int)sizeof buffer; i++)
        copy[i] = buffer[i] = (char)(i * 7 + (i >> 8) + argc);
    CHECK_IS(enroll("pvm_time"), 0);
    CHECK_IS(initiatem("worker", (char *)0), 0);
    waituntil("synchcalled");
    for (direct = 0; direct < 2; direct++) {
        for (i = 0; i < 5; i++) {
            turn("worker", sizes[i], direct);
            CHECK_IS(vrcv(MSGTYPE), MSGTYPE);
            memset(buffer, 0, (size_t)sizes[i]);
            CHECK_IS(getbytes(buffer, sizes[i]), PvmOk);
            CHECK(!memcmp(buffer, copy, sizeof copy));
        }
    }
    return leave();
}
