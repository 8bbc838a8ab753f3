/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ranks of one cluster that share memory: the first of them forks the others, tells the keeper, and watches them. */
#include "state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int32_t tid;
    int descriptor; /* readable when it has ended */
};

static struct child *children;
static int32_t child_count;
static atomic_int living;
static pthread_t watcher;

static int wait_status(const siginfo_t *info)
{
    return info->si_code == CLD_EXITED ? (info->si_status & 255) << 8 : info->si_status & 127;
}

static void tell_end(const struct child *child)
{
    siginfo_t info = {0};
    /* The process is not reaped here, so that the program can wait for it. */
    waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT);
    neopvm_buffer word = job_word();
    job_word_number(word, child->tid);
    job_word_number(word, wait_status(&info));
    job_say(TAG_EXITED, word);
}

static void *watch(void *nothing)
{
    struct pollfd *polled = calloc((size_t)child_count, sizeof *polled);
    for (int32_t at = 0; at < child_count && polled != NULL; at++)
        polled[at] = (struct pollfd){.fd = children[at].descriptor, .events = POLLIN};
    while (polled != NULL && atomic_load(&living) > 0) {
        if (poll(polled, (nfds_t)child_count, -1) < 0 && errno != EINTR)
            break;
        for (int32_t at = 0; at < child_count; at++) {
            if (polled[at].fd < 0 || polled[at].revents == 0)
                continue;
            tell_end(&children[at]);
            polled[at].fd = -1;
            atomic_fetch_sub(&living, 1);
        }
    }
    free(polled);
    return nothing;
}

static int start_watcher(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&watcher, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? NEOPVM_NO_MEMORY : JOB_OK;
}

/* In the child: becomes a task of its own and tells its id. */
static int32_t be_child(int32_t index, pid_t parent, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    child_count = 0;
    job_forget_spent();
    job_this.state = JOB_RANK;
    job_this.first += index;
    job_this.rank = job_this.first;
    if (neopvm_enrol(&job_this.tid, NULL) != NEOPVM_OK ||
        write(out, &job_this.tid, sizeof job_this.tid) != (ssize_t)sizeof job_this.tid)
        _exit(1);
    close(out);
    return index;
}

/* 0 in the caller, the index in the child, negative where it cannot be done. */
static int32_t fork_one(int32_t index, struct child *child)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe(ends) != 0)
        return NEOPVM_NO_MEMORY;
    child->pid = fork();
    if (child->pid == 0) {
        close(ends[0]);
        return be_child(index, parent, ends[1]);
    }
    close(ends[1]);
    ssize_t got = child->pid < 0 ? -1 : read(ends[0], &child->tid, sizeof child->tid);
    close(ends[0]);
    child->descriptor = child->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, child->pid, 0);
    return got == (ssize_t)sizeof child->tid && child->descriptor >= 0 ? 0 : NEOPVM_NO_MEMORY;
}

static int32_t undo(void)
{
    for (int32_t at = 0; at < child_count; at++) {
        if (children[at].pid <= 0)
            continue;
        kill(children[at].pid, SIGKILL);
        waitpid(children[at].pid, NULL, 0);
    }
    child_count = 0;
    return NEOPVM_NO_MEMORY;
}

static int announce(void)
{
    neopvm_buffer word = job_word();
    job_word_number(word, child_count);
    for (int32_t at = 0; at < child_count; at++)
        job_word_number(word, children[at].tid);
    return job_say(TAG_FORKED, word);
}

int32_t job_fork(int32_t count)
{
    if (count <= 1)
        return 0;
    children = calloc((size_t)count, sizeof *children);
    if (children == NULL)
        return NEOPVM_NO_MEMORY;
    /* Otherwise each process would write the content of the buffers. */
    fflush(NULL);
    for (int32_t index = 1; index < count; index++) {
        child_count = index;
        int32_t forked = fork_one(index, &children[index - 1]);
        if (forked != 0)
            return forked > 0 ? forked : undo();
    }
    atomic_store(&living, child_count);
    int status = announce();
    return status == JOB_OK ? start_watcher() : status;
}

void job_wait_forked(void)
{
    if (child_count == 0)
        return;
    pthread_join(watcher, NULL);
    for (int32_t at = 0; at < child_count; at++)
        waitpid(children[at].pid, NULL, 0);
    child_count = 0;
}
