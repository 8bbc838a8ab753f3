/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * network SECONDS SIZE...
 *
 * The network itself, between the hosts of two tasks: datagrams of SIZE bytes (4 at least) there and back ("UDP echo"),
 * and a stream of messages of 50,000 bytes whose bandwidth the receiver measures ("TCP stream"), with windows of 50,000
 * bytes and with those that the kernel gives ("TCP stream, kernel's window"). Each takes about SECONDS. The tasks only
 * tell each other where they are by messages; two tasks of one host meet on the loopback device. A datagram that does
 * not come back within 0.2 s is sent again and counted as lost; its time is not told.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "calls/calls.h"
#include "measure.h"
#include "sockets.h"

enum { ADDRESSES_MAX = 16, MESSAGE = 50000, WARM_UP = 10, ECHOES_MIN = 20, ECHOES_MAX = 1000, BURSTS = 10, LOST_MAX = 50 };
enum { STEP_MS = 200 };

/* Where the second task waits; host byte order. */
struct place {
    int name[2], datagrams, narrow, wide, count, addresses[ADDRESSES_MAX];
};

/* Two hosts of one name are one host. */
static void name_host(int name[2])
{
    char text[256] = "";
    unsigned hash = 5381;
    int i;

    gethostname(text, sizeof text - 1);
    for (i = 0; text[i]; i++)
        hash = hash * 33 + (unsigned char)text[i];
    name[0] = (int)hash;
    name[1] = i;
}

