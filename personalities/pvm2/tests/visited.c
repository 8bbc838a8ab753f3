/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A component to which a stranger sends: nothing of it is received. The stranger is this program's first argument. A program
 * that was initiated was taken for dead, and an event for ready, because a stranger said so.
 */
#include <signal.h>
#include <sys/wait.h>
#include <neopvm.h>
#include <pvmuser.h>
#include "check.h"

static void wait_a_while(int second)
{
    (void)second;
    _exit(0);
}

/* The only call of ready was forged, so waituntil waits until the alarm ends this process. */
static int waits(const char *stranger)
{
    char command[4200];
    int32_t tid, parent;

    CHECK_IS(enroll("waiter"), 0);
    CHECK_IS(neopvm_enrol(&tid, &parent), 0);
    snprintf(command, sizeof command, "%s %d", stranger, (int)tid);
    CHECK_IS(system(command), 0);
    signal(SIGALRM, wait_a_while);
    alarm(1);
    waituntil("forged");
    return 1;
}

/* The registry has it from the moment at which initiate returns; no other list does for certain. */
static int32_t task_of_instance(int instance)
{
    neopvm_buffer entry = 0;
    int32_t tid = 0;

    CHECK_IS(neopvm_get("neopvm.pvm2.component.visited", instance, 0, &entry), 0);
    CHECK_IS(neopvm_unpack(entry, NEOPVM_INT, &tid, 1, 1), 0);
    CHECK_IS(neopvm_free(entry), 0);
    CHECK(tid > 0);
    return tid;
}

static void forges_a_death(const char *stranger, int32_t me)
{
    char command[4200];

    CHECK_IS(initiate("./visited", NULL), 1); /* never enrolls */
    snprintf(command, sizeof command, "%s %d %d", stranger, (int)me, (int)task_of_instance(1));
    CHECK_IS(system(command), 0);
    CHECK_IS(terminate("nobody", 0), PvmNoComp); /* looks at what has come */
    CHECK_IS(status("visited", 1), 1);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("visited", 1, 1), PvmOk);
    CHECK_IS(terminate("visited", 1), PvmOk);
    CHECK_SOON(status("visited", 1) == 0);
}

int main(int argc, char **argv)
{
    char command[4200];
    int32_t tid, parent;
    int any[2] = {1, 2}, end;

    if (argc == 1)
        return pause();
    CHECK(argc == 2);
    if (fork() == 0)
        exit(waits(argv[1]));
    CHECK(wait(&end) > 0);
    CHECK_IS(end, 0);
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
    forges_a_death(argv[1], tid);
    CHECK_IS(ready("event"), PvmOk);
    CHECK_IS(waituntil("event"), PvmOk);
    CHECK_IS(leave(), PvmOk);
    CHECK_IS(neopvm_leave(), 0);
    return 0;
}
