/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A timer's handler that sends while the program is in the library: nothing is lost, nothing is
 * sent twice, and all else that the handler tries is refused with PvmAlready or done at once. While
 * the program waits in a barrier its handlers may do all they like, and leave. Needs a machine.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "pvm3.h"

#define TICKS 4000
#define TAG_TICK 1
#define TAG_WORK 2
#define NEVER 99
#ifndef EARLIEST
#define EARLIEST 100000 /* us until the barrier is left, if it waits by then */
#endif

static int me, tick_buffer;
static volatile int ticks, sent, put_off, full, refused, odd;

static void handler(int signal_number)
{
    int result;

    (void)signal_number;
    if (ticks >= TICKS)
        return;
    ticks++;
    /* Refused if the library was interrupted; then the send below is of the program's own buffer. */
    result = pvm_setsbuf(tick_buffer);
    if (result == PvmAlready) {
        refused++;
        result = pvm_send(me, NEVER + 1);
        if (result == 0)
            put_off++;
        else if (result == PvmAlready)
            full++; /* a call that took long: no more is kept for it */
        else
            odd++;
        return;
    }
    if (pvm_send(me, TAG_TICK) == 0)
        sent++;
    else
        odd++;
    pvm_setsbuf(result);
}

static int count(int tag)
{
    int n = 0;

    while (pvm_nrecv(-1, tag) > 0)
        n++;
    return n;
}

static sigjmp_buf back;
static volatile int hosts = -1, answer = -1;

static void leave(int signal_number)
{
    int number = 7;

    (void)signal_number;
    /* On a busy computer the barrier may not wait yet, and a jump out of the library while it works
     * would leave its locks held. The next tick tries again. */
    if (pvm_config((int *)&hosts, 0, 0) == PvmAlready)
        return;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&number, 1, 1);
    answer = pvm_send(me, 3);
    siglongjmp(back, 1);
}

/* Leaves a barrier that never opens. */
static int leave_barrier(void)
{
    struct itimerval soon = {{0, 1000}, {0, EARLIEST}}, off = {{0, 0}, {0, 0}};
    int number = 0;

    signal(SIGALRM, leave);
    if (pvm_joingroup("handler") < 0)
        return 1;
    if (sigsetjmp(back, 1) == 0) {
        setitimer(ITIMER_REAL, &soon, 0);
        pvm_barrier("handler", 2);
        return 2;
    }
    setitimer(ITIMER_REAL, &off, 0);
    if (hosts != 1 || answer != 0 || pvm_recv(me, 3) <= 0)
        return 3;
    return pvm_upkint(&number, 1, 1) != 0 || number != 7 ? 4 : 0;
}

int main(void)
{
    struct itimerval fast = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
    int i, number, rounds = 0, ticked, late;

    pvm_setopt(PvmAutoErr, 0);
    me = pvm_mytid();
    if (me < 0)
        return 2;
    tick_buffer = pvm_mkbuf(PvmDataDefault);
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &fast, 0);
    while (ticks < TICKS) {
        if (pvm_initsend(PvmDataDefault) < 0 || pvm_pkint(&rounds, 1, 1) < 0)
            return 3;
        for (i = 0; i < 20; i++)
            pvm_pkint(&i, 1, 1);
        if (pvm_send(me, TAG_WORK) != 0 || pvm_recv(me, TAG_WORK) <= 0)
            return 4;
        if (pvm_upkint(&number, 1, 1) != 0 || number != rounds)
            return 5;
        rounds++;
    }
    setitimer(ITIMER_REAL, &off, 0);
    ticked = count(TAG_TICK);
    late = count(NEVER + 1);
    printf("%d rounds, %d ticks sent at once, %d put off, %d too many, %d odd\n", rounds, ticked, late,
           full, odd);
    i = leave_barrier();
    printf("barrier left: %d\n", i);
    pvm_exit();
    return i != 0 || odd != 0 || ticked != sent || late != put_off || put_off + full != refused || put_off == 0;
}
