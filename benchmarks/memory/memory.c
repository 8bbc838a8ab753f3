/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * memory: reading and writing another task's memory beside sending messages to it, and what views, memory
 * for sending and probe points cost and save.
 *
 *     memory [-t SECONDS] [-n READERS] [-w HOST]
 *
 * One task exposes memory and does nothing else; another one on the same host (or the owner on HOST) gets and
 * puts, then READERS do so at the same time (seed 004: one reader, several readers). Messages of the same
 * lengths go one way in a ping-pong, packed and unpacked, or sent from where they were made and viewed where
 * they lie. Each case is repeated in batches for SECONDS (0.3), the median of the batches counts. Prints lines, tab-separated:
 * what, bytes, us, MB/s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "neopvm.h"
#include "pvm3.h"

enum { BYTES = 1000000, NUMBER = 1, READERS_MAX = 64, BATCHES = 2000 };
enum { TELL = 1, PING = 2, PONG = 3, GO = 4, DONE = 5, END = 9 };
enum { PACKED, UNCOPIED };

static double seconds = 0.3;
static char data[BYTES];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int status, const char *what)
{
    if (status < 0) {
        fprintf(stderr, "memory: %s: %s\n", what, neopvm_text(status));
        exit(1);
    }
}
#define OK(call) must((call), #call)

static void send_ints(int to, int tag, int a, int b, int c)
{
    int ints[3] = {a, b, c};
    OK(pvm_initsend(PvmDataRaw));
    OK(pvm_pkint(ints, 3, 1));
    OK(pvm_send(to, tag));
}