static void find_addresses(struct place *here)
{
    struct ifaddrs *all, *one;

    sockets_check(getifaddrs(&all), "getifaddrs");
    here->count = 0;
    for (one = all; one && here->count < ADDRESSES_MAX; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && !(one->ifa_flags & IFF_LOOPBACK))
            here->addresses[here->count++] = (int)ntohl(((struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr);
    freeifaddrs(all);
}

/* ---- The second task ---- */

/* Sends back what comes until the first task says on `line` that it is enough. */
static void give_back(int datagrams, int line)
{
    static char data[65536];
    struct sockaddr_in from;
    socklen_t length;
    ssize_t n;
    char word;

    sockets_set_patience(datagrams, STEP_MS / 2);
    for (;;) {
        length = sizeof from;
        n = recvfrom(datagrams, data, sizeof data, 0, (struct sockaddr *)&from, &length);
        if (n >= 0)
            sendto(datagrams, data, (size_t)n, 0, (struct sockaddr *)&from, length);
        else if (recv(line, &word, 1, MSG_DONTWAIT) >= 0)
            return;
    }
}

/* Sends as many messages as it is asked for, until it is asked for none. */
static void pour(int s)
{
    int *data = measure_filled(MESSAGE), i;
    uint32_t count;

    for (;;) {
        sockets_read(s, &count, sizeof count);
        count = ntohl(count);
        if (!count)
            break;
        for (i = 0; i < (int)count; i++)
            sockets_write(s, data, MESSAGE);
    }
    free(data);
}

static void serve(void)
{
    struct place here;
    int datagrams, narrow, wide, line;

    memset(&here, 0, sizeof here);
    datagrams = sockets_waiting(SOCK_DGRAM, 0, &here.datagrams);
    narrow = sockets_waiting(SOCK_STREAM, MESSAGE, &here.narrow);
    wide = sockets_waiting(SOCK_STREAM, 0, &here.wide);
    name_host(here.name);
    find_addresses(&here);
    calls_send(ENCODED, 0, &here, sizeof here);
    line = sockets_accepted(wide);
    give_back(datagrams, line);
    pour(line);
    pour(sockets_accepted(narrow));
}

/* ---- The first task ---- */

/* One datagram there and back in ns, negative if it was lost. */
static double round_trip(int s, int *data, int bytes, int number)
{
    static char back[65536];
    double begin = measure_now_ns();
    ssize_t n;

    data[0] = number;
    if (send(s, data, (size_t)bytes, 0) != bytes)
        return -1;
    do /* what was given up may still come */
        n = recv(s, back, sizeof back, 0);
    while (n >= 4 && memcmp(back, data, 4));
    return n == bytes ? measure_now_ns() - begin : -1;
}

static void echo(int s, double seconds, int bytes)
{
    static double times[ECHOES_MAX];
    static int number;
    int *data = measure_filled(bytes), n = ECHOES_MAX, i, lost = 0;
    double one = 0;

    for (i = 0; i < WARM_UP; i++)
        one = round_trip(s, data, bytes, number++);
    if (one > 0 && one * n > 1e9 * seconds)
        n = (int)(1e9 * seconds / one) < ECHOES_MIN ? ECHOES_MIN : (int)(1e9 * seconds / one);
    for (i = 0; i < n && lost <= LOST_MAX;) {
        times[i] = round_trip(s, data, bytes, number++);
        if (times[i] >= 0)
            i++;
        else
            lost++;
    }
    if (lost)
        fprintf(stderr, "network: %d datagrams of %d bytes were lost\n", lost, bytes);
    if (i)
        measure_row("UDP echo", bytes, "ns", times, i);
    free(data);
}

/* So many messages in MB/s, from the first bytes that come to the last. */
static double burst(int s, char *room, uint32_t count)
{
    uint32_t word = htonl(count);
    size_t left = (size_t)count * MESSAGE, timed;
    double begin;
    ssize_t n;

    sockets_write(s, &word, sizeof word);
    sockets_read(s, room, 1);
    begin = measure_now_ns();
    for (timed = --left; left; left -= (size_t)n) {
        n = recv(s, room, left < MESSAGE ? left : MESSAGE, 0);
        if (n <= 0)
            sockets_fail("the stream ended");
    }
    return 1e3 * (double)timed / (measure_now_ns() - begin);
}

static void stream(int s, double seconds, const char *test)
{
    static char room[MESSAGE];
    double rates[BURSTS], rate;
    uint32_t end = 0;
    int i, count = 40;

    rate = burst(s, room, (uint32_t)count);
    if (1e6 * rate * seconds / BURSTS / MESSAGE > count)
        count = (int)(1e6 * rate * seconds / BURSTS / MESSAGE);
    for (i = 0; i < BURSTS; i++)
        rates[i] = burst(s, room, (uint32_t)count);
    measure_row(test, MESSAGE, "MB/s", rates, BURSTS);
    sockets_write(s, &end, sizeof end);
    close(s);
}

/* The first of the other's addresses that answers; its stream is open then. */
static unsigned find(const struct place *there, int *line)
{
    int name[2], i;

    name_host(name);
    if (!memcmp(name, there->name, sizeof name)) {
        *line = sockets_connected(INADDR_LOOPBACK, there->wide, 0);
        if (*line >= 0)
            return INADDR_LOOPBACK;
    }
    for (i = 0; i < there->count && i < ADDRESSES_MAX; i++) {
        *line = sockets_connected((unsigned)there->addresses[i], there->wide, 0);
        if (*line >= 0)
            return (unsigned)there->addresses[i];
    }
    fprintf(stderr, "network: no IPv4 address of the other host answers\n");
    exit(1);
}

static void ask(double seconds, int argc, char **argv)
{
    struct place there;
    struct sockaddr_in to;
    unsigned address;
    int i, line, narrow, s = socket(AF_INET, SOCK_DGRAM, 0);

    sockets_check(s, "socket");
    calls_receive(ENCODED, 1, &there, sizeof there);
    address = find(&there, &line);
    to = sockets_at(address, there.datagrams);
    sockets_check(connect(s, (struct sockaddr *)&to, sizeof to), "connect");
    sockets_set_patience(s, STEP_MS);
    for (i = 0; i < argc; i++)
        echo(s, seconds, atoi(argv[i]) < 4 ? 4 : atoi(argv[i]));
    sockets_write(line, "", 1);
    stream(line, seconds, "TCP stream, kernel's window");
    narrow = sockets_connected(address, there.narrow, MESSAGE);
    if (narrow < 0)
        sockets_fail("the second stream");
    stream(narrow, seconds, "TCP stream");
}

int main(int argc, char **argv)
{
    int me;

    if (argc < 2) {
        fprintf(stderr, "network: see the head of network.c\n");
        return 2;
    }
    me = calls_begin(&argc, &argv, 2, DIRECT);
    if (me == 0) {
        measure_clock();
        ask(atof(argv[1]), argc - 2, argv + 2);
    } else {
        serve();
    }
    calls_end();
    return 0;
}
