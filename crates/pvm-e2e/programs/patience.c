/* A task that waits in a barrier, with a message unread, sleeps: prints "slept" or how long it was busy. */
#include "e2e.h"
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage used;
    int child;
    double busy;

    (void)argc;
    pvm_mytid();
    if (pvm_parent() > 0) {
        pvm_initsend(PvmDataDefault);
        pvm_send(pvm_parent(), 1);
        pvm_joingroup("patience");
        sleep(2);
        pvm_barrier("patience", 2);
        pvm_exit();
        return 0;
    }
    pvm_joingroup("patience");
    if (pvm_spawn(argv[0], NULL, PvmTaskDefault, "", 1, &child) != 1)
        return 1;
    if (pvm_barrier("patience", 2) < 0)
        return 1;
    getrusage(RUSAGE_SELF, &used);
    busy = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    if (busy < 0.5)
        puts("slept");
    else
        printf("busy for %.2f s\n", busy);
    if (pvm_recv(child, 1) < 0)
        return 1;
    pvm_exit();
    return 0;
}