static void receive_ints(int from, int tag, int *ints)
{
    OK(pvm_recv(from, tag));
    OK(pvm_upkint(ints, 3, 1));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct work { int kind, owner, partner, bytes, mode; };
enum { GET, PUT, PINGPONG, CALLS };

static void send_data(int to, int tag, int bytes, int mode)
{
    neopvm_buffer buffer;
    void *items;
    OK(neopvm_new(NEOPVM_RAW, &buffer));
    if (mode == UNCOPIED) {
        /* The program makes its data there; here one byte of each page stands for that. */
        OK(neopvm_allocate(buffer, NEOPVM_BYTE, (uint64_t)bytes, &items));
        for (int i = 0; i < bytes; i += 4096)
            ((char *)items)[i] = 1;
    } else {
        OK(neopvm_pack(buffer, NEOPVM_BYTE, data, (uint64_t)bytes, 1));
    }
    OK(neopvm_send(buffer, to, tag, NEOPVM_CURRENT_CONTEXT));
    OK(neopvm_free(buffer));
}

static void receive_data(int from, int tag, int bytes, int mode)
{
    static volatile char seen;
    neopvm_buffer buffer;
    const void *items;
    OK(neopvm_receive(from, tag, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer));
    if (mode == UNCOPIED) {
        OK(neopvm_view_items(buffer, NEOPVM_BYTE, (uint64_t)bytes, &items));
        for (int i = 0; i < bytes; i += 4096)
            seen = ((const char *)items)[i];
    } else {
        OK(neopvm_unpack(buffer, NEOPVM_BYTE, data, (uint64_t)bytes, 1));
    }
    (void)seen;
    OK(neopvm_free(buffer));
}

static void do_once(const struct work *w)
{
    switch (w->kind) {
    case GET:
        OK(neopvm_get_memory(w->owner, NUMBER, 0, data, (uint64_t)w->bytes));
        break;
    case PUT:
        OK(neopvm_put_memory(w->owner, NUMBER, 0, data, (uint64_t)w->bytes));
        break;
    case PINGPONG:
        send_data(w->partner, PING, w->bytes, w->mode);
        receive_data(w->partner, PONG, w->bytes, w->mode);
        break;
    default:
        OK(pvm_getsbuf());
    }
}

/* Microseconds for one, the median of batches. */
static double measure(const struct work *w)
{
    static double batches[BATCHES];
    int count = 0, each = 1;
    double end, start, took;
    for (;;) {
        start = now();
        for (int i = 0; i < each; i++)
            do_once(w);
        took = now() - start;
        if (took > 0.0005 || each >= 1 << 20)
            break;
        each *= 2;
    }
    end = now() + seconds;
    while (count < BATCHES && (now() < end || count < 3)) {
        start = now();
        for (int i = 0; i < each; i++)
            do_once(w);
        batches[count++] = (now() - start) / each * 1e6;
    }
    qsort(batches, (size_t)count, sizeof batches[0], ascending);
    return batches[count / 2];
}

static void show(const char *what, int bytes, double us)
{
    printf("%s\t%d\t%.4f\t%.0f\n", what, bytes, us, bytes / us);
    fflush(stdout);
}

/* The owner: exposes, then answers pings until told to end. */
static void own(int master)
{
    void *memory;
    int ints[3];
    OK(neopvm_expose(NUMBER, BYTES, NEOPVM_MAY_WRITE, &memory));
    memset(memory, 7, BYTES);
    send_ints(master, TELL, 0, 0, 0);
    for (;;) {
        receive_ints(master, GO, ints);
        if (ints[0] == END)
            return;
        /* So many pings of this length and mode, then the next game. */
        for (;;) {
            neopvm_buffer stop = 0;
            OK(neopvm_receive(master, TELL, NEOPVM_CURRENT_CONTEXT, 0, &stop));
            if (stop) {
                OK(neopvm_free(stop));
                break;
            }
            OK(neopvm_receive(master, PING, NEOPVM_CURRENT_CONTEXT, 1000000, &stop));
            if (!stop)
                continue;
            if (ints[2] == UNCOPIED) {
                const void *items;
                OK(neopvm_view_items(stop, NEOPVM_BYTE, (uint64_t)ints[1], &items));
            } else {
                OK(neopvm_unpack(stop, NEOPVM_BYTE, data, (uint64_t)ints[1], 1));
            }
            OK(neopvm_free(stop));
            send_data(master, PONG, ints[1], ints[2]);
        }
        send_ints(master, DONE, 0, 0, 0);
    }
}

/* One of several readers. */
static void read_along(int master)
{
    int ints[3], owner;
    for (;;) {
        struct work w = {GET, 0, 0, 0, 0};
        receive_ints(master, GO, ints);
        if (ints[0] == END)
            return;
        owner = ints[0];
        w.owner = owner, w.bytes = ints[1];
        send_ints(master, DONE, (int)(measure(&w) * 1000), 0, 0);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1000, 10000, 100000, 1000000};
    int readers = 2, option, owner, many[READERS_MAX], ints[3], me, parent;
    const char *host = ".";
    char *as_reader[] = {"-r", 0};

    me = pvm_mytid();
    OK(me);
    parent = pvm_parent();
    if (parent > 0) {
        if (argc > 1 && !strcmp(argv[1], "-r"))
            read_along(parent);
        else
            own(parent);
        pvm_exit();
        return 0;
    }
    while ((option = getopt(argc, argv, "t:n:w:")) != -1) {
        switch (option) {
        case 't': seconds = atof(optarg); break;
        case 'n': readers = atoi(optarg); break;
        case 'w': host = optarg; break;
        default: return 2;
        }
    }
    if (readers < 1 || readers > READERS_MAX)
        return 2;
    if (pvm_spawn(argv[0], 0, PvmTaskHost, (char *)host, 1, &owner) != 1
        || pvm_spawn(argv[0], as_reader, PvmTaskDefault, "", readers, many) != readers) {
        fprintf(stderr, "memory: no tasks\n");
        return 1;
    }
    receive_ints(owner, TELL, ints);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct work w = {GET, owner, owner, sizes[i], PACKED};
        show("get", sizes[i], measure(&w));
        w.kind = PUT;
        show("put", sizes[i], measure(&w));
        w.kind = PINGPONG;
        for (w.mode = PACKED; w.mode <= UNCOPIED; w.mode++) {
            send_ints(owner, GO, 0, sizes[i], w.mode);
            show(w.mode == PACKED ? "message" : "viewed", sizes[i], measure(&w) / 2);
            send_ints(owner, TELL, 0, 0, 0);
            receive_ints(owner, DONE, ints);
        }
    }
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double sum = 0;
        for (int r = 0; r < readers; r++)
            send_ints(many[r], GO, owner, sizes[i], 0);
        for (int r = 0; r < readers; r++) {
            receive_ints(many[r], DONE, ints);
            sum += ints[0] / 1000.0;
        }
        show("get by several", sizes[i], sum / readers);
    }
    {
        struct work w = {CALLS, 0, 0, 0, 0};
        struct neopvm_record some[1024];
        uint64_t count, dropped;
        show("a call, probes off", 0, measure(&w));
        OK(neopvm_set_probes(me, 1));
        /* Room for all: read before the ring is full. */
        double spent = 0;
        int calls = 0;
        for (int round = 0; round < 200; round++) {
            double start = now();
            for (int i = 0; i < 4000; i++)
                do_once(&w);
            spent += now() - start;
            calls += 4000;
            do
                OK(neopvm_read_records(me, some, 1024, &count, &dropped));
            while (count);
        }
        OK(neopvm_set_probes(me, 0));
        show(dropped ? "a call, probes on (some dropped)" : "a call, probes on", 0,
             spent / calls * 1e6);
    }
    for (int r = 0; r < readers; r++)
        send_ints(many[r], GO, END, 0, 0);
    send_ints(owner, GO, END, 0, 0);
    pvm_exit();
    return 0;
}
