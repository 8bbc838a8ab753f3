/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A component that comes late finds every event that was made ready before, once for each call, from however many; and
 * none any more of a component that has left.
 */
#include <sys/wait.h>
#include <pvmuser.h>
#include "check.h"

enum { EARLY = 70 };

static int early(int ready_to_go, int go_on)
{
    char byte = 0;

    CHECK(enroll("early") >= 0);
    CHECK_IS(ready("event"), PvmOk);
    CHECK_IS(ready("event"), PvmOk);
    CHECK(write(ready_to_go, &byte, 1) == 1);
    CHECK(read(go_on, &byte, 1) == 0);
    return leave();
}

int main(void)
{
    int i, end, failed = 0, there[2], go_on[2];
    char byte;

    CHECK(pipe(there) == 0 && pipe(go_on) == 0);
    for (i = 0; i < EARLY; i++) {
        if (fork() == 0) {
            close(go_on[1]);
            exit(early(there[1], go_on[0]));
        }
    }
    for (i = 0; i < EARLY; i++)
        CHECK(read(there[0], &byte, 1) == 1);
    CHECK_IS(enroll("late"), 0);
    for (i = 0; i < 2 * EARLY; i++)
        CHECK_IS(waituntil("event"), PvmOk);
    close(go_on[1]);
    while (wait(&end) > 0)
        failed += end != 0;
    CHECK_IS(failed, 0);
    CHECK_IS(leave(), PvmOk);
    CHECK_IS(enroll("next run"), 0);
    CHECK_IS(ready("event"), PvmOk); /* or the next line would wait for ever */
    CHECK_IS(waituntil("event"), PvmOk);
    CHECK_IS(leave(), PvmOk);
    return 0;
}
