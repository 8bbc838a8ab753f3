/* patience [daemon]: a task that waits in a barrier, or for the host's daemon, with a message unread, sleeps. Prints "slept"
   or how long it was busy. */
#include "e2e.h"
#include <setjmp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void tell_how_busy(void)
{
    struct rusage used;
    double busy;

    getrusage(RUSAGE_SELF, &used);
    busy = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    if (busy < 0.5)
        puts("slept");
    else
        printf("busy for %.2f s\n", busy);
}

static sigjmp_buf over;

static void leave(int signal)
{
    siglongjmp(over, signal);
}

/* Nothing ever comes from the daemon by its own number; a signal ends the wait. The unread message lies in a lane that is
   watched, as another one of that lane was received. */
static void wait_for_daemon(char *program)
{
    char *arguments[] = {"daemon", 0};
    int child, daemon;

    CALL(pvm_spawn(program, arguments, PvmTaskDefault, "", 1, &child));
    CALL(pvm_recv(child, 1));
    send_int(child, 2, 0);
    while (pvm_probe(child, 4) == 0) /* it has been sent, and stays */
        pause_ms(10);
    send_int(child, 2, 0);
    CALL(pvm_recv(child, 5));
    daemon = pvm_tidtohost(pvm_mytid()) | (int)0x80000000;
    signal(SIGALRM, leave);
    alarm(3);
    if (!sigsetjmp(over, 1))
        pvm_recv(daemon, 3);
    tell_how_busy();
    CALL(pvm_recv(child, 4));
    CALL(pvm_recv(child, 6));
    CALL(pvm_exit());
}

int main(int argc, char **argv)
{
    int child;

    pvm_mytid();
    if (pvm_parent() > 0 && argc > 1) {
        send_int(pvm_parent(), 1, 0);
        CALL(pvm_recv(pvm_parent(), 2));
        send_int(pvm_parent(), 4, 0);
        CALL(pvm_recv(pvm_parent(), 2));
        send_int(pvm_parent(), 5, 0);
        send_int(pvm_parent(), 6, 0);
        CALL(pvm_exit());
        return 0;
    }
    if (argc > 1) {
        wait_for_daemon(argv[0]);
        return 0;
    }
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
    tell_how_busy();
    if (pvm_recv(child, 1) < 0)
        return 1;
    pvm_exit();
    return 0;
}
