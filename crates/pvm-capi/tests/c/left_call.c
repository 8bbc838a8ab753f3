/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A handler leaves a call at its work by siglongjmp, which it must not: the call never ends, and all
 * later calls of the thread say so. None of them waits, or touches what the call has left half done.
 * Needs no machine.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "pvm3.h"

#define JUMPS 100000 /* at most, until one of them leaves a call and not this program's loop */
#define KEPT 32      /* sends that a handler may ask for while its thread is in the library */
#define SOMEBODY 0x40007

static sigjmp_buf out;

static void leave(int signal_number)
{
    (void)signal_number;
    siglongjmp(out, 1);
}

static void work(int us)
{
    struct itimerval soon = {{0, 0}, {0, us}};
    int number = 7;

    setitimer(ITIMER_REAL, &soon, 0);
    for (;;) {
        pvm_initsend(PvmDataRaw);
        pvm_pkint(&number, 1, 1);
    }
}

int main(void)
{
    volatile int jumps, kept = 0;
    int number = 7, result;

    pvm_setopt(PvmAutoErr, 0);
    if (pvm_initsend(PvmDataRaw) <= 0)
        return 1;
    signal(SIGALRM, leave);
    for (jumps = 0; jumps < JUMPS; jumps++) {
        if (sigsetjmp(out, 1) == 0)
            work(20 + jumps * 37 % 500);
        if (pvm_initsend(PvmDataRaw) == PvmAlready)
            break;
    }
    if (jumps == JUMPS)
        return 2;
    if (pvm_pkint(&number, 1, 1) != PvmAlready || pvm_mkbuf(PvmDataRaw) != PvmAlready)
        return 3;
    if (pvm_nrecv(-1, -1) != PvmAlready || pvm_recv(-1, -1) != PvmAlready || pvm_barrier("g", 1) != PvmAlready)
        return 4;
    /* As if a handler had asked for them: they are kept for the end of the call. */
    while ((result = pvm_send(SOMEBODY, 1)) == 0)
        kept++;
    printf("left at jump %d, %d sends kept\n", jumps + 1, kept);
    return result == PvmAlready && kept == KEPT ? 0 : 5;
}
