/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What messages, sums, broadcasts and barriers cost by the calls of an interface and by the machine's own calls, in the
 * same processes and in turns, batch by batch: whatever else the computer does, and however the processes sit on its
 * cores, meets both alike. Rank 0 prints lines
 *
 *     KEY WAY MEDIAN BEST RATIO
 *
 * in nanoseconds, over BATCHES batches. WAY is `own` (the interface) or one of pvm.c; RATIO is the median of what `own`
 * took in a batch over what WAY took in the batch beside it.
 *
 *     speed one-way | together | numbers | locks | handler | meet
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "speed.h"

enum { BATCHES = 61, WAYS_MOST = 8, TRIED = 4, LEAST = 2 };
/* A batch between two hosts, or beside other work, does not take longer by much: it has fewer turns then. */
static const double batch_ns = 10e6;

int me, all;
char *data;

static const struct way *ways[WAYS_MOST];
static int way_count;
static double took[WAYS_MOST][BATCHES];

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

void tell(const char *key, const char *way, double median, double best, double ratio)
{
    if (me == 0)
        printf("%s %s %.1f %.1f %.3f\n", key, way, median, best, ratio);
}

/* Each rank tells each other one its id, by the interface. */
static void learn(void)
{
    int list[RANKS_MOST], word[2] = {me, pvm_own_tid()};
    list[me] = word[1];
    for (int to = 0; to < all; to++) {
        memcpy(data, word, sizeof word);
        if (to != me)
            own.send_to(to, sizeof word);
    }
    for (int from = 0; from < all; from++) {
        if (from == me)
            continue;
        own.take(from, sizeof word);
        memcpy(word, data, sizeof word);
        list[word[0]] = word[1];
    }
    pvm_learn(list);
}

static void find_ways(void)
{
    char *names = strdup(beside);
    ways[way_count++] = &own;
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
        if (pvm_way(name))
            ways[way_count++] = pvm_way(name);
    free(names);
}

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(const double *values)
{
    double sorted[BATCHES];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, BATCHES, sizeof *sorted, compare);
    return sorted[BATCHES / 2];
}

static double least(const double *values)
{
    double best = values[0];
    for (int batch = 1; batch < BATCHES; batch++)
        best = values[batch] < best ? values[batch] : best;
    return best;
}

static void tell_way(const char *key, int at)
{
    double ratios[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++)
        ratios[batch] = took[0][batch] / took[at][batch];
    tell(key, ways[at]->name, median(took[at]), least(took[at]), median(ratios));
}

/* Rank 0's value, in all. */
static int agreed(int value)
{
    memcpy(data, &value, sizeof value);
    for (int to = 1; me == 0 && to < all; to++)
        own.send_to(to, sizeof value);
    if (me != 0)
        own.take(0, sizeof value);
    memcpy(&value, data, sizeof value);
    return value;
}

int affordable(void (*turn)(const struct way *, int), int what, int most)
{
    own.meet();
    turn(&own, what);
    double begin = now();
    for (int i = 0; i < TRIED; i++)
        turn(&own, what);
    double turns = batch_ns / ((now() - begin) / TRIED + 1);
    return agreed(turns >= most ? most : turns <= LEAST ? LEAST : (int)turns);
}

/* `turn` does what is measured once; `divisor` is how many of its parts one turn has. A batch has
 * `most` turns, or fewer. */
static void measure(const char *key, void (*turn)(const struct way *, int), int what, int most, double divisor)
{
    int used[WAYS_MOST], count = 0, turns = affordable(turn, what, most);
    for (int at = 0; at < way_count; at++)
        if (ways[at]->send_to && (strncmp(key, "one-way", 7) == 0 || ways[at]->sum))
            used[count++] = at;
    for (int step = 0; step < BATCHES * count; step++) {
        /* Every second time backwards, so that each way is as often behind each other one. */
        int batch = step / count, place = step % count, at = used[batch % 2 ? count - 1 - place : place];
        const struct way *way = ways[at];
        own.meet();
        if (way->prepare)
            way->prepare();
        turn(way, what);
        double begin = now();
        for (int i = 0; i < turns; i++)
            turn(way, what);
        took[at][batch] = (now() - begin) / turns / divisor;
    }
    for (int at = 0; at < count; at++)
        tell_way(key, used[at]);
}

static void turn_around(const struct way *way, int bytes)
{
    if (me == 0)
        way->send_to(1, bytes);
    way->take(1 - me, bytes);
    if (me == 1)
        way->send_to(0, bytes);
}

/* Half of a round trip between ranks 0 and 1. */
static void one_way(void)
{
    static const int sizes[] = {8, 1000, 10000, 100000, 1000000};
    for (int at = 0; at < 5; at++) {
        int bytes = sizes[at], turns = bytes <= 1000 ? 1000 : bytes <= 10000 ? 200 : 20;
        char key[32];
        snprintf(key, sizeof key, "one-way-%d", bytes);
        measure(key, turn_around, bytes, turns, 2);
    }
}

static void turn_barrier(const struct way *way, int what)
{
    (void)what;
    way->meet();
}

static void turn_sum(const struct way *way, int count)
{
    static double x[1000];
    way->sum(x, count);
}

/* The root changes, so nobody runs ahead. */
static void turn_broadcasts(const struct way *way, int bytes)
{
    for (int root = 0; root < all; root++)
        way->broadcast(root, bytes);
}

static void together(void)
{
    measure("barrier", turn_barrier, 0, 200, 1);
    measure("sum-1", turn_sum, 1, 200, 1);
    measure("sum-1000", turn_sum, 1000, 100, 1);
    measure("broadcasts-8", turn_broadcasts, 8, 50, 1);
    measure("broadcasts-10000", turn_broadcasts, 10000, 30, 1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "one-way";
    data = calloc(MOST, 1);
    enter(argc, argv);
    own.meet();
    if (strcmp(what, "one-way") == 0 || strcmp(what, "together") == 0) {
        find_ways();
        learn();
    }
    if (strcmp(what, "one-way") == 0)
        one_way();
    else if (strcmp(what, "together") == 0)
        together();
    else if (strcmp(what, "meet") != 0)
        extra(what);
    fflush(stdout);
    finish();
    return 0;
}
