/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vertex.h - the message-passing calls of nCUBE's Vertex on a NeoPVM machine (neopvm-echo(7)).
 *
 * Nodes are 0 to N-1, types 0 and above; -1 is any of them, and is overwritten with what came.
 */
#ifndef NEOPVM_VERTEX_H
#define NEOPVM_VERTEX_H

#define VERTEX_ALL 0xffff /* as destination: every other node */

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -1. `flag` becomes 0 when the data may be used again, which is at once. */
int nwrite(void *data, int bytes, int to, int type, int *flag);
/* The bytes that came, or -1: also where they are more than there is room for; they are lost then. */
int nread(void *data, int room, int *from, int *type, int *flag);
/* The bytes of a message that waits, or -1. */
int ntest(int *from, int *type);
/* My node, a number for my process, the host's node (the one behind the last) and the dimension of the smallest cube
 * that holds all nodes. */
void whoami(int *node, int *process, int *host, int *dimension);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_VERTEX_H */
