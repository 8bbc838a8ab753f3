/*
 * The child of a fork is a new task, whatever its parent has used of the library before: everything that keeps something is
 * used here, and then the child finds nothing of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neopvm.h"
#include "pvm3.h"
#include "pvmtev.h"

static int nothing(int id, int tid, int tag)
{
    (void)id, (void)tid, (void)tag;
    return 0;
}

static int handler(int id)
{
    (void)id;
    return 0;
}

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "not so: %s\n", what);
        _exit(1);
    }
}

static int child(int parent)
{
    int me;

    alarm(60);
    me = pvm_mytid();
    check(me > 0 && me != parent, "the child has an id of its own");
    check(pvm_nrecv(-1, -1) == 0, "the messages of the parent are not the child's");
    check(pvm_psend(me, 5, &me, 1, PVM_INT) == 0, "the child sends");
    check(pvm_recv(me, 5) > 0, "the child receives");
    check(pvm_exit() == 0, "the child leaves");
    return 0;
}

int main(void)
{
    Pvmtmask mask;
    int me = pvm_mytid(), status, value = 77;
    uint64_t count, dropped;
    pid_t pid;

    check(me > 0, "enrolled");
    pvm_setopt(PvmAutoErr, 0);
    pvm_catchout(stderr);
    check(pvm_addmhf(-1, 4711, -1, handler) >= 0, "a handler");
    pvm_setopt(PvmSelfTraceTid, me);
    pvm_setopt(PvmSelfTraceCode, 4712);
    memset(mask, 'O', sizeof mask - 1);
    mask[sizeof mask - 1] = 0;
    pvm_settmask(PvmTaskSelf, mask);
    neopvm_read_records(me, NULL, 0, &count, &dropped);
    check(pvm_initsend(PvmDataDefault) > 0 && pvm_pkint(&value, 1, 1) == 0, "packed");
    check(pvm_send(me, 6) == 0, "sent");
    pvm_recvf(nothing);
    check(pvm_nrecv(-1, -1) == 0, "the message was shown and refused");
    pvm_recvf(NULL);
    pid = fork();
    if (pid == 0)
        _exit(child(me));
    check(waitpid(pid, &status, 0) == pid && status == 0, "the child is content");
    check(pvm_recv(me, 6) > 0 && pvm_upkint(&value, 1, 1) == 0 && value == 77, "the message is still the parent's");
    pvm_catchout(NULL);
    return pvm_exit();
}
