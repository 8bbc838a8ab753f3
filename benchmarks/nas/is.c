/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * IS, the sort of integer keys (RNR-94-007, section 2.2.5): ten times, the rank of every key. Each
 * task has N/P of the keys as they are generated. It counts them in buckets; the sum of all tasks'
 * counts divides the range of keys into one piece per task with about as many keys each; keys
 * travel to the task that has their piece, which counts each key and adds up the counts to ranks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nas.h"

enum { ITERATIONS = 10, TESTS = 5, MOST_PARTS = 1024, KEYS_IN_MESSAGE = 1 << 16 };
enum { TAG_KEYS = 1, TAG_LAST, TAG_RANKS };

/* Partial verification: after iteration i, the key of this index has rank base + slope * (i -
 * shift). */
struct test {
    int index, base, slope, shift;
};

struct class {
    char letter;
    int keys_log, range_log, buckets_log;
    struct test tests[TESTS];
};

/* NAS-95-020; where the indices and ranks are from: README.md. */
static const struct class classes[] = {
    {'S', 16, 11, 9, {{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0},
                      {62548, 64917, -1, 0}, {4431, 65463, -1, 0}}},
    {'W', 20, 16, 10, {{357773, 1249, 1, 2}, {934767, 11698, 1, 2}, {875723, 1039987, -1, 0},
                       {898999, 1043896, -1, 0}, {404505, 1048018, -1, 0}}},
    {'A', 23, 19, 10, {{2112377, 104, 1, 1}, {662041, 17523, 1, 1}, {5336171, 123928, 1, 1},
                       {3642833, 8288932, -1, 1}, {4250760, 8388264, -1, 1}}},
    {'B', 25, 21, 10, {{41869, 33422937, -1, 0}, {812306, 10244, 1, 0}, {5102857, 59149, 1, 0},
                       {18232239, 33135281, -1, 0}, {26860214, 99, 1, 0}}},
};
/* The thesis's size is no class: all ranks are compared with a sequential count instead. */
static const struct class thesis = {'T', 20, 20, 10, {{0, 0, 0, 0}}};

static const struct class *sort;
static int keys_here, first_here; /* this task's keys: how many, and the index of the first */
static int *keys;                 /* as generated */
static int *ranks;                /* of each key value of this task's piece, from `low` on */
static int low, high;             /* the piece: low <= key < high */
static int begin_of[MOST_PARTS + 1]; /* first bucket of each task's piece */
static long smaller;              /* keys below the piece, of all tasks */
static double test_ranks[ITERATIONS * TESTS];
static int test_keys[TESTS];

static long total(void)
{
    return 1L << sort->keys_log;
}

static int share_begin(int rank)
{
    return (int)(total() * rank / nas.tasks);
}

static int takes(int tasks)
{
    return tasks <= 1 << sort->buckets_log;
}

/* Each key is range/4 times the sum of four random numbers (RNR-94-007, section 2.2.5). */
static void make_keys(int *out, int first, int count)
{
    double seed = nas_seed_after(314159265.0, 1220703125.0, 4L * first), r[4];
    double quarter = (double)(1 << sort->range_log) / 4;
    for (int i = 0; i < count; i++) {
        nas_randoms(4, &seed, 1220703125.0, r);
        out[i] = (int)(quarter * (r[0] + r[1] + r[2] + r[3]));
    }
}

/* In iteration i, key i becomes i and key i+10 becomes range - i, so that no work can be kept. */
static void change_keys(int *all, int first, int count, int iteration)
{
    int at[2] = {iteration - first, iteration + ITERATIONS - first};
    int value[2] = {iteration, (1 << sort->range_log) - iteration};
    for (int k = 0; k < 2; k++)
        if (at[k] >= 0 && at[k] < count)
            all[at[k]] = value[k];
}

/* The test keys lie with various tasks; all learn their values. */
static void find_test_keys(void)
{
    double values[TESTS] = {0};
    for (int t = 0; t < TESTS; t++) {
        int at = sort->tests[t].index - first_here;
        if (at >= 0 && at < keys_here)
            values[t] = keys[at];
    }
    nas_sum(values, TESTS);
    for (int t = 0; t < TESTS; t++)
        test_keys[t] = (int)values[t];
}

static int bucket_shift(void)
{
    return sort->range_log - sort->buckets_log;
}

/* Every fourth key has counts of its own: equal keys in a row need not wait for each other. */
enum { STRIPES = 4 };

