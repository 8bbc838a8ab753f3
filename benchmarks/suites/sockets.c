/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "sockets.h"

enum { CONNECT_MS = 2000 };

void sockets_fail(const char *what)
{
    fprintf(stderr, "network: %s: %s\n", what, strerror(errno));
    exit(1);
}

void sockets_check(int result, const char *what)
{
    if (result < 0)
        sockets_fail(what);
}

static void set(int s, int level, int name, int value, const char *what)
{
    sockets_check(setsockopt(s, level, name, &value, sizeof value), what);
}

void sockets_set_patience(int s, int ms)
{
    struct timeval t = {ms / 1000, ms % 1000 * 1000};

    sockets_check(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t), "SO_RCVTIMEO");
}

/* 0 leaves the window to the kernel. */
static void set_window(int s, int bytes)
{
    if (bytes) {
        set(s, SOL_SOCKET, SO_SNDBUF, bytes, "SO_SNDBUF");
        set(s, SOL_SOCKET, SO_RCVBUF, bytes, "SO_RCVBUF");
    }
}

struct sockaddr_in sockets_at(unsigned address, int port)
{
    struct sockaddr_in a;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(address);
    a.sin_port = htons((unsigned short)port);
    return a;
}

/* A socket that others reach under `*port`. */
int sockets_waiting(int type, int window, int *port)
{
    struct sockaddr_in a = sockets_at(INADDR_ANY, 0);
    socklen_t length = sizeof a;
    int s = socket(AF_INET, type, 0);

    sockets_check(s, "socket");
    set_window(s, window);
    sockets_check(bind(s, (struct sockaddr *)&a, sizeof a), "bind");
    if (type == SOCK_STREAM)
        sockets_check(listen(s, 1), "listen");
    sockets_check(getsockname(s, (struct sockaddr *)&a, &length), "getsockname");
    *port = ntohs(a.sin_port);
    return s;
}

/* -1 if there is nobody. */
int sockets_connected(unsigned address, int port, int window)
{
    struct sockaddr_in to = sockets_at(address, port);
    struct pollfd ready;
    int error = 0, s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    socklen_t length = sizeof error;

    sockets_check(s, "socket");
    set_window(s, window);
    if (connect(s, (struct sockaddr *)&to, sizeof to) < 0) {
        ready.fd = s;
        ready.events = POLLOUT;
        if (errno != EINPROGRESS || poll(&ready, 1, CONNECT_MS) != 1
            || getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error) {
            close(s);
            return -1;
        }
    }
    set(s, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    sockets_check(fcntl(s, F_SETFL, 0), "F_SETFL"); /* it waits from now on */
    return s;
}

void sockets_read(int s, void *data, size_t bytes)
{
    size_t done = 0;
    ssize_t n;

    while (done < bytes) {
        n = recv(s, (char *)data + done, bytes - done, 0);
        if (n <= 0)
            sockets_fail("the stream ended");
        done += (size_t)n;
    }
}

void sockets_write(int s, const void *data, size_t bytes)
{
    size_t done = 0;
    ssize_t n;

    while (done < bytes) {
        n = send(s, (const char *)data + done, bytes - done, MSG_NOSIGNAL);
        if (n <= 0)
            sockets_fail("the stream broke");
        done += (size_t)n;
    }
}

int sockets_accepted(int door)
{
    int s = accept(door, NULL, NULL);

    sockets_check(s, "accept");
    set(s, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
    return s;
}
