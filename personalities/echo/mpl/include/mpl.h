/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * mpl.h - the message-passing calls of IBM's MPL on a NeoPVM machine (neopvm-echo(7)).
 *
 * Tasks are 0 to N-1, types 0 and above; -1 is any of them and is overwritten with what came. Results are 0, or -1 with
 * mperrno set to a number of <errno.h>. Messages of length 0 are messages.
 */
#ifndef NEOPVM_MPL_H
#define NEOPVM_MPL_H

#include <stddef.h>

#define DONTCARE (-1)
#define ALLGRP 0

#ifdef __cplusplus
extern "C" {
#endif

extern int mperrno;

int mpc_environ(int *tasks, int *me);
int mpc_bsend(void *data, size_t bytes, int to, int type);
int mpc_brecv(void *data, size_t room, int *from, int *type, size_t *bytes);
int mpc_bsendrecv(void *out, size_t bytes, int to, int type, void *in, size_t room, int *from, size_t *got);
/* `id` is for mpc_wait or mpc_status; data, from and type must stay until then. */
int mpc_send(void *data, size_t bytes, int to, int type, int *id);
int mpc_recv(void *data, size_t room, int *from, int *type, int *id);
/* The bytes of what is done, which ends its id; -1 while it is under way (mperrno 0) or for a spent id. */
int mpc_status(int id);
/* id -1: whichever is done first, and then it is that one's. */
int mpc_wait(int *id, size_t *bytes);
/* bytes becomes (size_t)-1 where nothing has come. */
int mpc_probe(int *from, int *type, size_t *bytes);
int mpc_sync(int group);
int mpc_bcast(void *data, size_t bytes, int root, int group);
int mpc_stopall(int code);

/* The same with addresses, as Fortran calls them (with an underscore behind); bytes are ints. */
int mp_environ(int *tasks, int *me);
int mp_bsend(void *data, int *bytes, int *to, int *type);
int mp_brecv(void *data, int *room, int *from, int *type, int *bytes);
int mp_bsendrecv(void *out, int *bytes, int *to, int *type, void *in, int *room, int *from, int *got);
int mp_send(void *data, int *bytes, int *to, int *type, int *id);
int mp_recv(void *data, int *room, int *from, int *type, int *id);
int mp_status(int *id);
int mp_wait(int *id, int *bytes);
int mp_probe(int *from, int *type, int *bytes);
int mp_sync(int *group);
int mp_bcast(void *data, int *bytes, int *root, int *group);
int mp_stopall(int *code);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_MPL_H */
