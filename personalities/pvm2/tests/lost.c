/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * lost HOST...: a component that starts one of its kind on each host, and asks all of them for answers until one of them is
 * gone: killed, or switched off with its host. snd, status and barrier tell it so, the others go on, nothing hangs.
 */
#include <pvmuser.h>
#include <time.h>
#include "check.h"

enum { ECHO = 1, MEET = 2, END = 3, MOST = 16 };

/* initiate names a component after its file. */
static char *name;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Answers until it is told to end. */
static int serve(void)
{
    for (;;) {
        int value, all, type = rcv(-1);

        if (type == END)
            break;
        CHECK_IS(getnint(&value, 1), PvmOk);
        all = value;
        if (type == MEET)
            value = barrier("everyone", all);
        CHECK_IS(initsend(), PvmOk);
        CHECK_IS(putnint(&value, 1), PvmOk);
        CHECK_IS(snd(name, 0, type), PvmOk);
    }
    return leave();
}

static int ask(int instance, int type, int value)
{
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(&value, 1), PvmOk);
    return snd(name, instance, type);
}

/* The answer, or PvmNoComp where nobody is there any more. */
static int answer_of(int instance, int type, int *value)
{
    double deadline = now() + 30;

    while (probe(type) != type) {
        if (status(name, instance) == 0 && probe(type) != type)
            return PvmNoComp;
        CHECK(now() < deadline);
    }
    CHECK_IS(rcv(type), type);
    return getnint(value, 1);
}

/* Asks all in turn until one is gone; which one, and how long it kept silent at most. */
static int ask_until_gone(int count, double *silence)
{
    int turn, code = PvmOk, value;

    for (turn = 0;; turn++) {
        int instance = turn % count + 1;
        double began = now();

        code = ask(instance, ECHO, turn);
        if (code == PvmOk)
            code = answer_of(instance, ECHO, &value);
        if (code != PvmOk) {
            CHECK_IS(code, PvmNoComp);
            *silence = now() - began;
            return instance;
        }
        CHECK_IS(value, turn);
    }
}

/* All that are left meet, though all of before are waited for. */
static void meet(int count, int gone, int all, int expected)
{
    int instance, value;

    for (instance = 1; instance <= count; instance++) {
        if (instance != gone)
            CHECK_IS(ask(instance, MEET, all), PvmOk);
    }
    CHECK_IS(barrier("everyone", all), expected);
    for (instance = 1; instance <= count; instance++) {
        if (instance == gone)
            continue;
        CHECK_IS(answer_of(instance, MEET, &value), PvmOk);
        CHECK_IS(value, expected);
    }
}

int main(int argc, char **argv)
{
    int i, gone, me, count = argc - 1;
    double silence;

    name = strrchr(argv[0], '/') + 1;
    me = enroll(name);
    CHECK(me >= 0 && count < MOST);
    if (me > 0)
        return serve();
    for (i = 1; i <= count; i++)
        CHECK_IS(initiateM(argv[0], argv[i]), i);
    meet(count, 0, count + 1, PvmOk);
    puts("running");
    fflush(stdout);
    gone = ask_until_gone(count, &silence);
    CHECK_IS(ask(gone, ECHO, 0), PvmNoComp);
    meet(count, gone, count + 1, PvmNoComp);
    meet(count, gone, count, PvmOk);
    for (i = 1; i <= count; i++)
        CHECK_IS(ask(i, END, 0), i == gone ? PvmNoComp : PvmOk);
    CHECK_SOON(status(name, -1) == 1);
    printf("ok %d was gone for %.0f ms\n", gone, silence * 1000);
    return leave();
}