static void count_buckets(double *sums)
{
    int counts[STRIPES][MOST_PARTS] = {{0}};
    int shift = bucket_shift(), i = 0;
    for (; i + STRIPES <= keys_here; i += STRIPES)
        for (int k = 0; k < STRIPES; k++)
            counts[k][keys[i + k] >> shift]++;
    for (; i < keys_here; i++)
        counts[0][keys[i] >> shift]++;
    for (int b = 0; b < 1 << sort->buckets_log; b++) {
        sums[b] = 0;
        for (int k = 0; k < STRIPES; k++)
            sums[b] += counts[k][b];
    }
}

/* The thesis ran without load balancing: there, pieces are equal in range and not in keys. */
static void divide_range(const double *sums)
{
    int buckets = 1 << sort->buckets_log, part = 1;
    double below = 0;
    for (int p = 0; p <= nas.tasks; p++)
        begin_of[p] = (int)((long)buckets * p / nas.tasks);
    for (int b = 0; b < buckets && !nas.thesis; b++) {
        below += sums[b];
        while (part < nas.tasks && below >= (double)total() * part / nas.tasks)
            begin_of[part++] = b + 1;
    }
    smaller = 0;
    for (int b = 0; b < begin_of[nas.rank]; b++)
        smaller += (long)sums[b];
    low = begin_of[nas.rank] << bucket_shift();
    high = begin_of[nas.rank + 1] << bucket_shift();
}

static void count_keys(const int *list, int count)
{
    int *rank_of = ranks - low;
#ifdef NAS_PLANT
    count -= count > 0; /* planted: the last key of a message is lost */
#endif
    for (int i = 0; i < count; i++)
        rank_of[list[i]]++;
}

/* What becomes of the keys of this task's piece: counted, or put in order in the full verification. */
typedef void keys_user(const int *list, int count);

/*
 * Keys wait in a list for each task until a message is full, so that they are read again while they
 * are still in the processor's cache. A message that is not full is the sender's last one.
 */
static int full;                   /* keys of a full message */
static int *lists;                 /* [task][full] */
static int waiting[MOST_PARTS];    /* keys in each list */
static int *arrived;               /* [full] */
static char has_ended[MOST_PARTS]; /* the last message of this sender has come */

static void take_message(int from, keys_user *use)
{
    int count = nas_recv_ints(from, TAG_KEYS, arrived, full);
    use(arrived, count);
    has_ended[from] = count < full;
}

/* What has come is used at once, so that few messages are under way and their memory stays warm. */
static void take_arrived(keys_user *use)
{
    for (int p = 0; p < nas.tasks; p++)
        while (p != nas.rank && !has_ended[p] && nas_has_come(p, TAG_KEYS))
            take_message(p, use);
}

static void hand_over(int to, const int *list, int count, keys_user *use)
{
    if (to == nas.rank) {
        use(list, count);
        return;
    }
    nas_send_ints(to, TAG_KEYS, list, count);
    take_arrived(use);
}

static void add_to_list(int to, const int *items, int count, keys_user *use)
{
    int *list = lists + (long)to * full;
    while (count > 0) {
        int fits = full - waiting[to] < count ? full - waiting[to] : count;
        memcpy(list + waiting[to], items, sizeof *items * (size_t)fits);
        waiting[to] += fits;
        items += fits;
        count -= fits;
        if (waiting[to] == full) {
            hand_over(to, list, full, use);
            waiting[to] = 0;
        }
    }
}

/*
 * A block of keys is dealt to piles, STRIPES for each task as above. (The places are `long`: a
 * compiler may assume that writing a key changes none of them.)
 */
enum { BLOCK = 2048, PILE = BLOCK / STRIPES + STRIPES };
static unsigned short owner[MOST_PARTS]; /* of each bucket */
static int *piles;                       /* [stripe][task][PILE] */
static long next[STRIPES][MOST_PARTS];   /* where in `piles` the next key goes */

static long pile_begin(int stripe, int task)
{
    return ((long)stripe * nas.tasks + task) * PILE;
}

static void deal_block(const int *items, int count)
{
    int shift = bucket_shift(), i = 0;
    for (int k = 0; k < STRIPES; k++)
        for (int p = 0; p < nas.tasks; p++)
            next[k][p] = pile_begin(k, p);
    for (; i + STRIPES <= count; i += STRIPES)
        for (int k = 0; k < STRIPES; k++)
            piles[next[k][owner[items[i + k] >> shift]]++] = items[i + k];
    for (; i < count; i++)
        piles[next[0][owner[items[i] >> shift]]++] = items[i];
}

static void part_block(const int *items, int count, keys_user *use)
{
    deal_block(items, count);
    for (int p = 0; p < nas.tasks; p++)
        for (int k = 0; k < STRIPES; k++)
            add_to_list(p, piles + pile_begin(k, p), (int)(next[k][p] - pile_begin(k, p)), use);
}

