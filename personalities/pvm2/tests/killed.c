/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * killed [TIMES]: a component is killed at some moment while it sends, receives, waits at a barrier, enrolls or leaves.
 * The others are told by snd and barrier, none hangs, and the next one to enroll gets the dead one's number.
 */
#include <signal.h>
#include <sys/wait.h>
#include <pvmuser.h>
#include "check.h"

enum { ECHO = 1 };

/* Enrolls, meets the other at a barrier, echoes, and leaves, again and again until it is killed. */
static int victim(void)
{
    for (;;) {
        int turn;

        CHECK_IS(enroll("victim"), 0);
        for (turn = 0; turn < 40; turn++) {
            if (probe(ECHO) != ECHO)
                continue;
            CHECK_IS(rcv(ECHO), ECHO);
            initsend();
            if (snd("witness", 0, ECHO) == PvmOk)
                barrier("both", 2);
        }
        CHECK_IS(leave(), PvmOk);
    }
}

/* Talks with it until it is gone. */
static void watch(pid_t child, int patience)
{
    int code = PvmOk, sent = 0;

    while (code == PvmOk || code == PvmNoComp) {
        initsend();
        code = snd("victim", 0, ECHO);
        sent += code == PvmOk;
        if (probe(ECHO) == ECHO && rcv(ECHO) == ECHO)
            code = barrier("both", 2);
        if (patience-- == 0)
            CHECK(kill(child, SIGKILL) == 0);
        if (patience < 0 && status("victim", 0) == 0 && waitpid(child, NULL, WNOHANG) != 0)
            break;
    }
    CHECK(code == PvmOk || code == PvmNoComp);
    CHECK(sent > 0 || patience < 0);
    CHECK_SOON(status("victim", -1) == 0);
    initsend();
    CHECK_IS(snd("victim", 0, ECHO), PvmNoComp);
    while (probe(-1) >= 0)
        CHECK_IS(rcv(-1), ECHO);
}

int main(int argc, char **argv)
{
    int turn, times = argc > 1 ? atoi(argv[1]) : 20;

    for (turn = 0; turn < times; turn++) {
        pid_t child = fork();

        if (child == 0)
            exit(victim());
        CHECK_IS(enroll("witness"), 0);
        watch(child, turn * 37 % 400);
        CHECK_IS(leave(), PvmOk);
    }
    return 0;
}
