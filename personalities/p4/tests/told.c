/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* told WHAT: the last process dies holding what the others wait for ("lock", "monitor"), or the first ends all at once
 * ("error"). */
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "p4.h"

struct shared {
    p4_lock_t lock;
    p4_monitor_t monitor;
    p4_barrier_monitor_t barrier;
};

static void take(struct shared *shared, const char *what)
{
    if (strcmp(what, "lock") == 0)
        p4_lock(&shared->lock);
    if (strcmp(what, "monitor") == 0)
        p4_menter(&shared->monitor);
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    struct shared *shared = (struct shared *)p4_shmalloc(sizeof *shared);
    p4_lock_init(&shared->lock);
    p4_moninit(&shared->monitor, 1);
    p4_barrier_init(&shared->barrier);
    CHECK(argc == 2);
    if (strcmp(argv[1], "error") == 0)
        p4_error("told", 7);
    p4_create_procgroup();
    int is_last = p4_get_my_id() == p4_num_total_slaves();
    if (is_last)
        take(shared, argv[1]);
    p4_barrier(&shared->barrier, p4_num_total_ids());
    if (is_last) {
        usleep(200000);
        raise(SIGKILL);
    }
    take(shared, argv[1]);
    p4_wait_for_end();
    return 0;
}