static void find_owners(void)
{
    for (int p = 0; p < nas.tasks; p++)
        for (int b = begin_of[p]; b < begin_of[p + 1]; b++)
            owner[b] = (unsigned short)p;
}

static void part_keys(keys_user *use)
{
    find_owners();
    for (int i = 0; i < keys_here; i += BLOCK)
        part_block(keys + i, keys_here - i < BLOCK ? keys_here - i : BLOCK, use);
    for (int d = 0; d < nas.tasks; d++) {
        int to = (nas.rank + d) % nas.tasks;
        hand_over(to, lists + (long)to * full, waiting[to], use);
        waiting[to] = 0;
    }
}

/* Own keys are used while the others' are on their way. */
static void exchange_keys(keys_user *use)
{
    memset(has_ended, 0, sizeof has_ended);
    part_keys(use);
    for (int d = 1; d < nas.tasks; d++) {
        int from = (nas.rank + nas.tasks - d) % nas.tasks;
        while (!has_ended[from])
            take_message(from, use);
    }
}

/* Counts become the number of keys that are not above: the rank of value k is ranks[k-1]. */
static void add_up(void)
{
    long sum = smaller;
    for (int k = 0; k < high - low; k++) {
        sum += ranks[k];
        ranks[k] = (int)sum;
    }
}

static void note_tests(int iteration)
{
    for (int t = 0; t < TESTS; t++) {
        int k = test_keys[t];
        if (k >= low && k < high)
            test_ranks[(iteration - 1) * TESTS + t] =
                k > low ? ranks[k - 1 - low] : (double)smaller;
    }
}

/* All keys are here where there is one task: nothing to divide, nothing to send. */
static void rank_alone(void)
{
    low = 0;
    high = 1 << sort->range_log;
    smaller = 0;
    memset(ranks, 0, sizeof *ranks * (size_t)high);
    count_keys(keys, keys_here);
}

static void rank_together(void)
{
    double sums[MOST_PARTS];
    count_buckets(sums);
    nas_sum(sums, 1 << sort->buckets_log);
    divide_range(sums);
    memset(ranks, 0, sizeof *ranks * (size_t)(high - low));
    exchange_keys(count_keys);
}

static void rank_keys(int iteration)
{
    change_keys(keys, first_here, keys_here, iteration);
    if (nas.tasks == 1)
        rank_alone();
    else
        rank_together();
    add_up();
    note_tests(iteration);
}

/* 1. Partial verification: the ranks of five keys after each iteration. */
static void verify_tests(void)
{
    int passed = 0;
    char name[64];
    nas_sum(test_ranks, ITERATIONS * TESTS);
    for (int i = 0; i < ITERATIONS * TESTS; i++) {
        const struct test *test = &sort->tests[i % TESTS];
        passed += test_ranks[i] == test->base + test->slope * (i / TESTS + 1 - test->shift);
    }
    for (int t = 0; t < TESTS && nas.first; t++) {
        const struct test *test = &sort->tests[t];
        snprintf(name, sizeof name, "rank of key %d, iteration %d", test->index, ITERATIONS);
        nas_quantity(name, test_ranks[(ITERATIONS - 1) * TESTS + t],
                     test->base + test->slope * (ITERATIONS - test->shift), 0);
    }
    if (nas.first)
        nas_quantity("partial tests passed", passed, ITERATIONS * TESTS, 0);
}

/* 2. Full verification: every key goes to the place that its rank says. */
static int *sorted, *place;
static long sorted_count;

/* From the end of the equal keys forward, as RNR-94-007 allows any order among them. */
static void put_in_order(const int *list, int count)
{
    for (int i = 0; i < count; i++) {
        long at = --place[list[i] - low] - smaller;
        if (at >= 0 && at < sorted_count)
            sorted[at] = list[i];
    }
}

static long count_disorder(int before)
{
    long wrong = 0;
    for (long i = 0; i < sorted_count; i++) {
        wrong += sorted[i] < before;
        before = sorted[i];
    }
    return wrong;
}

/* The largest key of the tasks before, handed from task to task. */
static int last_before(void)
{
    double last = -1;
    if (nas.rank > 0)
        nas_recv(nas.rank - 1, TAG_LAST, &last, 1);
    double next = sorted_count > 0 ? sorted[sorted_count - 1] : last;
    if (nas.rank + 1 < nas.tasks)
        nas_send(nas.rank + 1, TAG_LAST, &next, 1);
    return (int)last;
}

