/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * chance COUNT ROUNDS SEED [spread]: COUNT components (with `spread`, this is one of COUNT that somebody else has started)
 * send one another messages by chance. All know from the seed who sends what in each round, so each knows what it will
 * get; it takes it in an order of its own - by type, by several types, any, after probing - and compares it with that
 * model: nothing is missing, twice, damaged, or before what the same component sent first under the same type.
 */
#include <stdint.h>
#include <sys/wait.h>
#include <pvmuser.h>
#include "check.h"

enum { COUNT_MAX = 16, TYPES = 5, SENDS_MAX = 4, LENGTH_MAX = 3000 };

struct planned {
    int from, type, length;
    uint32_t first;
};

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static uint32_t item(uint32_t first, int i)
{
    return first * 2654435761u + (uint32_t)i;
}

static void post(int to, const struct planned *message, int direct)
{
    static int data[LENGTH_MAX];
    int i;

    for (i = 0; i < message->length; i++)
        data[i] = (int)item(message->first, i);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint((int *)&message->first, 1), PvmOk);
    CHECK_IS(putnint(data, message->length), PvmOk);
    CHECK_IS(direct ? vsnd("chance", to, message->type) : snd("chance", to, message->type), PvmOk);
}

/* Draws a round; sends what I send and notes what I get, in the order of its senders. */
static int plan(uint64_t *state, int me, int count, struct planned *mine)
{
    int from, k, got = 0;

    for (from = 0; from < count; from++) {
        for (k = (int)(draw(state) % (SENDS_MAX + 1)); k > 0; k--) {
            int to = (int)(draw(state) % (uint32_t)count), direct = (int)(draw(state) & 1);
            int length = draw(state) % 8 == 0 ? (int)(draw(state) % LENGTH_MAX) : (int)(draw(state) % 9);
            struct planned message = {from, (int)(draw(state) % TYPES), length, draw(state)};

            if (from == me)
                post(to, &message, direct);
            if (to == me)
                mine[got++] = message;
        }
    }
    return got;
}

static int take(uint64_t *own, int *wanted)
{
    int types[2] = {wanted[0], (int)(draw(own) % TYPES)};

    switch (draw(own) % 5) {
    case 0:
        return rcv(wanted[0]);
    case 1:
        return rcv(-1);
    case 2:
        return rcvmulti(2, types);
    case 3:
        return vrcvmulti(2, types);
    default:
        if (probe(types[1]) == types[1])
            CHECK_IS(vrcv(types[1]), types[1]);
        else
            return rcv(-1);
        return types[1];
    }
}

/* What came is the first of its sender and type that is still expected. */
static void compare(int type, struct planned *mine, int *left)
{
    static int data[LENGTH_MAX];
    char name[33];
    int i, at, from, told;
    uint32_t number;

    CHECK_IS(rcvinfo(NULL, &told, name, &from), PvmOk);
    CHECK(!strcmp(name, "chance") && told == type);
    for (at = 0; at < *left && (mine[at].from != from || mine[at].type != type); at++)
        continue;
    CHECK(at < *left);
    CHECK_IS(getnint((int *)&number, 1), PvmOk);
    CHECK_IS(number, mine[at].first);
    CHECK_IS(getnint(data, mine[at].length), PvmOk);
    for (i = 0; i < mine[at].length; i++)
        CHECK((uint32_t)data[i] == item(number, i));
    CHECK_IS(getnint(&told, 1), PvmNoData);
    memmove(mine + at, mine + at + 1, (size_t)(--*left - at) * sizeof *mine);
}

static int one(int count, int rounds, int seed)
{
    static struct planned mine[COUNT_MAX * SENDS_MAX];
    uint64_t state = (uint64_t)seed, own;
    int round, left, me = enroll("chance");

    CHECK(me >= 0 && me < count);
    own = (uint64_t)(seed * 31 + me);
    CHECK_IS(barrier("chance", count), PvmOk);
    for (round = 0; round < rounds; round++) {
        left = plan(&state, me, count, mine);
        while (left > 0) {
            int wanted = mine[draw(&own) % (uint32_t)left].type;

            compare(take(&own, &wanted), mine, &left);
        }
        CHECK_IS(barrier("chance", count), PvmOk);
        CHECK_IS(probe(-1), PvmNoMsg);
        CHECK_IS(barrier("chance again", count), PvmOk); /* nobody has begun the next round before that */
    }
    CHECK_IS(leave(), PvmOk);
    return 0;
}

int main(int argc, char **argv)
{
    int i, end, failed = 0, count = argc > 1 ? atoi(argv[1]) : 5, rounds = argc > 2 ? atoi(argv[2]) : 200;
    int seed = argc > 3 ? atoi(argv[3]) : (int)getpid();

    CHECK(count >= 1 && count <= COUNT_MAX);
    if (argc > 4)
        return one(count, rounds, seed);
    printf("seed %d\n", seed);
    fflush(stdout);
    for (i = 0; i < count; i++) {
        if (fork() == 0)
            exit(one(count, rounds, seed));
    }
    while (wait(&end) > 0)
        failed += end != 0;
    CHECK_IS(failed, 0);
    return 0;
}
