/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Times messages of ints that a partner sends back, and what packing costs: the C side of Timing.java.
 *
 *   timing echo                              the partner; started by one of the others
 *   timing message PROGRAM WHERE MB...       ten times each: send, receive, verify, total in milliseconds
 *   timing loop PROGRAM WHERE ROUNDS         one int there and back: microseconds a round
 *   timing pack ROUNDS                       1 MiB of ints packed, and unpacked: microseconds each
 *   timing count                             a billion additions: seconds
 *
 * Compiled with IDLE_THREAD it has a second thread, which does nothing: as in every Java program, the library's locks
 * are then real ones.
 */
#define _POSIX_C_SOURCE 200112L
#include <neopvm.h>
#ifdef IDLE_THREAD
#include <pthread.h>
#include <unistd.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATA = 1, END = 2, WARM = 5, TIMES = 10, BATCHES = 9, PACKED = 262144 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void check(int status, const char *what)
{
    if (status < 0) {
        fprintf(stderr, "timing: %s: %s\n", what, neopvm_text(status));
        exit(1);
    }
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "timing: no memory\n");
        exit(1);
    }
    return p;
}

static void send_ints(int tid, int tag, int encoding, const int *items, size_t count)
{
    neopvm_buffer buffer;
    check(neopvm_new(encoding, &buffer), "a new message");
    check(neopvm_pack(buffer, NEOPVM_INT, items, count, 1), "packing");
    check(neopvm_send(buffer, tid, tag, NEOPVM_CURRENT_CONTEXT), "sending");
    check(neopvm_free(buffer), "freeing");
}

static neopvm_buffer receive(struct neopvm_info *info)
{
    neopvm_buffer buffer;
    check(neopvm_receive(NEOPVM_ANY, NEOPVM_ANY, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer), "receiving");
    check(neopvm_info(buffer, info), "the head of a message");
    return buffer;
}

static void echo(void)
{
    int *items = NULL;
    size_t room = 0;
    for (;;) {
        struct neopvm_info info;
        neopvm_buffer buffer = receive(&info);
        if (info.tag == END)
            return;
        size_t count = info.bytes / sizeof *items;
        if (count > room) {
            free(items);
            items = memory(info.bytes);
            room = count;
        }
        check(neopvm_unpack(buffer, NEOPVM_INT, items, count, 1), "unpacking");
        check(neopvm_free(buffer), "freeing");
        send_ints(info.source, DATA, info.encoding, items, count);
    }
}

static int partner(const char *program, const char *where)
{
    const char *arguments[] = {"echo", NULL};
    int32_t tid = 0, started = 0;
    check(neopvm_spawn(program, arguments, NEOPVM_ON_HOST, where, 1, &tid, &started), "starting the partner");
    check(started == 1 ? 0 : tid, "starting the partner");
    return tid;
}

struct lap {
    double send, receive, verify, total;
};

static struct lap once(int tid, int *out, int *in, size_t count)
{
    struct neopvm_info info;
    for (size_t i = 0; i < count; i++)
        out[i] = (int)i;
    double start = now_ms();
    send_ints(tid, DATA, NEOPVM_RAW, out, count);
    double sent = now_ms();
    neopvm_buffer buffer = receive(&info);
    check(neopvm_unpack(buffer, NEOPVM_INT, in, count, 1), "unpacking");
    double received = now_ms();
    for (size_t i = 0; i < count; i++) {
        if (in[i] != out[i]) {
            fprintf(stderr, "timing: other data at index %zu\n", i);
            exit(1);
        }
    }
    double stop = now_ms();
    check(neopvm_free(buffer), "freeing");
    return (struct lap){sent - start, received - sent, stop - received, stop - start};
}

static int by_total(const void *a, const void *b)
{
    double x = ((const struct lap *)a)->total, y = ((const struct lap *)b)->total;
    return (x > y) - (x < y);
}

