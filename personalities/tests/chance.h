/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * chance.h - programs by chance, compared with a model; an interface's chance.c says how its calls do what is drawn.
 *
 *     chance SEED [OPERATIONS [PAUSE [FILE]]]      PAUSE: microseconds between two rounds. With FILE rank 0 says "begun" when
 *                                                all have entered, and the first round begins when the file is there
 *
 * A run is rounds. From the seed and the number of a round all ranks draw the same plan: who sends what to whom and what
 * all do together. So each rank knows what it gets, from whom, and in which order the messages of one rank and type come.
 * How it takes them is drawn by each rank for itself: by source and type or by neither, after a probe, posted before they
 * are sent, in any order. Ranks run ahead of one another; a receive of any type may bring what a later round sends, which
 * is then planned early. Sends, receives and calls of all together are counted, for all ranks; the run ends at OPERATIONS.
 *
 * What chance.c defines before it includes this file:
 *   OWN            1: a rank may send to itself
 *   ANY_TYPE       1: a receive may take any type. EITHER 1: one of two types
 *   SENDS          ways to send, 0 and up; ACKNOWLEDGED: one more that waits for the receiver, or -1
 *   ALL_SENDS      1: a send to rank -1 is to all others, who receive it as any message
 *   RECEIVES       ways to receive. POSTS: ways to post a receive, or 0; POST_ANY 1: a posted one may take any source
 *   HANDLERS       1: messages of one type are for a handler, which calls handled(). Only where the seed is odd: threads
 *   POST_THREADS   1: posting, too, needs threads
 *   TOGETHERS      calls of all together
 * and the functions declared below.
 */
#ifndef CHANCE_H
#define CHANCE_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MAX = 16, TYPES = 5, HANDLED = 5, TREE = 6, KEYS = 7, MESSAGES_MAX = 64, POSTED_MAX = MESSAGES_MAX, LENGTH_MAX = 70000 };

/* Of the message that came; what an interface does not tell is -1. */
struct came {
    int source, type, bytes;
};

/* What a receive wants: -1 is any. `other` is a second type that fits, or -1. */
struct wanted {
    int source, type, other;
};

struct dice {
    uint64_t state;
};

static int me, all;

static void enter(int argc, char **argv); /* sets me and all */
static void leave(void);
static void send_one(int how, int to, int type, char *data, int bytes);
static struct came receive_one(int how, struct wanted wanted, char *data, int room);
#if POSTS > 0
static void post_one(int how, int slot, struct wanted wanted, char *data, int room);
static struct came finish_posted(int slot);
#endif
#if HANDLERS
static void post_handler(int type);
#endif
static void together(int which, struct dice *dice, int round); /* the dice are alike on all */
static void barrier(void);

static void failed(const char *what, int line, long one, long other)
{
    fprintf(stderr, "rank %d, line %d: %s (%ld, %ld)\n", me, line, what, one, other);
    fflush(NULL);
    abort();
}

