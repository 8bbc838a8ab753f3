/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pingpong: how long a message takes from one task to another and back.
 *
 *     pingpong [-b BYTES] [-e raw|default|inplace] [-r direct|daemon] [-t SECONDS] [-w HOST]
 *
 * The master starts one partner, on its own host or on HOST, and plays with it in batches until the time is up. Packing and unpacking are
 * part of the time, as in a program: the receiver touches every byte and the last answer is compared with what
 * was sent. Prints one line, tab-separated: encoding, bytes, round trips, one way in us (median of the
 * batches), the fastest batch in us, GB/s.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "pvm3.h"

enum { SETUP = 1, PING = 2, PONG = 3, BATCHES_MAX = 4000 };

struct game { int encoding, ints, to, from, send_tag, receive_tag; int *data; const char *host; };

static double now_s(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void send(const struct game *g)
{
    pvm_initsend(g->encoding);
    pvm_pkint(g->data, g->ints, 1);
    pvm_send(g->to, g->send_tag);
}

static void receive(const struct game *g)
{
    pvm_recv(g->from, g->receive_tag);
    pvm_upkint(g->data, g->ints, 1);
}

/* The partner: told the game, then answers until a ping of length 0 (its first int negative) comes. */
static void answer(int master)
{
    struct game g = {.to = master, .from = master, .send_tag = PONG, .receive_tag = PING};

    pvm_recv(master, SETUP);
    pvm_upkint(&g.encoding, 1, 1);
    pvm_upkint(&g.ints, 1, 1);
    g.data = calloc((size_t)g.ints, sizeof *g.data);
    do {
        receive(&g);
        send(&g);
    } while (g.data[0] >= 0);
    free(g.data);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Plays for `seconds`; returns 0 if the last answer is what was sent. */
static int play(struct game *g, const char *name, double seconds)
{
    static double one_way_us[BATCHES_MAX];
    int batches = 0, i, trips = 0, wrong = 0;
    int batch = g->ints < 1000 ? 200 : g->ints < 100000 ? 20 : 4;
    double start_s, end_s;

    for (i = 0; i < g->ints; i++)
        g->data[i] = i & 0xffffff;
    for (i = 0; i < batch; i++) { /* the first ones set routes and memory up */
        send(g);
        receive(g);
    }
    end_s = now_s() + seconds;
    do {
        start_s = now_s();
        for (i = 0; i < batch; i++) {
            send(g);
            receive(g);
        }
        trips += batch;
        one_way_us[batches++] = 1e6 * (now_s() - start_s) / (2.0 * batch);
    } while (now_s() < end_s && batches < BATCHES_MAX);

    for (i = 0; i < g->ints; i++)
        wrong += g->data[i] != (i & 0xffffff);
    qsort(one_way_us, (size_t)batches, sizeof one_way_us[0], ascending);
    printf("%s\t%d\t%d\t%.3f\t%.3f\t%.3f%s\n", name, g->ints * 4, trips, one_way_us[batches / 2],
           one_way_us[0], 4e-3 * g->ints / one_way_us[batches / 2], wrong ? "\tDAMAGED" : "");
    g->data[0] = -1;
    send(g);
    receive(g);
    return wrong != 0;
}

static int lead(const char *program, struct game *g, const char *name, double seconds)
{
    char path[PATH_MAX];
    int tid = 0, status;

    if (!realpath(program, path))
        snprintf(path, sizeof path, "%s", program);
    if (pvm_spawn(path, NULL, PvmTaskHost, (char *)g->host, 1, &tid) != 1) {
        fprintf(stderr, "pingpong: cannot start the partner, code %d\n", tid);
        return 1;
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&g->encoding, 1, 1);
    pvm_pkint(&g->ints, 1, 1);
    pvm_send(tid, SETUP);
    g->to = g->from = tid;
    g->send_tag = PING;
    g->receive_tag = PONG;
    g->data = calloc((size_t)g->ints, sizeof *g->data);
    status = play(g, name, seconds);
    free(g->data);
    return status;
}

int main(int argc, char **argv)
{
    struct game g = {.encoding = PvmDataRaw, .ints = 2, .host = "."};
    const char *name = "raw";
    double seconds = 1;
    int option, route = PvmRouteDirect, status = 0;

    while ((option = getopt(argc, argv, "b:e:r:t:w:")) != -1) {
        if (option == 'b')
            g.ints = (atoi(optarg) + 3) / 4;
        else if (option == 'e')
            name = optarg;
        else if (option == 'r')
            route = strcmp(optarg, "daemon") == 0 ? PvmDontRoute : PvmRouteDirect;
        else if (option == 't')
            seconds = atof(optarg);
        else if (option == 'w')
            g.host = optarg;
        else
            return 2;
    }
    g.encoding = strcmp(name, "raw") == 0 ? PvmDataRaw
               : strcmp(name, "inplace") == 0 ? PvmDataInPlace : PvmDataDefault;
    if (g.ints < 1 || pvm_mytid() < 0)
        return 1;
    pvm_setopt(PvmRoute, route);
    if (pvm_parent() > 0)
        answer(pvm_parent());
    else
        status = lead(argv[0], &g, name, seconds);
    pvm_exit();
    return status;
}
