/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* p4_lock, add, p4_unlock by one process: millions in a second. */
#include "check.h"
#include "p4.h"

int main(int argc, char **argv)
{
    struct counter {
        p4_lock_t lock;
        long sum;
    } *counter;
    long i, turns = 2000000;
    double seconds;
    p4_initenv(&argc, argv);
    counter = (struct counter *)p4_shmalloc(sizeof *counter);
    p4_lock_init(&counter->lock);
    counter->sum = 0;
    seconds = p4_usclock();
    for (i = 0; i < turns; i++) {
        p4_lock(&counter->lock);
        counter->sum++;
        p4_unlock(&counter->lock);
    }
    seconds = p4_usclock() - seconds;
    CHECK(counter->sum == turns);
    printf("ok %.1f million/s\n", (double)turns / seconds / 1e6);
    p4_wait_for_end();
    return 0;
}