static void verify_order(void)
{
    long found[2];
    sorted_count = high > low ? ranks[high - low - 1] - smaller : 0;
    sorted = malloc(sizeof *sorted * (size_t)(sorted_count + 1));
    place = malloc(sizeof *place * (size_t)(high - low + 1));
    if (sorted == NULL || place == NULL)
        nas_fail("no memory for the full verification.");
    memset(sorted, 0xff, sizeof *sorted * (size_t)(sorted_count + 1));
    memcpy(place, ranks, sizeof *place * (size_t)(high - low));
    if (nas.tasks == 1)
        put_in_order(keys, keys_here);
    else
        exchange_keys(put_in_order);
    found[0] = count_disorder(last_before());
    found[1] = sorted_count;
    nas_sum_longs(found, 2);
    if (nas.first) {
        nas_quantity("keys out of order", (double)found[0], 0, 0);
        nas_quantity("keys sorted", (double)found[1], (double)total(), 0);
    }
}

/* 3. The thesis's size: rank 0 counts all keys by itself and compares every rank. */
static int *count_sequentially(void)
{
    int range = 1 << sort->range_log;
    int *all = malloc(sizeof *all * (size_t)total()), *sums = calloc((size_t)range, sizeof *sums);
    if (all == NULL || sums == NULL)
        nas_fail("no memory for the sequential count.");
    make_keys(all, 0, (int)total());
    for (int i = 1; i <= ITERATIONS; i++)
        change_keys(all, 0, (int)total(), i);
    for (long i = 0; i < total(); i++)
        sums[all[i]]++;
    for (int k = 1; k < range; k++)
        sums[k] += sums[k - 1];
    free(all);
    return sums;
}

static void verify_ranks(void)
{
    int range = 1 << sort->range_log, different = 0;
    int *wanted, *others;
    if (nas.rank > 0) {
        nas_send_ints(0, TAG_RANKS, ranks, high - low);
        return;
    }
    wanted = count_sequentially();
    others = malloc(sizeof *others * (size_t)range);
    if (others == NULL)
        nas_fail("no memory for the ranks.");
    memcpy(others, ranks, sizeof *others * (size_t)(high - low));
    for (int p = 1, k = high; p < nas.tasks; p++)
        k += nas_recv_ints(p, TAG_RANKS, others + k, range - k);
    for (int k = 0; k < range; k++)
        different += others[k] != wanted[k];
    nas_quantity("ranks unlike a sequential count", different, 0, 0);
    free(others);
    free(wanted);
}

static void choose_class(void)
{
    sort = &classes[0];
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].letter == nas.class_letter)
            sort = &classes[i];
    if (nas.thesis) {
        sort = &thesis;
        nas.class_letter = 'U';
    }
}

/*
 * A list stays in a usual cache of the second level. The thesis's keys went to each task
 * in one message: there, none is ever full.
 */
static int keys_of_full_message(void)
{
    return nas.thesis ? (int)total() / nas.tasks + 1 : KEYS_IN_MESSAGE;
}

static void allocate(void)
{
    first_here = share_begin(nas.rank);
    keys_here = share_begin(nas.rank + 1) - first_here;
    keys = malloc(sizeof *keys * (size_t)keys_here);
    lists = malloc(sizeof *lists * (size_t)full * (size_t)nas.tasks);
    piles = malloc(sizeof *piles * (size_t)pile_begin(STRIPES, 0));
    arrived = malloc(sizeof *arrived * (size_t)full);
    ranks = malloc(sizeof *ranks * ((size_t)1 << sort->range_log));
    if (keys == NULL || ranks == NULL || lists == NULL || piles == NULL || arrived == NULL)
        nas_fail("no memory for %d keys.", keys_here);
    make_keys(keys, first_here, keys_here);
    find_test_keys();
}

int main(int argc, char **argv)
{
    double began, seconds;
    char size[32];
    nas_options(argc, argv, "is", 0);
    choose_class();
    nas_require_tasks(takes, "IS takes at most one task for each bucket");
    full = keys_of_full_message();
    nas_begin(12.0 * (double)total() / nas.tasks + 4.0 * full * (nas.tasks + 1) +
              8.0 * (1 << sort->range_log));
    allocate();
    rank_keys(1); /* not timed: pages and routes are there afterwards */
    nas_barrier();
    nas_timed(1);
    began = nas_seconds();
    for (int iteration = 1; iteration <= ITERATIONS; iteration++)
        rank_keys(iteration);
    seconds = nas_seconds() - began;
    nas_timed(0);
    if (!nas.thesis)
        verify_tests();
    verify_order();
    if (nas.thesis)
        verify_ranks();
    snprintf(size, sizeof size, "2^%d", sort->keys_log);
    nas_report(size, ITERATIONS, seconds, (double)total() * ITERATIONS);
    nas_end();
}
