/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Plain sockets of IPv4 for network.c. What cannot go on ends the program. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <netinet/in.h>
#include <stddef.h>

void sockets_fail(const char *what);
void sockets_check(int result, const char *what);
/* A receive fails after so long. */
void sockets_set_patience(int s, int ms);
struct sockaddr_in sockets_at(unsigned address, int port);
/* One of `type` that others reach under `*port`; a window of 0 leaves it to the kernel. */
int sockets_waiting(int type, int window, int *port);
int sockets_accepted(int door);
/* -1 if there is nobody. */
int sockets_connected(unsigned address, int port, int window);
void sockets_read(int s, void *data, size_t bytes);
void sockets_write(int s, const void *data, size_t bytes);

#endif
