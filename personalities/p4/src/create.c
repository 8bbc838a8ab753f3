/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* p4_create: a further process of the cluster. It is not a task of the machine. A thread here
 * waits for its end, so that its failure ends the job although the program does not wait for it;
 * it dies with the process that made it. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "export.h"
#include "failure.h"
#include "process.h"

struct created {
    pthread_t watcher;
    pid_t pid;
    struct created *next;
};

static struct created *all;
static int is_created;

int process_is_created(void)
{
    return is_created;
}

int created_any(void)
{
    return all != NULL;
}

static void *watch(void *argument)
{
    const struct created *created = argument;
    int status = 0;
    while (waitpid(created->pid, &status, 0) < 0) {
        if (errno != EINTR)
            return NULL;
    }
    if (WIFSIGNALED(status))
        fatal("a process of p4_create (pid %d) was killed by signal %d", (int)created->pid, WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        fatal("a process of p4_create (pid %d) ended with status %d", (int)created->pid, WEXITSTATUS(status));
    return NULL;
}

static _Noreturn void run_created(int number, pid_t maker, P4_FUNCTION(int, fn, (void)))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != maker)
        _exit(1);
    is_created = 1;
    all = NULL;
    arena_become(number);
    fn();
    exit(0);
}

/* Signals are for the program's thread, so the watcher takes none. */
static int start_watcher(struct created *created)
{
    sigset_t every;
    sigset_t old;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &old);
    int result = pthread_create(&created->watcher, NULL, watch, created);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result;
}

static int make(int number, P4_FUNCTION(int, fn, (void)))
{
    struct created *created = calloc(1, sizeof *created);
    pid_t maker = getpid();
    if (created == NULL)
        return failed("p4_create: no memory");
    output_flush();
    created->pid = fork();
    if (created->pid < 0) {
        free(created);
        return failed("p4_create: no further process can be started");
    }
    if (created->pid == 0)
        run_created(number, maker, fn);
    arena_started(number, (int)created->pid);
    created->next = all;
    all = created;
    if (start_watcher(created) != 0)
        fatal("p4_create: no thread can be started");
    return 0;
}

void created_wait(void)
{
    while (all != NULL) {
        struct created *created = all;
        pthread_join(created->watcher, NULL);
        all = created->next;
        free(created);
    }
}

P4_API int p4_create(P4_FUNCTION(int, fn, (void)))
{
    if (arena == NULL)
        fatal("p4_create: p4_initenv comes first");
    if (fn == NULL)
        return failed("p4_create: no function");
    int number = arena_reserve(-1);
    if (number == 0)
        return failed("p4_create: a cluster has at most %d processes", ARENA_PROCESSES);
    return make(number, fn);
}