#define MUST(what) ((what) ? (void)0 : failed(#what, __LINE__, 0, 0))
#define MUST_BE(one, other)                                     \
    do {                                                        \
        long one_ = (long)(one), other_ = (long)(other);        \
        if (one_ != other_)                                     \
            failed(#one " is " #other, __LINE__, one_, other_); \
    } while (0)

static uint32_t roll(struct dice *dice, uint32_t below)
{
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

/* ---- The plan of a round ---- */

struct planned {
    int from, to, type, bytes, waits; /* waits: acknowledged */
    uint32_t serial;
};

struct plan {
    int count, all_before, together_count, barrier, tree;
    struct planned messages[MESSAGES_MAX];
    struct dice dice; /* for what all do together */
};

static uint64_t seed;
static int threads;
static const int type_numbers[KEYS] = {1, 2, 7, 29, 999, 13, 17};

static int length_of(struct dice *dice)
{
    static const int sizes[] = {0, 1, 8, 64, 100, 1000, 4000, 5000};
    return roll(dice, 60) == 0 ? (int)roll(dice, LENGTH_MAX) : sizes[roll(dice, 8)];
}

static int plan_type(struct dice *dice)
{
    return HANDLERS && threads && roll(dice, 5) == 0 ? HANDLED : (int)roll(dice, TYPES);
}

static void plan_message(struct dice *dice, struct planned *message, uint32_t serial)
{
    message->from = (int)roll(dice, (uint32_t)all);
    message->to = ALL_SENDS && roll(dice, 20) == 0 ? -1 : (int)roll(dice, (uint32_t)all);
    if (!OWN && message->to == message->from)
        message->to = (message->from + 1) % all;
    message->type = plan_type(dice);
    message->bytes = length_of(dice);
    message->serial = serial;
    message->waits = 0;
}

/* One of each rank at most, to a higher one, behind all else that it sends: so nobody waits in a circle. */
static void plan_acknowledged(struct dice *dice, struct plan *plan)
{
    for (int from = 0; from + 1 < all && plan->count < MESSAGES_MAX; from++) {
        if (roll(dice, 3) != 0)
            continue;
        struct planned *message = &plan->messages[plan->count];
        plan_message(dice, message, (uint32_t)plan->count++);
        message->from = from;
        message->to = from + 1 + (int)roll(dice, (uint32_t)(all - from - 1));
        message->waits = 1;
    }
}

static void make_plan(int round, struct plan *plan)
{
    struct dice dice = {seed * 0x9e3779b97f4a7c15u + (uint64_t)round * 0xd1342543de82ef95u};
    uint32_t most = (uint32_t)(3 * all < MESSAGES_MAX - RANKS_MAX ? 3 * all : MESSAGES_MAX - RANKS_MAX);
    plan->count = 0;
    plan->all_before = roll(&dice, 3) == 0;
    plan->together_count = TOGETHERS > 0 ? (int)roll(&dice, 3) : 0;
    plan->barrier = roll(&dice, 6) == 0;
    plan->tree = roll(&dice, 10) == 0;
    uint32_t count = OWN || all > 1 ? roll(&dice, most + 1) : 0;
    for (uint32_t at = 0; at < count; at++)
        plan_message(&dice, &plan->messages[plan->count++], at);
    if (ACKNOWLEDGED >= 0 && !plan->all_before && roll(&dice, 2) == 0)
        plan_acknowledged(&dice, plan);
    for (int at = 0; at < plan->count; at++)
        plan->messages[at].serial += (uint32_t)round * MESSAGES_MAX;
    plan->dice.state = dice.state;
}

/* ---- The model: for each source and type what is still to come, in its order ---- */

struct expected {
    int round, bytes;
    uint32_t serial;
};

static struct key {
    struct expected *list;
    int first, count, room;
} keys[RANKS_MAX][KEYS];
static int planned_until; /* rounds below are in the model */
static pthread_mutex_t model = PTHREAD_MUTEX_INITIALIZER;

static void expect(struct key *key, struct expected expected)
{
    if (key->count == key->room) {
        struct expected *more = calloc((size_t)key->room * 2 + 16, sizeof *more);
        MUST(more != NULL);
        for (int at = 0; at < key->count; at++)
            more[at] = key->list[(key->first + at) % key->room];
        free(key->list);
        key->list = more;
        key->first = 0;
        key->room = key->room * 2 + 16;
    }
    key->list[(key->first + key->count++) % key->room] = expected;
}

static void plan_until(int round)
{
    static struct plan plan;
    for (; planned_until <= round; planned_until++) {
        make_plan(planned_until, &plan);
        for (int at = 0; at < plan.count; at++) {
            struct planned *message = &plan.messages[at];
            int is_mine = message->to == me || (message->to == -1 && message->from != me);
            if (is_mine)
                expect(&keys[message->from][message->type],
                       (struct expected){planned_until, message->bytes, message->serial});
        }
    }
}

static int outstanding(int source, int type, int round)
{
    struct key *key = &keys[source][type];
    int count = 0;
    while (count < key->count && key->list[(key->first + count) % key->room].round <= round)
        count++;
    return count;
}

static unsigned char byte_of(uint32_t serial, int at)
{
    return (unsigned char)(serial * 167u + (uint32_t)at * 13u + (uint32_t)(at >> 8));
}

static void fill(char *data, int bytes, uint32_t serial)
{
    for (int at = 0; at < bytes; at++)
        data[at] = (char)byte_of(serial, at);
}

static void check_bytes(const char *data, int bytes, uint32_t serial)
{
    int step = bytes > 5000 ? 97 : bytes > 64 ? 7 : 1;
    for (int at = 0; at < bytes; at += step)
        if ((unsigned char)data[at] != byte_of(serial, at))
            failed("a byte differs", __LINE__, at, bytes);
    if (bytes > 0)
        MUST_BE((unsigned char)data[bytes - 1], byte_of(serial, bytes - 1));
}

static int type_index(int number)
{
    for (int at = 0; at < KEYS; at++)
        if (type_numbers[at] == number)
            return at;
    failed("a type that nobody sends", __LINE__, number, 0);
    return -1;
}

/* What came is the next that this source sends with this type. */
static void compare(struct came came, const char *data)
{
    pthread_mutex_lock(&model);
    MUST(came.source >= 0 && came.source < all);
    struct key *key = &keys[came.source][type_index(came.type)];
    for (int ahead = 0; key->count == 0; ahead++) {
        if (ahead == 1000)
            failed("a message that nobody sends", __LINE__, came.source, came.type);
        plan_until(planned_until);
    }
    struct expected expected = key->list[key->first];
    key->first = (key->first + 1) % key->room;
    key->count--;
    pthread_mutex_unlock(&model);
    if (came.bytes >= 0)
        MUST_BE(came.bytes, expected.bytes);
    check_bytes(data, expected.bytes, expected.serial);
}

static void check_wanted(struct came came, struct wanted wanted)
{
    MUST(wanted.source == -1 || came.source == wanted.source);
    MUST(wanted.type == -1 || came.type == wanted.type || (wanted.other != -1 && came.type == wanted.other));
}

/* To be called by the handler of an interface. */
#if HANDLERS
static void handled(struct came came, const char *data)
{
    MUST_BE(came.type, type_numbers[HANDLED]);
    compare(came, data);
}
#endif

/* ---- Taking what a round brings ---- */

static struct dice own;

/* Some outstanding message but a handler's, or 0. */
static int some_outstanding(int round, int *source, int *type)
{
    int found = 0;
    for (int from = 0; from < all; from++)
        for (int at = 0; at < TYPES; at++)
            if (outstanding(from, at, round) > 0 && roll(&own, (uint32_t)++found) == 0) {
                *source = from;
                *type = at;
            }
    return found > 0;
}

static struct wanted widened(int source, int type)
{
    struct wanted wanted = {source, type_numbers[type], -1};
    if (roll(&own, 2) == 0)
        wanted.source = -1;
    /* What is for the handler is nobody else's. */
    if (ANY_TYPE && !(HANDLERS && threads) && roll(&own, 3) == 0)
        wanted.type = -1;
    else if (EITHER && roll(&own, 3) == 0)
        wanted.other = type_numbers[roll(&own, TYPES)];
    return wanted;
}

static void settle(int round)
{
    static char data[LENGTH_MAX];
    int source = 0, type = 0;
    while (some_outstanding(round, &source, &type)) {
        struct wanted wanted = widened(source, type);
        struct came came = receive_one((int)roll(&own, RECEIVES), wanted, data, sizeof data);
        check_wanted(came, wanted);
        compare(came, data);
    }
}

static void await_handled(int round)
{
    for (long tries = 0;; tries++) {
        int left = 0;
        pthread_mutex_lock(&model);
        for (int from = 0; from < all; from++)
            left += outstanding(from, HANDLED, round);
        pthread_mutex_unlock(&model);
        if (left == 0)
            return;
        if (tries > 100)
            usleep(20);
    }
}

#if POSTS > 0
static struct posted {
    struct wanted wanted;
    struct came came;
    char *data;
} posted[POSTED_MAX];
static int posted_count;

static void post(struct wanted wanted)
{
    struct posted *one = &posted[posted_count];
    if (one->data == NULL)
        one->data = malloc(LENGTH_MAX);
    MUST(one->data != NULL);
    one->wanted = wanted;
    post_one((int)roll(&own, POSTS), posted_count++, wanted, one->data, LENGTH_MAX);
}

/* First those of one source and type, then those of any source: so what the former want is left for them. Sometimes all,
 * so that there are enough for the index of posted receives. */
static void post_some(int round)
{
    int claimed[KEYS] = {0}, all_of_them = roll(&own, 3) == 0;
    posted_count = 0;
    for (int from = 0; from < all; from++)
        for (int type = 0; type < TYPES; type++)
            for (int left = outstanding(from, type, round); left > 0 && posted_count < POSTED_MAX / 2; left--)
                if (all_of_them || roll(&own, 3) == 0) {
                    post((struct wanted){from, type_numbers[type], -1});
                    claimed[type]++;
                }
    for (int type = 0; POST_ANY && type < TYPES; type++) {
        int left = -claimed[type];
        for (int from = 0; from < all; from++)
            left += outstanding(from, type, round);
        for (; left > 0 && posted_count < POSTED_MAX && (all_of_them || roll(&own, 2) == 0); left--)
            post((struct wanted){-1, type_numbers[type], -1});
    }
}

/* They are done in some order; what they got is in the order in which they were posted. */
static void finish_some(void)
{
    int order[POSTED_MAX];
    for (int at = 0; at < posted_count; at++) {
        int other = (int)roll(&own, (uint32_t)at + 1);
        order[at] = order[other];
        order[other] = at;
    }
    for (int at = 0; at < posted_count; at++)
        posted[order[at]].came = finish_posted(order[at]);
    for (int at = 0; at < posted_count; at++) {
        check_wanted(posted[at].came, posted[at].wanted);
        compare(posted[at].came, posted[at].data);
    }
    posted_count = 0;
}
#else
static void post_some(int round)
{
    (void)round;
}

static void finish_some(void)
{
}
#endif

/* ---- A round ---- */

/* Each message's memory is its own until the round ends: an interface may still read from it. */
static void send_mine(const struct plan *plan, int waits)
{
    static char data[LENGTH_MAX];
    for (int at = 0; at < plan->count; at++) {
        const struct planned *message = &plan->messages[at];
        if (message->from != me || message->waits != waits)
            continue;
        fill(data, message->bytes, message->serial);
        send_one(waits ? ACKNOWLEDGED : (int)roll(&own, SENDS), message->to, type_numbers[message->type], data,
                 message->bytes);
        memset(data, 0x55, message->bytes > 100 ? 100 : (size_t)message->bytes);
    }
}

/* A question goes down a tree of ranks, and each answers how many are below it. */
static void tree(struct dice *dice, int round)
{
    int parent[RANKS_MAX], order[RANKS_MAX], type = type_numbers[TREE], below = 1, value[2] = {round, 0};
    for (int at = 0; at < all; at++) {
        int other = (int)roll(dice, (uint32_t)at + 1);
        order[at] = order[other];
        order[other] = at;
    }
    for (int at = 0; at < all; at++)
        parent[order[at]] = at == 0 ? -1 : order[roll(dice, (uint32_t)at)];
    barrier();
    if (parent[me] >= 0) {
        struct came came = receive_one((int)roll(&own, RECEIVES), (struct wanted){parent[me], type, -1}, (char *)value,
                                       sizeof value);
        MUST(came.source == parent[me] && came.bytes == sizeof value && value[0] == round);
    }
    for (int child = 0; child < all; child++)
        if (parent[child] == me)
            send_one(0, child, type, (char *)value, sizeof value);
    for (int child = 0; child < all; child++)
        if (parent[child] == me) {
            receive_one((int)roll(&own, RECEIVES), (struct wanted){child, type, -1}, (char *)value, sizeof value);
            MUST_BE(value[0], round);
            below += value[1];
        }
    value[1] = below;
    if (parent[me] >= 0)
        send_one(0, parent[me], type, (char *)value, sizeof value);
    else
        MUST_BE(below, all);
}

static void all_together(struct plan *plan, int round)
{
    for (int at = 0; at < plan->together_count; at++)
        together((int)roll(&plan->dice, TOGETHERS), &plan->dice, round);
}

static long one_round(int round)
{
    static struct plan plan;
    int posts = POSTS > 0 && (threads || !POST_THREADS), posts_before = (int)roll(&own, 2);
    make_plan(round, &plan);
    pthread_mutex_lock(&model);
    plan_until(round);
    pthread_mutex_unlock(&model);
    if (posts && posts_before)
        post_some(round);
    send_mine(&plan, 0);
    if (posts && !posts_before)
        post_some(round);
    send_mine(&plan, 1);
    if (plan.all_before)
        all_together(&plan, round);
    if (posts)
        finish_some();
    settle(round);
    if (HANDLERS && threads)
        await_handled(round);
    if (!plan.all_before)
        all_together(&plan, round);
    if (plan.barrier)
        barrier();
    if (plan.tree && all > 1)
        tree(&plan.dice, round);
    long count = plan.together_count * all + (plan.tree ? 4 * all - 4 : 0) + (plan.barrier ? all : 0);
    for (int at = 0; at < plan.count; at++)
        count += plan.messages[at].to == -1 ? all : 2;
    return count;
}

static void hold(const char *file)
{
    if (me == 0) {
        printf("begun\n");
        fflush(stdout);
    }
    while (access(file, F_OK) != 0)
        usleep(1000);
}

int main(int argc, char **argv)
{
    enter(argc, argv);
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long most = argc > 2 ? atol(argv[2]) : getenv("NEOPVM_LONG") != NULL ? 1000000 : 20000, done = 0;
    threads = (int)(seed & 1);
    own.state = seed * 31 + (uint64_t)me;
    MUST(all <= RANKS_MAX);
#if HANDLERS
    if (threads)
        post_handler(type_numbers[HANDLED]);
#endif
    barrier();
    if (argc > 4)
        hold(argv[4]);
    int round = 0;
    for (; done < most; round++) {
        done += one_round(round);
        if (argc > 3)
            usleep((useconds_t)atoi(argv[3]));
    }
    barrier();
    for (int from = 0; from < all; from++)
        for (int type = 0; type < KEYS; type++)
            MUST_BE(outstanding(from, type, round - 1), 0);
    if (me == 0)
        printf("ok seed %llu: %ld operations of %d ranks in %d rounds\n", (unsigned long long)seed, done, all, round);
    leave();
    return 0;
}

#endif
