/* echo [COUNT [SIZE...]], echo segments: what a message between two hosts costs its sender and its receiver together, in
   microseconds: one byte, 64 KiB, by a direct route, one message behind the other. After a pause of a few milliseconds it would cost
   20 to 175 us more, as long as an idle processor takes to wake, which differs from run to run. Start it on one of two
   hosts of a machine; the hosts share a computer, and so a clock. JSON on a line: medians of COUNT messages (200), and
   by how much a timer of 250 us goes off late in the mean.

   With `segments`, the times in microseconds after which the acknowledgement of a segment of TCP is handled that goes
   alone: the first one of a write of each of three sizes, while the receiver waits for it, by a task that a message has
   just woken. What comes for a connection while its program writes is put aside until the write is over, so a long
   write hears of its first segment late. The middles of the tenths of 100 such times each.

   With SIZEs a line for each: the median time of a message of so many bytes and of an answer of 8 bytes, in seconds, by
   the default route, through the daemons. On a machine of one host both tasks are on that host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include "pvm3.h"

#define SEGMENT 1448
#define LONE 100
#define SIZES 3
#define ROOM 2000
#define LONG 65536
#define LONGEST (1 << 20)
#define MOST 1000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void must(int code, const char *what)
{
    if (code < 0) {
        fprintf(stderr, "echo: %s: %d\n", what, code);
        exit(1);
    }
}

static int order(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Sends `count` messages of `size` bytes; the receiver answers each with the time at which it had it. The median time
   until then, or until the answer is here. */
static double median(int to, int size, int count, int there_and_back)
{
    static double message[LONGEST / 8], times[MOST];
    for (int i = 0; i < count; i++) {
        int tid, tag, bytes;
        double began = now();
        must(pvm_psend(to, 1, message, size, PVM_BYTE), "pvm_psend");
        double taken;
        must(pvm_precv(to, 2, &taken, 1, PVM_DOUBLE, &tid, &tag, &bytes), "pvm_precv");
        times[i] = (there_and_back ? now() : taken) - began;
    }
    qsort(times, (size_t)count, sizeof *times, order);
    return times[count / 2];
}

static void answer(int to)
{
    static double message[LONGEST / 8];
    for (;;) {
        int tid, tag, bytes;
        must(pvm_precv(to, 1, message, LONGEST, PVM_BYTE, &tid, &tag, &bytes), "pvm_precv");
        double taken = now();
        if (bytes == 0)
            return;
        must(pvm_psend(to, 2, &taken, 1, PVM_DOUBLE), "pvm_psend");
    }
}

/* The other host; this one if there is no other. */
static struct pvmhostinfo *other_host(void)
{
    struct pvmhostinfo *hosts;
    int count, arches, other = 0, me = pvm_tidtohost(pvm_mytid());
    must(pvm_config(&count, &arches, &hosts), "pvm_config");
    while (other + 1 < count && hosts[other].hi_tid == me)
        other++;
    return &hosts[other];
}

static void by_daemons(int partner, int count, char **sizes)
{
    for (; *sizes; sizes++) {
        int size = atoi(*sizes);
        if (size < 1 || size > LONGEST)
            continue;
        median(partner, size, 1, 1); /* memory is there afterwards */
        printf("{\"bytes\": %d, \"seconds\": %.9f}\n", size, median(partner, size, count, 1) / 1e6);
        fflush(stdout);
    }
}

/* By how many microseconds a timer of 250 us goes off late, in the mean of 1000. */
static double lateness(void)
{
    double late = 0;
    for (int i = 0; i < 1000; i++) {
        struct timespec due;
        clock_gettime(CLOCK_MONOTONIC, &due);
        due.tv_nsec += 250000;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        double at = due.tv_sec * 1e6 + due.tv_nsec / 1e3;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        late += now() - at;
    }
    return late / 1000;
}

/* Takes connections that have room for one segment, as many as LONE for each size, whose port is told to `to`, and lets
   it write to each. It is woken by the segment, as a task that waits for messages is, but reads none. */
static void take_segments(int to)
{
    static int taken[SIZES * LONE];
    int door = socket(AF_INET, SOCK_STREAM, 0), room = ROOM, tid, tag, bytes;
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t length = sizeof own;
    must(setsockopt(door, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), "SO_RCVBUF");
    must(bind(door, (struct sockaddr *)&own, sizeof own) | listen(door, 1), "listen");
    must(getsockname(door, (struct sockaddr *)&own, &length), "getsockname");
    int port = ntohs(own.sin_port);
    must(pvm_psend(to, 3, &port, 1, PVM_INT), "pvm_psend");
    for (int i = 0; i < SIZES * LONE; i++) {
        must(taken[i] = accept(door, NULL, NULL), "accept");
        must(pvm_precv(to, 4, &port, 1, PVM_INT, &tid, &tag, &bytes), "pvm_precv");
        usleep(1000);
        must(pvm_psend(to, 5, &port, 1, PVM_INT), "pvm_psend");
        struct pollfd come = {.fd = taken[i], .events = POLLIN};
        must(poll(&come, 1, 10000), "poll");
    }
    for (int i = 0; i < SIZES * LONE; i++)
        close(taken[i]);
    close(door);
}

