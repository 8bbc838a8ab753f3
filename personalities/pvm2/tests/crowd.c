/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * crowd [COUNT], or crowd COUNT spread as each of COUNT tasks that somebody else has started: COUNT programs enrolled by hand at the same moment. Each has a number of its own below COUNT; they meet
 * at barriers, tell one another who they are, and wait for events that were made ready before and after.
 */
#include <sys/wait.h>
#include <pvmuser.h>
#include "check.h"

static void meet(int me, int count)
{
    char name[33];
    int i, told, instance, sum = 0;

    CHECK_IS(barrier("all are here", count), PvmOk);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(&me, 1), PvmOk);
    CHECK_IS(snd("crowd", -1, 1), PvmOk);
    for (i = 0; i < count - 1; i++) {
        CHECK_IS(rcv(1), 1);
        CHECK_IS(rcvinfo(NULL, NULL, name, &instance), PvmOk);
        CHECK_IS(getnint(&told, 1), PvmOk);
        CHECK(!strcmp(name, "crowd") && told == instance && told != me);
        sum += told;
    }
    CHECK_IS(sum + me, count * (count - 1) / 2);
}

/* Instance 0 makes it ready once for each turn, and all others wait for each. */
static void wait_for_events(int me, int count)
{
    int turn;

    for (turn = 0; turn < 3; turn++) {
        if (me == 0)
            CHECK_IS(ready("turn"), PvmOk);
        CHECK_IS(waituntil("turn"), PvmOk);
    }
    if (me != 0)
        CHECK_IS(ready("done"), PvmOk);
    else
        for (turn = 1; turn < count; turn++)
            CHECK_IS(waituntil("done"), PvmOk);
    CHECK_IS(barrier("all have done", count), PvmOk);
}

static int one(int start, int count)
{
    char byte;
    int me;

    if (start >= 0)
        CHECK(read(start, &byte, 1) == 0); /* until the starter closes it */
    me = enroll("crowd");
    CHECK(me >= 0 && me < count);
    meet(me, count);
    wait_for_events(me, count);
    CHECK_IS(leave(), PvmOk);
    return 0;
}

int main(int argc, char **argv)
{
    int i, status_of, count = argc > 1 ? atoi(argv[1]) : 12, start[2], failed = 0;

    if (argc > 2)
        return one(-1, count);
    CHECK(pipe(start) == 0);
    for (i = 0; i < count; i++) {
        if (fork() == 0) {
            close(start[1]);
            exit(one(start[0], count));
        }
    }
    close(start[1]);
    while (wait(&status_of) > 0)
        failed += status_of != 0;
    CHECK_IS(failed, 0);
    return 0;
}
