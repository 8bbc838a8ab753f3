/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All calls, in any number of processes. The last process stops the job, while the first ones wait for ever. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cps.h"

#define LARGE 1000000

static int me, all;
static char block[LARGE];
static int counter;

static void sync_all(int number)
{
    int who = ACP_ALL_PROCESSES;
    CHECK(acp_sync(&who, &number) == 0);
}

static void blocks(void)
{
    static char data[LARGE];
    int right = me % all + 1, size = LARGE, number = 4, offset = 0, one = 1, three = 3, i;
    CHECK(acp_declare_block(block, &size, &number) == 0);
    memset(data, me, sizeof data);
    if (all == 1)
        right = 1;
    sync_all(1);
    CHECK(acp_send(&right, data, &size, &number, &offset) == 0);
    CHECK(acp_wait_for_data(&one, &number) == 0);
    for (i = 0; i < LARGE; i += 999)
        CHECK(block[i] == (me + all - 2) % all + 1);
    size = 10;
    for (offset = 100; offset < 400; offset += 100)
        acp_send(&right, data, &size, &number, &offset);
    acp_wait_for_data(&three, &number);
    sync_all(2);
    memset(data, 0, sizeof data);
    size = LARGE - 5;
    offset = 5;
    CHECK(acp_get(&right, data, &size, &number, &offset) == 0);
    CHECK(data[0] == me && data[LARGE - 6] == me);
    sync_all(3);
}

static void to_all(void)
{
    int who = ACP_ALL_PROCESSES, size = sizeof me, number = 5, offset = 0, others = all - 1, value = 0, i;
    CHECK(acp_declare_block(&value, &size, &number) == 0);
    sync_all(4);
    CHECK(acp_send(&who, &me, &size, &number, &offset) == 0);
    CHECK(acp_wait_for_data(&others, &number) == 0);
    CHECK(all == 1 || (value >= 1 && value <= all && value != me));
    for (i = 1; i <= all; i++)
        acp_sync(&i, &number);
}

static void twice(void *data, const int *size, void *answer, int *answer_size)
{
    const int *in = (const int *)data;
    int *out = (int *)answer, i;
    for (i = 0; i < *size / (int)sizeof *in; i++)
        out[i] = 2 * in[i] + me;
    *answer_size = *size;
    __sync_fetch_and_add(&counter, 1);
}

static void calls(void)
{
    int number = 7, in[3], out[5], size = sizeof in, room, other;
    CHECK(acp_declare_subroutine(twice, &number) == 0);
    sync_all(5);
    for (other = 1; other <= all; other++) {
        in[0] = in[1] = in[2] = 10 * other;
        room = sizeof out;
        CHECK(acp_call(&other, &number, in, &size, out, &room) == 0);
        CHECK(room == size && out[2] == 20 * other + other);
    }
    sync_all(6);
    CHECK(counter == all);
}

/* All stand in a queue; the first one takes them out, each once. */
static void queues(void)
{
    int queue = 3, ready = 8, process, i, sum = 0;
    CHECK(acp_queue_process(&queue) == 0);
    if (me == 1) {
        CHECK(acp_wait_queue(&queue, &all) == 0);
        for (i = 0; i < all; i++) {
            CHECK(acp_dequeue_process(&queue, &process) == 0);
            sum += process;
        }
        CHECK(sum == all * (all + 1) / 2);
        for (i = 0; i < all; i++)
            CHECK(acp_queue_process(&ready) == 0);
    }
    CHECK(acp_dequeue_process(&ready, &process) == 0 && process == 1);
    sync_all(7);
}

static void bad(const char *what)
{
    int size = 4, number = 4, offset = 0, one = 1, other = all + 1;
    acp_declare_block(block, &size, &number);
    sync_all(1);
    if (me == 1 && strcmp(what, "process") == 0)
        acp_send(&other, block, &size, &number, &offset);
    offset = 2;
    other = me % all + 1;
    if (strcmp(what, "beyond") == 0)
        acp_send(&other, block, &size, &number, &offset);
    number = 99;
    if (me == 1 && strcmp(what, "block") == 0)
        acp_wait_for_data(&one, &number);
    if (strcmp(what, "sync") == 0)
        sync_all(me);
    number = 4;
    acp_wait_for_data(&one, &number);
}

int main(int argc, char **argv)
{
    int second = 0;
    CHECK(acp_init() == 0);
    CHECK(acp_my_process(&me, &all) == 0);
    CHECK(me >= 1 && me <= all);
    if (argc > 1)
        bad(argv[1]);
    if (all > 1) {
        blocks();
        to_all();
    }
    calls();
    queues();
    acp_sleep(&second);
    if (me == 1)
        printf("ok %d processes\n", all);
    fflush(stdout);
    sync_all(8);
    if (me == all)
        acp_stop_job();
    if (me == 1)
        acp_stop_process();
    for (;;)
        pause();
}
