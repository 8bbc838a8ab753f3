/*
 * Members of a group meet and reduce for ever, and some of them are killed at random moments: whoever is left must be
 * told by PvmNoTask (or, where the root is gone, PvmNoInst), and nobody may hang.
 *
 *     mourners MEMBERS ROUNDS SEED
 *
 * Prints "rounds R, killed K, told T".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "pvm3.h"

enum { GO = 1, TOLD = 2, GONE = 3, SUM = 4, NEWS = 5, ITEMS = 20000 };

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void live_for(int us)
{
    struct itimerval life;

    memset(&life, 0, sizeof life);
    life.it_value.tv_sec = us / 1000000;
    life.it_value.tv_usec = us % 1000000;
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &life, NULL);
}

static int meet(char *group, int members, int life)
{
    static double items[ITEMS];
    int code, i, me = pvm_getinst(group, pvm_mytid());

    if (life)
        live_for(life);
    for (;;) {
        if ((code = pvm_barrier(group, members)) < 0)
            return code;
        for (i = 0; i < ITEMS; i++)
            items[i] = 1;
        if ((code = pvm_reduce(PvmSum, items, ITEMS, PVM_DOUBLE, SUM, group, 0)) < 0)
            return code;
        /* One that died before the root asked who is there is not waited for. */
        for (i = 1; me == 0 && i < ITEMS; i++)
            if (items[i] != items[0] || items[0] < 1 || items[0] > members)
                return 1;
    }
}

static void member(void)
{
    char group[32];
    int members, life, code;

    pvm_recv(pvm_parent(), GO);
    pvm_upkstr(group);
    pvm_upkint(&members, 1, 1);
    pvm_upkint(&life, 1, 1);
    if (pvm_joingroup(group) < 0)
        exit(1);
    while (pvm_gsize(group) != members)
        usleep(1000);
    code = pvm_barrier(group, -1);
    if (code == 0)
        code = meet(group, members, life);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&code, 1, 1);
    pvm_send(pvm_parent(), TOLD);
    pvm_exit();
}

int main(int argc, char **argv)
{
    int members = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 1;
    int round, i, tids[64], killed = 0, told = 0, life, code, tag, from, gone;
    int reported[64];
    struct timeval patience = {60, 0};
    char group[32];

    if (pvm_parent() != PvmNoParent) {
        member();
        return 0;
    }
    srand(argc > 3 ? (unsigned)atoi(argv[3]) : 1);
    for (round = 0; round < rounds; round++) {
        snprintf(group, sizeof group, "mourners-%d", round);
        if (pvm_spawn(argv[0], NULL, PvmTaskDefault, "", members, tids) != members)
            return 2;
        pvm_notify(PvmTaskExit, GONE, members, tids);
        for (i = 0; i < members; i++) {
            /* The first round kills the root, the others any; one at least is killed. */
            life = i == round % members || rand() % 3 == 0 ? 1000 + rand() % 300000 : 0;
            pvm_initsend(PvmDataDefault);
            pvm_pkstr(group);
            pvm_pkint(&members, 1, 1);
            pvm_pkint(&life, 1, 1);
            pvm_send(tids[i], GO);
            reported[i] = 0;
        }
        for (gone = 0; gone < members;) {
            if (pvm_trecv(-1, -1, &patience) <= 0) {
                printf("round %d: %d of %d have ended, the others hang\n", round, gone, members);
                return 3;
            }
            pvm_bufinfo(pvm_getrbuf(), NULL, &tag, &from);
            pvm_upkint(&code, 1, 1);
            if (tag == GONE) {
                gone++;
                for (i = 0; i < members; i++)
                    killed += tids[i] == code && !reported[i];
            } else {
                /* Without the root nobody has whom to send to. */
                if (code != PvmNoTask && code != PvmNoInst) {
                    printf("round %d: t%x was told %d\n", round, (unsigned)from, code);
                    return 4;
                }
                told++;
                for (i = 0; i < members; i++)
                    reported[i] |= tids[i] == from;
            }
        }
    }
    printf("rounds %d, killed %d, told %d\n", rounds, killed, told);
    pvm_exit();
    return killed + told == members * rounds && killed >= rounds ? 0 : 5;
}
