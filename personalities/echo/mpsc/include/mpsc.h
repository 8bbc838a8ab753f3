/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * mpsc.h - message passing for measurements that a report made with Meiko's MPSC, of which nothing but the name is known:
 * these calls are our own (neopvm-echo(7)).
 */
#ifndef NEOPVM_MPSC_H
#define NEOPVM_MPSC_H

#ifdef __cplusplus
extern "C" {
#endif

/* My number, and how many there are; -1 where no machine answers. */
int mpsc_node(void);
int mpsc_count(void);
/* 0, or -1: a node or type out of range, no data. */
int mpsc_send(int node, int type, const void *data, int bytes);
/* -1 in *node and *type is any; they become what came. The bytes, or -1: also where they are more than the room. */
int mpsc_receive(int *node, int *type, void *data, int room);
/* The bytes of a message that waits, or -1. */
int mpsc_test(int *node, int *type);
/* 0 when all have called it, or -1. */
int mpsc_barrier(void);
/* Seconds, of a clock that never goes back. */
double mpsc_clock(void);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_MPSC_H */
