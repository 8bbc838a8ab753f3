/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The child of a component is none until it enrolls: its calls answered as if it were its parent, and what it sent was dropped
 * without a word. It has neither its parent's message, nor its barriers, nor its events.
 */
#include <sys/wait.h>
#include <pvmuser.h>
#include "check.h"

static void is_nobody(void)
{
    int number;

    CHECK_IS(whoami(NULL, NULL), PvmNoComp);
    CHECK_IS(snd("parent", 0, 2), PvmNoComp);
    CHECK_IS(probe(-1), PvmNoComp);
    CHECK_IS(ready("event"), PvmNoComp);
    CHECK_IS(barrier("meeting", 1), PvmNoComp);
    CHECK_IS(getnint(&number, 1), PvmNoMsg);
    CHECK_IS(putnint(&number, 1), PvmNoMsg);
    CHECK_IS(leave(), PvmNoComp);
    CHECK_IS(status("parent", 0), 1);
}

static int child(void)
{
    is_nobody();
    CHECK_IS(enroll("child"), 0);
    CHECK_IS(barrier("meeting", 1), PvmOk);
    CHECK_IS(probe(-1), PvmNoMsg);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(snd("parent", 0, 3), PvmOk);
    return leave();
}

static void give_birth(void)
{
    int end;

    if (fork() == 0)
        exit(child());
    CHECK(wait(&end) > 0);
    CHECK_IS(end, 0);
}

int main(void)
{
    char name[33], text[16];
    int number = 7, instance, types[2] = {8, 9};

    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(&number, 1), PvmOk);
    CHECK_IS(putstring("before"), PvmOk);
    CHECK_IS(enroll("parent"), 0);
    CHECK_IS(barrier("meeting", 1), PvmOk);
    CHECK_IS(snd("parent", 0, 1), PvmOk);
    CHECK_IS(snd("parent", 0, 7), PvmOk);
    CHECK_IS(snd("parent", 0, 8), PvmOk);
    CHECK_IS(rcvmulti(2, types), 8); /* the others are put aside */
    CHECK_IS(ready("event"), PvmOk);
    give_birth();
    CHECK_IS(rcv(3), 3);
    CHECK_IS(rcvinfo(NULL, NULL, name, &instance), PvmOk);
    CHECK(!strcmp(name, "child") && instance == 0);
    CHECK_IS(waituntil("event"), PvmOk);
    CHECK_IS(rcv(1), 1);
    CHECK(getnint(&number, 1) == PvmOk && number == 7);
    CHECK(getstring(text) == PvmOk && !strcmp(text, "before"));
    CHECK_IS(snd("parent", 0, 4), PvmOk); /* the message that was sent before is still there */
    CHECK_IS(rcv(4), 4);
    CHECK_IS(leave(), PvmOk);
    return 0;
}
