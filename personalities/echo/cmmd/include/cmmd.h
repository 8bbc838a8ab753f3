/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * cmmd.h - the message-passing calls of Thinking Machines' CMMD on a NeoPVM machine (neopvm-echo(7)).
 *
 * Nodes are 0 to N-1, tags 0 and above. Calls that send or receive give 0, or -1: a node or tag out of range, or a
 * message that is longer than the room for it, which is then lost. Messages of length 0 are messages.
 */
#ifndef NEOPVM_CMMD_H
#define NEOPVM_CMMD_H

#define CMMD_ANY_NODE (-1)
#define CMMD_ANY_TAG (-1)

/* For CMMD_fset_io_mode, which does nothing: each node does its own input and output. */
#define CMMD_local 0
#define CMMD_independent 1
#define CMMD_sync_bc 2
#define CMMD_sync_seq 3

#ifdef __cplusplus
extern "C" {
#endif

/* What a reduction does. */
typedef enum {
    CMMD_combiner_add,
    CMMD_combiner_max,
    CMMD_combiner_min,
    CMMD_combiner_ior, /* integers only */
    CMMD_combiner_xor,
    CMMD_combiner_and
} CMMD_combiner_t;

/* Of a transfer that is under way; above 0. */
typedef int CMMD_mcb;

/* Who and how many */
int CMMD_self_address(void);
int CMMD_partition_size(void);
/* The number behind the last node: there is no host program. */
int CMMD_host_node(void);
/* Does nothing: all nodes do their own input and output. */
void CMMD_enable_host(void);
int CMMD_fset_io_mode(void *stream, int mode);

/* Messages. A send returns when the data may be used again: send and send_block when the receiver has the message. */
int CMMD_send_block(int node, int tag, void *data, int bytes);
int CMMD_send(int node, int tag, void *data, int bytes);
int CMMD_send_noblock(int node, int tag, void *data, int bytes);
int CMMD_receive_block(int node, int tag, void *data, int room);
int CMMD_receive(int node, int tag, void *data, int room);
int CMMD_send_and_receive(int from, int from_tag, void *in, int room, int to, int to_tag, void *out, int bytes);
/* Exchanges the data of two nodes in place. */
int CMMD_swap(int node, void *data, int bytes);
/* Whether a message waits. */
int CMMD_msg_pending(int node, int tag);

/* Of the message received last, or found by CMMD_msg_pending */
int CMMD_bytes_received(void);
int CMMD_msg_sender(void);
int CMMD_msg_tag(void);

/* Transfers under way. Done ones are told by 1, and their number is spent. */
CMMD_mcb CMMD_send_async(int node, int tag, void *data, int bytes);
CMMD_mcb CMMD_receive_async(int node, int tag, void *data, int room);
int CMMD_msg_done(CMMD_mcb transfer);
int CMMD_msg_wait(CMMD_mcb transfer);

/* All nodes together */
int CMMD_sync_with_nodes(void);
int CMMD_reduce_int(int value, CMMD_combiner_t combiner);
unsigned CMMD_reduce_uint(unsigned value, CMMD_combiner_t combiner);
float CMMD_reduce_float(float value, CMMD_combiner_t combiner);
double CMMD_reduce_double(double value, CMMD_combiner_t combiner);
/* One node broadcasts, all others receive. */
int CMMD_bc_to_nodes(void *data, int bytes);
int CMMD_receive_bc_from_node(void *data, int bytes);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_CMMD_H */