static void message(int tid, int megabytes)
{
    size_t count = (size_t)megabytes * 250000;
    int *out = memory(count * sizeof *out), *in = memory(count * sizeof *in);
    struct lap laps[TIMES], sum = {0, 0, 0, 0};
    for (int i = 0; i < WARM; i++)
        once(tid, out, in, count);
    for (int i = 0; i < TIMES; i++)
        laps[i] = once(tid, out, in, count);
    qsort(laps, TIMES, sizeof *laps, by_total);
    for (int i = 1; i < TIMES - 1; i++) {
        sum.send += laps[i].send / (TIMES - 2);
        sum.receive += laps[i].receive / (TIMES - 2);
        sum.verify += laps[i].verify / (TIMES - 2);
        sum.total += laps[i].total / (TIMES - 2);
    }
    printf("%d %.3f %.3f %.3f %.3f\n", megabytes, sum.send, sum.receive, sum.verify, sum.total);
    free(out);
    free(in);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of batches, in microseconds for each of `rounds`. */
static double batches(void (*work)(int, int), int tid, int rounds)
{
    double times[BATCHES];
    work(tid, rounds);
    for (int i = 0; i < BATCHES; i++) {
        double start = now_ms();
        work(tid, rounds);
        times[i] = (now_ms() - start) * 1e3 / rounds;
    }
    qsort(times, BATCHES, sizeof *times, by_value);
    return times[BATCHES / 2];
}

static void there_and_back(int tid, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int item = i, back = 0;
        struct neopvm_info info;
        send_ints(tid, DATA, NEOPVM_DEFAULT, &item, 1);
        neopvm_buffer buffer = receive(&info);
        check(neopvm_unpack(buffer, NEOPVM_INT, &back, 1, 1), "unpacking");
        if (back != item) {
            fprintf(stderr, "timing: another number\n");
            exit(1);
        }
        check(neopvm_free(buffer), "freeing");
    }
}

static int items[PACKED];
static neopvm_buffer packed;

static void pack(int unused, int rounds)
{
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        neopvm_buffer buffer;
        check(neopvm_new(NEOPVM_DEFAULT, &buffer), "a new message");
        check(neopvm_pack(buffer, NEOPVM_INT, items, PACKED, 1), "packing");
        check(neopvm_free(buffer), "freeing");
    }
}

static void unpack(int unused, int rounds)
{
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        check(neopvm_rewind(packed), "rewinding");
        check(neopvm_unpack(packed, NEOPVM_INT, items, PACKED, 1), "unpacking");
    }
}

static void count(void)
{
    int i = 0;
    double start = now_ms();
    for (int loop = 0; loop < 1000000000; loop++)
        i = (int)((unsigned)i + (unsigned)loop);
    double stop = now_ms();
    printf("%.6f %d\n", (stop - start) / 1e3, i);
}

#ifdef IDLE_THREAD
static void *idle(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void start_idle_thread(void)
{
    pthread_t thread;
    check(-pthread_create(&thread, NULL, idle, NULL), "a second thread");
}
#else
static void start_idle_thread(void)
{
}
#endif

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int32_t own, parent;
    start_idle_thread();
    if (!strcmp(mode, "count")) {
        count();
        return 0;
    }
    check(neopvm_enrol(&own, &parent), "enrolling");
    if (!strcmp(mode, "echo")) {
        echo();
    } else if (!strcmp(mode, "pack") && argc == 3) {
        struct neopvm_info info;
        /* Written, so that they are memory: what was never written is one page of zeros that stays in the cache. */
        for (int i = 0; i < PACKED; i++)
            items[i] = i;
        printf("pack %.2f\n", batches(pack, 0, atoi(argv[2])));
        send_ints(own, DATA, NEOPVM_DEFAULT, items, PACKED);
        packed = receive(&info);
        printf("unpack %.2f\n", batches(unpack, 0, atoi(argv[2])));
    } else if (argc > 4) {
        int tid = partner(argv[2], argv[3]);
        if (!strcmp(mode, "loop"))
            printf("loop %.3f\n", batches(there_and_back, tid, atoi(argv[4])));
        for (int i = 4; i < argc && !strcmp(mode, "message"); i++)
            message(tid, atoi(argv[i]));
        send_ints(tid, END, NEOPVM_DEFAULT, &own, 1);
    } else {
        fprintf(stderr, "usage: see the head of timing.c\n");
        return 2;
    }
    neopvm_leave();
    return 0;
}
