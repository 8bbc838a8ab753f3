/*
 * A bag of tasks whose first worker is killed at its third task: under claims (ntsnet -claim) nothing is lost or done twice.
 * The other workers begin when it has got that far, or on a busy computer it might find no third task.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int worker(int me)
{
    int task, done = 0;
    char mark[100];
    rd("mark", ?mark);
    if (me != 0)
        rd("go");
    for (;;) {
        in("task", ?task);
        if (task < 0)
            return done;
        if (me == 0 && ++done == 3) {
            close(open(mark, O_CREAT | O_WRONLY, 0600));
            raise(SIGKILL);
        }
        out("result", task, task * task);
    }
}

int real_main(int argc, char **argv)
{
    int tasks = 60, workers = atoi(argv[1]), i, square, bad = 0;
    char mark[100];
    (void)argc;
    /* A tuple would end the claim, so the worker tells by a file that it has its third task. */
    snprintf(mark, sizeof mark, "/tmp/bag.%d", (int)getpid());
    unlink(mark);
    out("mark", mark);
    for (i = 0; i < workers; i++)
        eval("worker", i, worker(i));
    for (i = 0; i < 3; i++)
        out("task", i);
    for (i = 0; i < tasks; i++) {
        if (i == 2) {
            int more;
            while (access(mark, F_OK) != 0)
                usleep(1000);
            unlink(mark);
            out("go");
            for (more = 3; more < tasks; more++)
                out("task", more);
        }
        in("result", i, ?square);
        bad += square != i * i;
    }
    bad += inp("result", ?int, ?int) + inp("task", ?int);
    for (i = 0; i < workers; i++)
        out("task", -1);
    for (i = 1; i < workers; i++)
        in("worker", ?int, ?int);
    printf("%s\n", bad ? "wrong" : "ok");
    return bad;
}
