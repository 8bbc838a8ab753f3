/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * echo REPETITIONS: the echo test of the report on message-passing performance, by the calls of whichever interface's
 * header there is: round trips of 0 to 1,000,000 bytes between nodes 0 and 1; node 0 tells the smallest one-way time.
 */
#include <time.h>
#include "../../pvm2/tests/check.h"

#if __has_include(<mpl.h>)
#include <mpl.h>

static int me(void)
{
    int tasks, task = -1;

    CHECK_IS(mpc_environ(&tasks, &task), 0);
    return task;
}

static void send(int to, void *data, int bytes)
{
    CHECK_IS(mpc_bsend(data, (size_t)bytes, to, 1), 0);
}

static void receive(int from, void *data, int bytes)
{
    int type = 1;
    size_t got = 0;

    CHECK_IS(mpc_brecv(data, (size_t)bytes, &from, &type, &got), 0);
    CHECK_IS(got, bytes);
}
#elif __has_include(<cmmd.h>)
#include <cmmd.h>

static int me(void)
{
    return CMMD_self_address();
}

static void send(int to, void *data, int bytes)
{
    CHECK_IS(CMMD_send_noblock(to, 1, data, bytes), 0);
}

static void receive(int from, void *data, int bytes)
{
    CHECK_IS(CMMD_receive_block(from, 1, data, bytes), 0);
    CHECK_IS(CMMD_bytes_received(), bytes);
}
#elif __has_include(<vertex.h>)
#include <vertex.h>

static int me(void)
{
    int node, process, host, dimension;

    whoami(&node, &process, &host, &dimension);
    return node;
}

static void send(int to, void *data, int bytes)
{
    int flag;

    CHECK_IS(nwrite(data, bytes, to, 1, &flag), 0);
}

static void receive(int from, void *data, int bytes)
{
    int flag, type = 1;

    CHECK_IS(nread(data, bytes, &from, &type, &flag), bytes);
}
#else
#include <mpsc.h>

static int me(void)
{
    return mpsc_node();
}

static void send(int to, void *data, int bytes)
{
    CHECK_IS(mpsc_send(to, 1, data, bytes), 0);
}

static void receive(int from, void *data, int bytes)
{
    int type = 1;

    CHECK_IS(mpsc_receive(&from, &type, data, bytes), bytes);
}
#endif

static double now(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void measure(int repetitions, int bytes)
{
    char *data = calloc((size_t)bytes + 1, 1);
    double least = 1e30;
    int i;

    for (i = 0; i < repetitions; i++) {
        double begin = now();

        if (me() == 0) {
            data[bytes / 2] = (char)i;
            send(1, data, bytes);
            data[bytes / 2] = (char)~i;
            receive(1, data, bytes);
            CHECK(bytes == 0 || data[bytes / 2] == (char)i);
        } else {
            receive(0, data, bytes);
            send(0, data, bytes);
        }
        begin = (now() - begin) / 2;
        least = begin < least ? begin : least;
    }
    if (me() == 0)
        printf("%d bytes %.2f us\n", bytes, least);
    free(data);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 100, 1000, 10000, 100000, 1000000};
    size_t i;

    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        measure(argc > 1 ? atoi(argv[1]) : 100, sizes[i]);
    return 0;
}
