/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A component that leaves and goes on as a task of PVM 3 gets no messages any more, and its number is free. */
#include <sys/wait.h>
#include <neopvm.h>
#include <pvmuser.h>
#include "check.h"

static int leaver(int told, int go_on)
{
    int32_t tid, parent;
    char byte = 0;

    CHECK_IS(neopvm_enrol(&tid, &parent), 0);
    CHECK_IS(enroll("leaver"), 0);
    CHECK(write(told, &byte, 1) == 1);
    CHECK_IS(rcv(1), 1);
    CHECK_IS(leave(), PvmOk);
    CHECK(write(told, &byte, 1) == 1);
    CHECK(read(go_on, &byte, 1) == 0);
    return neopvm_leave();
}

int main(void)
{
    int told[2], go_on[2], end;
    char byte;

    CHECK(pipe(told) == 0 && pipe(go_on) == 0);
    if (fork() == 0) {
        close(go_on[1]);
        exit(leaver(told[1], go_on[0]));
    }
    CHECK_IS(enroll("asker"), 0);
    CHECK(read(told[0], &byte, 1) == 1);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("leaver", 0, 1), PvmOk);
    CHECK(read(told[0], &byte, 1) == 1);
    CHECK_IS(initsend(), PvmOk);
    CHECK_SOON(snd("leaver", 0, 2) == PvmNoComp);
    CHECK_IS(status("leaver", -1), 0);
    close(go_on[1]);
    CHECK(wait(&end) > 0);
    CHECK_IS(end, 0);
    return leave();
}