/* The microseconds until the first segment of a write is acknowledged that goes alone over this new connection. A message
   of `partner` wakes this task before it writes. */
static double alone(int partner, int connection, const char *data, int size)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    int word = 0, tid, tag, bytes;
    must(pvm_psend(partner, 4, &word, 1, PVM_INT), "pvm_psend");
    must(pvm_precv(partner, 5, &word, 1, PVM_INT, &tid, &tag, &bytes), "pvm_precv");
    must((int)send(connection, data, (size_t)size, MSG_DONTWAIT), "send");
    usleep(5000);
    must(getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &length), "TCP_INFO");
    return info.tcpi_delivery_rate > 0 ? 1e6 * info.tcpi_snd_mss / (double)info.tcpi_delivery_rate : 0;
}

/* These times for LONE writes of `size` bytes each, in order. */
static void lone_segments(int partner, const struct sockaddr *there, int size, double *times)
{
    static char data[LONGEST];
    memset(data, 1, sizeof data);
    for (int i = 0; i < LONE; i++) {
        int connection = socket(AF_INET, SOCK_STREAM, 0), room = LONGEST;
        must(setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &room, sizeof room), "SO_SNDBUF");
        must(connect(connection, there, sizeof(struct sockaddr_in)), "connect");
        times[i] = alone(partner, connection, data + i % (LONGEST / LONG) * LONG, size);
        close(connection);
    }
    qsort(times, LONE, sizeof *times, order);
}

/* Tells for each size the times in the middle of each tenth of them. */
static void by_segments(int partner, const char *host)
{
    static const int sizes[SIZES] = {SEGMENT, 16384, LONG};
    double times[LONE];
    int port, tid, tag, bytes;
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    must(pvm_precv(partner, 3, &port, 1, PVM_INT, &tid, &tag, &bytes), "pvm_precv");
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        must(-1, host);
    ((struct sockaddr_in *)found->ai_addr)->sin_port = htons((unsigned short)port);
    for (int size = 0; size < SIZES; size++) {
        lone_segments(partner, found->ai_addr, sizes[size], times);
        printf("%s\"%d\": [", size ? ", " : "{\"alone\": {", sizes[size]);
        for (int tenth = 0; tenth < 10; tenth++)
            printf("%s%.1f", tenth ? ", " : "", times[(2 * tenth + 1) * LONE / 20]);
        printf("]");
    }
    printf("}}\n");
    freeaddrinfo(found);
}

static void by_a_direct_route(int partner, int count)
{
    median(partner, 1, 20, 0); /* the route is there afterwards */
    double short_us = median(partner, 1, count, 0), long_us = median(partner, LONG, count, 0);
    printf("{\"short_us\": %.2f, \"long_us\": %.2f, \"bytes\": %d, \"late_us\": %.2f}\n", short_us, long_us, LONG,
           lateness());
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 200, partner, parent = pvm_parent(), daemons = argc > 2;
    int segments = argc > 1 && strcmp(argv[1], "segments") == 0;
    pvm_setopt(PvmRoute, daemons ? PvmDontRoute : PvmRouteDirect);
    if (count < 1 || count > MOST)
        count = 200;
    if (parent >= 0) {
        if (segments)
            take_segments(parent);
        answer(parent);
        pvm_exit();
        return 0;
    }
    struct pvmhostinfo *other = other_host();
    if (!daemons && pvm_tidtohost(pvm_mytid()) == other->hi_tid) {
        fprintf(stderr, "echo: the machine has one host\n");
        return 1;
    }
    if (pvm_spawn(argv[0], argv + 1, PvmTaskHost, other->hi_name, 1, &partner) != 1) {
        fprintf(stderr, "echo: %s was not started on %s\n", argv[0], other->hi_name);
        return 1;
    }
    if (daemons)
        by_daemons(partner, count, argv + 2);
    else if (segments)
        by_segments(partner, other->hi_name);
    else
        by_a_direct_route(partner, count);
    must(pvm_psend(partner, 1, argv, 0, PVM_BYTE), "pvm_psend"); /* the end */
    pvm_exit();
    return 0;
}
