/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * chance SEED [OPERATIONS [PAUSE [FILE]]], as chance.h has it: blocks, calls and queues by chance. All processes draw the same plan of each round, so each
 * knows what its blocks, its answers and its queues must be.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cps.h"

enum { PROCESSES_MAX = 16, BLOCKS = 3, PART = 600, SENDS_MAX = 64, BLOCK_BYTES = PART * PROCESSES_MAX };

/* Of a round; `to` 0 is all others. What one process sends goes to its own part of a block. */
static struct send {
    int from, to, block, offset, bytes;
    unsigned char value;
} sends[SENDS_MAX];

static int me, all, send_count;
static uint64_t seed, own;
/* A block and what must be in it, for each process. */
static unsigned char blocks[BLOCKS][BLOCK_BYTES], models[PROCESSES_MAX][BLOCKS][BLOCK_BYTES];
static int calls_heard, calls_wanted;

static uint32_t roll(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static void sync_all(int number)
{
    int who = ACP_ALL_PROCESSES;
    CHECK(acp_sync(&who, &number) == 0);
}

static void plan_sends(uint64_t *dice)
{
    send_count = (int)roll(dice, (uint32_t)(3 * all)) + 1;
    for (int i = 0; i < send_count; i++) {
        struct send *send = &sends[i];
        send->from = (int)roll(dice, (uint32_t)all) + 1;
        send->to = roll(dice, 6) == 0 ? 0 : (int)roll(dice, (uint32_t)all) + 1;
        send->block = (int)roll(dice, BLOCKS);
        send->bytes = (int)roll(dice, PART);
        send->offset = (send->from - 1) * PART + (int)roll(dice, (uint32_t)(PART - send->bytes));
        send->value = (unsigned char)roll(dice, 256);
    }
}

static int is_for(const struct send *send, int process)
{
    return send->to == process || (send->to == 0 && send->from != process);
}

static void follow(void)
{
    for (int i = 0; i < send_count; i++)
        for (int process = 1; process <= all; process++)
            if (is_for(&sends[i], process))
                memset(models[process - 1][sends[i].block] + sends[i].offset, sends[i].value, (size_t)sends[i].bytes);
}

static void send_mine(void)
{
    static unsigned char data[PART];
    int everybody = ACP_ALL_PROCESSES;
    for (int i = 0; i < send_count; i++) {
        struct send *send = &sends[i];
        int number = send->block + 10;
        if (send->from != me)
            continue;
        memset(data, send->value, sizeof data);
        CHECK(acp_send(send->to == 0 ? &everybody : &send->to, data, &send->bytes, &number, &send->offset) == 0);
    }
}

/* The blocks in any order, and each in one wait or several. */
static void wait_all(void)
{
    int left[BLOCKS] = {0}, sum = 0;
    for (int i = 0; i < send_count; i++)
        if (is_for(&sends[i], me))
            left[sends[i].block]++, sum++;
    while (sum > 0) {
        int block = (int)roll(&own, BLOCKS), number = block + 10;
        int count = left[block] == 0 ? 0 : 1 + (int)roll(&own, (uint32_t)left[block]);
        CHECK(acp_wait_for_data(&count, &number) == 0);
        left[block] -= count;
        sum -= count;
    }
    for (int block = 0; block < BLOCKS; block++)
        CHECK(memcmp(blocks[block], models[me - 1][block], BLOCK_BYTES) == 0);
}

static void read_others(void)
{
    static unsigned char data[BLOCK_BYTES];
    for (int count = (int)roll(&own, 4); count > 0; count--) {
        int process = (int)roll(&own, (uint32_t)all) + 1, block = (int)roll(&own, BLOCKS), number = block + 10;
        int bytes = (int)roll(&own, BLOCK_BYTES), offset = (int)roll(&own, (uint32_t)(BLOCK_BYTES - bytes));
        CHECK(acp_get(&process, data, &bytes, &number, &offset) == 0);
        CHECK(memcmp(data, models[process - 1][block] + offset, (size_t)bytes) == 0);
    }
}

/* The answer is the question backwards, and who has answered. */
static void reversed(void *data, const int *size, void *answer, int *answer_size)
{
    const unsigned char *in = data;
    unsigned char *out = answer;
    for (int i = 0; i < *size; i++)
        out[i] = in[*size - 1 - i];
    out[*size] = (unsigned char)me;
    *answer_size = *size + 1;
    __sync_fetch_and_add(&calls_heard, 1);
}

static void call_others(uint64_t *dice)
{
    unsigned char in[300], out[301];
    int number = 5;
    for (int from = 1; from <= all; from++) {
        int to = (int)roll(dice, (uint32_t)all) + 1, size = (int)roll(dice, sizeof in), room = sizeof out;
        calls_wanted += to == me;
        if (from != me)
            continue;
        for (int i = 0; i < size; i++)
            in[i] = (unsigned char)roll(&own, 256);
        CHECK(acp_call(&to, &number, in, &size, out, &room) == 0);
        CHECK(room == size + 1 && out[size] == to);
        for (int i = 0; i < size; i++)
            CHECK(out[i] == in[size - 1 - i]);
    }
}

/* Each stands in a queue so often; one takes all out. */
static void queue_up(uint64_t *dice, int round)
{
    int queue = round % 7, taker = (int)roll(dice, (uint32_t)all) + 1, times[PROCESSES_MAX], sum = 0, process;
    for (int i = 0; i < all; i++)
        sum += times[i] = (int)roll(dice, 3);
    for (int i = 0; i < times[me - 1]; i++)
        CHECK(acp_queue_process(&queue) == 0);
    if (me != taker)
        return;
    if (roll(&own, 2) == 0)
        CHECK(acp_wait_queue(&queue, &sum) == 0);
    for (; sum > 0; sum--) {
        CHECK(acp_dequeue_process(&queue, &process) == 0);
        CHECK(process >= 1 && process <= all && times[process - 1]-- > 0);
    }
}

static int one_round(int round)
{
    uint64_t dice = seed * 0x9e3779b97f4a7c15u + (uint64_t)round * 0xd1342543de82ef95u;
    int count = 0;
    plan_sends(&dice);
    follow();
    send_mine();
    call_others(&dice);
    wait_all();
    sync_all(round);
    CHECK(calls_heard == calls_wanted);
    read_others();
    queue_up(&dice, round);
    sync_all(round + 1000000);
    for (int i = 0; i < send_count; i++)
        count += sends[i].to == 0 ? all : 2;
    return count + 6 * all;
}

static void hold(const char *file)
{
    if (me == 1) {
        printf("begun\n");
        fflush(stdout);
    }
    while (access(file, F_OK) != 0)
        usleep(1000);
}

int main(int argc, char **argv)
{
    long most = argc > 2 ? atol(argv[2]) : getenv("NEOPVM_LONG") != NULL ? 1000000 : 20000, done = 0;
    int number = 5, size = BLOCK_BYTES, round = 0;
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    CHECK(acp_init() == 0);
    CHECK(acp_my_process(&me, &all) == 0 && all <= PROCESSES_MAX);
    own = seed * 31 + (uint64_t)me;
    CHECK(acp_declare_subroutine(reversed, &number) == 0);
    for (int block = 0; block < BLOCKS; block++) {
        number = block + 10;
        CHECK(acp_declare_block(blocks[block], &size, &number) == 0);
    }
    sync_all(1);
    if (argc > 4)
        hold(argv[4]);
    for (; done < most; round++) {
        done += one_round(round);
        if (argc > 3)
            usleep((useconds_t)atoi(argv[3]));
    }
    if (me == 1)
        printf("ok seed %llu: %ld operations of %d processes in %d rounds\n", (unsigned long long)seed, done, all, round);
    acp_stop_process();
    return 0;
}
