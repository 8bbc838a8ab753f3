/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A component to which a stranger sends: nothing of it is received. The stranger is this program's argument. */
#include <sys/wait.h>
#include <neopvm.h>
#include <pvmuser.h>
#include "check.h"

int main(int argc, char **argv)
{
    char command[4200];
    int32_t tid, parent;
    int any[2] = {1, 2};

    CHECK(argc == 2);
    CHECK_IS(enroll("visited"), 0);
    CHECK_IS(neopvm_enrol(&tid, &parent), 0); /* beside pvm3.h and neopvm.h in one program */
    snprintf(command, sizeof command, "%s %d", argv[1], (int)tid);
    CHECK_IS(system(command), 0);
    CHECK_IS(probe(-1), PvmNoMsg);
    CHECK_IS(probemulti(2, any), PvmNoMsg);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("visited", 0, 1), PvmOk);
    CHECK_IS(system(command), 0);
    CHECK_IS(rcv(1), 1);
    CHECK_IS(probe(-1), PvmNoMsg);
    CHECK_IS(ready("event"), PvmOk);
    CHECK_IS(waituntil("event"), PvmOk);
    CHECK_IS(leave(), PvmOk);
    CHECK_IS(neopvm_leave(), 0);
    return 0;
}
