/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* flags: -std=gnu89 -fcommon */
/* Processes of p4_create share memory, locks, monitors, subscripts, barriers and the pool of work. */
#include "check.h"
#include "p4.h"

#define PROCESSES 4
#define ADDS 50000
#define ITEMS 3000
#define ROUNDS 40
#define MAX_SUBSCRIPT 36

struct shared {
    p4_lock_t lock;
    p4_monitor_t buffer;
    p4_getsub_monitor_t subscripts;
    p4_barrier_monitor_t barrier;
    p4_askfor_monitor_t pool;
    long sum;
    int filled;
    int item;
    long produced;
    long consumed;
    int seen[ROUNDS][MAX_SUBSCRIPT + 1];
    int ends[ROUNDS];
    int arrived[ROUNDS];
    int numbers;
    int open;
    int solved;
    int resets;
    char *text;
};

static struct shared *shared;

static void locks(void)
{
    int i;
    for (i = 0; i < ADDS; i++) {
        p4_lock(&shared->lock);
        shared->sum++;
        p4_unlock(&shared->lock);
    }
}

/* One place: queue 0 waits for it to be empty, queue 1 for it to be full. Who is woken finds what it waited for. */
static void put_item(int item)
{
    p4_menter(&shared->buffer);
    if (shared->filled)
        p4_mdelay(&shared->buffer, 0);
    CHECK(!shared->filled);
    shared->filled = 1;
    shared->item = item;
    shared->produced += item;
    p4_mcontinue(&shared->buffer, 1);
}

static void get_item(void)
{
    p4_menter(&shared->buffer);
    if (!shared->filled)
        p4_mdelay(&shared->buffer, 1);
    CHECK(shared->filled);
    shared->filled = 0;
    shared->consumed += shared->item;
    p4_mcontinue(&shared->buffer, 0);
}

static void monitors(int me)
{
    int i;
    for (i = 1; i <= ITEMS; i++) {
        if (me % 2 == 0)
            put_item(i);
        else
            get_item();
    }
    p4_menter(&shared->buffer);
    p4_mexit(&shared->buffer);
}

static void subscripts(void)
{
    int round, s;
    for (round = 0; round < ROUNDS; round++) {
        int stride = 1 + round % 3;
        for (;;) {
            if (stride == 1)
                p4_getsub(&shared->subscripts, &s, MAX_SUBSCRIPT, PROCESSES);
            else
                p4_getsubs(&shared->subscripts, &s, MAX_SUBSCRIPT, PROCESSES, stride);
            if (s < 0)
                break;
            CHECK(s <= MAX_SUBSCRIPT && s % stride == 0);
            __sync_fetch_and_add(&shared->seen[round][s], 1);
        }
        CHECK(s == -1);
        __sync_fetch_and_add(&shared->ends[round], 1);
    }
}

static void barriers(void)
{
    int round;
    for (round = 0; round < ROUNDS; round++) {
        __sync_fetch_and_add(&shared->arrived[round], 1);
        p4_barrier(&shared->barrier, PROCESSES);
        CHECK(__sync_fetch_and_add(&shared->arrived[round], 0) == PROCESSES);
    }
}

static int get_problem(void *work)
{
    if (shared->open == 0)
        return 1;
    shared->open--;
    *(int *)work = 1;
    return 0;
}

static int put_problem(void *work)
{
    (void)work;
    shared->open++;
    return 0;
}

static void set_back(void)
{
    shared->resets++;
}

/* Each piece of work makes another one until 200 were solved; then the pool is exhausted for all. */
static void pool(void)
{
    int work, rc;
    while ((rc = p4_askfor(&shared->pool, PROCESSES, get_problem, &work, set_back)) == 0) {
        if (__sync_add_and_fetch(&shared->solved, 1) < 200)
            CHECK(p4_update(&shared->pool, put_problem, &work) == 0);
    }
    CHECK(rc == 1);
}

static void ends_of_the_pool(int me)
{
    int work = 0;
    if (me == 0)
        p4_probend(&shared->pool, 7);
    CHECK(p4_askfor(&shared->pool, PROCESSES, get_problem, &work, set_back) == (me >= 0 ? 7 : 0));
    p4_barrier(&shared->barrier, PROCESSES);
    if (me == 0)
        p4_progend(&shared->pool);
    CHECK(p4_askfor(&shared->pool, PROCESSES, get_problem, &work, set_back) == -1);
    CHECK(p4_update(&shared->pool, put_problem, &work) == -1);
}

static int work(void)
{
    int me = __sync_fetch_and_add(&shared->numbers, 1);
    locks();
    monitors(me);
    subscripts();
    barriers();
    p4_barrier(&shared->barrier, PROCESSES);
    pool();
    p4_barrier(&shared->barrier, PROCESSES);
    ends_of_the_pool(me);
    return 0;
}

static int created(void)
{
    CHECK(p4_get_my_id() == -1);
    CHECK(strcmp(shared->text, "the same address") == 0);
    return work();
}

static void check_all(void)
{
    int round, s;
    CHECK(shared->sum == (long)PROCESSES * ADDS);
    CHECK(shared->produced == shared->consumed);
    CHECK(shared->produced == (long)PROCESSES / 2 * ITEMS * (ITEMS + 1) / 2);
    for (round = 0; round < ROUNDS; round++) {
        CHECK(shared->ends[round] == PROCESSES);
        for (s = 0; s <= MAX_SUBSCRIPT; s++)
            CHECK(shared->seen[round][s] == (s % (1 + round % 3) == 0));
    }
    CHECK(shared->open == 0);
    CHECK(shared->resets == 2);
}

int main(int argc, char **argv)
{
    int i;
    p4_initenv(&argc, argv);
    shared = (struct shared *)p4_shmalloc(sizeof *shared);
    CHECK(shared != NULL);
    memset(shared, 0, sizeof *shared);
    shared->text = p4_shmalloc(100);
    strcpy(shared->text, "the same address");
    shared->open = 1;
    p4_lock_init(&shared->lock);
    p4_moninit(&shared->buffer, 2);
    p4_getsub_init(&shared->subscripts);
    p4_barrier_init(&shared->barrier);
    p4_askfor_init(&shared->pool);
    for (i = 1; i < PROCESSES; i++)
        CHECK(p4_create(created) == 0);
    work();
    p4_wait_for_end();
    check_all();
    p4_shfree(shared->text);
    p4_shfree(shared);
    printf("ok\n");
    return 0;
}
