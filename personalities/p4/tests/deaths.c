/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* deaths HOW: another process of the cluster dies, and this one, which would wait for ever, is told and ends with 1. */
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "p4.h"

struct shared {
    p4_lock_t lock;
    p4_monitor_t monitor;
    p4_barrier_monitor_t barrier;
    p4_getsub_monitor_t subscripts;
    p4_askfor_monitor_t pool;
    int ready;
};

static struct shared *shared;
static const char *how;

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

static int none(void *work)
{
    (void)work;
    return 1;
}

static int victim(void)
{
    if (is("holder") || is("leaver"))
        p4_lock(&shared->lock);
    if (is("inside"))
        p4_menter(&shared->monitor);
    shared->ready = 1;
    if (is("leaver"))
        exit(0);
    if (is("lonely"))
        return 0;
    if (is("waiter"))
        alarm(1);
    if (is("waiter"))
        p4_barrier(&shared->barrier, 3);
    kill(getpid(), SIGKILL);
    return 0;
}

static void wait_for_ever(void)
{
    int s;
    if (is("holder") || is("leaver"))
        p4_lock(&shared->lock);
    if (is("inside"))
        p4_menter(&shared->monitor);
    if (is("waiter"))
        p4_barrier(&shared->barrier, 3);
    if (is("subscripts"))
        p4_getsub(&shared->subscripts, &s, -1, 2);
    if (is("pool"))
        p4_askfor(&shared->pool, 2, none, &s, NULL);
    if (is("lonely")) {
        p4_menter(&shared->monitor);
        p4_mdelay(&shared->monitor, 0);
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    CHECK(argc == 2);
    how = argv[1];
    shared = (struct shared *)p4_shmalloc(sizeof *shared);
    memset(shared, 0, sizeof *shared);
    p4_moninit(&shared->monitor, 1);
    p4_barrier_init(&shared->barrier);
    p4_askfor_init(&shared->pool);
    p4_getsub_init(&shared->subscripts);
    CHECK(p4_create(victim) == 0);
    while (!*(volatile int *)&shared->ready)
        usleep(100);
    wait_for_ever();
    return 0;
}
