/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * tcp: what a plain TCP connection does, to compare with.
 *
 *     tcp serve PORT
 *     tcp loop ADDRESS PORT BYTES SECONDS    BYTES there and back, again and again
 *     tcp stream ADDRESS PORT BYTES COUNT    COUNT times BYTES one way, then a byte back
 *
 * `loop` prints the bytes, round trips, one way in us (median of the batches) and GB/s; `stream` the bytes in all, the
 * seconds and MB/s. Nothing is encrypted, nothing is packed.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES_MAX = 4000 };

struct order { uint32_t bytes, echo; };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All of it, in or out; 0 at the end of the connection. */
static int whole(int fd, char *data, size_t bytes, int out)
{
    while (bytes > 0) {
        ssize_t n = out ? write(fd, data, bytes) : read(fd, data, bytes);
        if (n <= 0)
            return 0;
        data += n;
        bytes -= (size_t)n;
    }
    return 1;
}

static void serve_one(int fd)
{
    struct order order;
    char *data;

    if (!whole(fd, (char *)&order, sizeof order, 0))
        return;
    data = malloc(order.bytes);
    while (whole(fd, data, order.bytes, 0))
        if (order.echo && !whole(fd, data, order.bytes, 1))
            break;
    if (!order.echo)
        whole(fd, data, 1, 1);
    free(data);
}

static void no_delay(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int serve(int port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0), fd;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) < 0 || listen(listener, 8) < 0) {
        perror("tcp serve");
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        no_delay(fd);
        serve_one(fd);
        close(fd);
    }
    return 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int loop(int fd, char *data, size_t bytes, double seconds)
{
    static double one_way_us[BATCHES_MAX];
    int batch = bytes < 4000 ? 200 : bytes < 400000 ? 20 : 4, batches = 0, i;
    double start_s, end_s = 0, median;

    do {
        start_s = now_s();
        for (i = 0; i < batch; i++)
            if (!whole(fd, data, bytes, 1) || !whole(fd, data, bytes, 0))
                return 1;
        if (end_s == 0) /* the first batch warms up */
            end_s = now_s() + seconds;
        else
            one_way_us[batches++] = 1e6 * (now_s() - start_s) / (2.0 * batch);
    } while (batches == 0 || (now_s() < end_s && batches < BATCHES_MAX));
    qsort(one_way_us, (size_t)batches, sizeof one_way_us[0], ascending);
    median = one_way_us[batches / 2];
    printf("%zu\t%d\t%.3f\t%.3f\n", bytes, batches * batch, median, (double)bytes / median / 1000);
    return 0;
}

static int stream(int fd, char *data, size_t bytes, int count)
{
    double start_s = now_s(), spent_s;
    int i;

    for (i = 0; i < count; i++)
        if (!whole(fd, data, bytes, 1))
            return 1;
    shutdown(fd, SHUT_WR);
    if (!whole(fd, data, 1, 0))
        return 1;
    spent_s = now_s() - start_s;
    printf("%.0f\t%.4f\t%.3f\n", (double)bytes * count, spent_s, (double)bytes * count / spent_s / 1e6);
    return 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_in there = {.sin_family = AF_INET};
    struct order order;
    int fd;

    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        return serve(atoi(argv[2]));
    if (argc != 6)
        return 2;
    there.sin_port = htons((uint16_t)atoi(argv[3]));
    inet_pton(AF_INET, argv[2], &there.sin_addr);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&there, sizeof there) < 0) {
        perror("tcp");
        return 1;
    }
    no_delay(fd);
    order.bytes = (uint32_t)atoi(argv[4]);
    order.echo = strcmp(argv[1], "loop") == 0;
    whole(fd, (char *)&order, sizeof order, 1);
    return order.echo ? loop(fd, calloc(order.bytes, 1), order.bytes, atof(argv[5]))
                      : stream(fd, calloc(order.bytes, 1), order.bytes, atoi(argv[5]));
}
