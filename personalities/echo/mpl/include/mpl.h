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

/*
 * Where the C calls tell how many bytes came, old programs have an int there as often as a size_t, which on the old
 * machine was as wide. So these four look at what the pointer points at: in an int goes an int (at most INT_MAX, and -1
 * where mpc_probe has found nothing), and all else is a size_t. A name in parentheses, (mpc_brecv)(...), is the function
 * with the size_t.
 */
static __inline__ int neopvm_mpl_told(int result, size_t got, void *bytes, size_t width)
{
    if (result != 0 || !bytes)
        return result;
    if (width == sizeof(int))
        *(int *)bytes = got == (size_t)-1 ? -1 : got > 0x7fffffff ? 0x7fffffff : (int)got;
    else
        __builtin_memcpy(bytes, &got, sizeof got);
    return result;
}

static __inline__ int neopvm_mpl_brecv(void *data, size_t room, int *from, int *type, void *bytes, size_t width)
{
    size_t got = 0;
    int result = (mpc_brecv)(data, room, from, type, &got);
    return neopvm_mpl_told(result, got, bytes, width);
}

static __inline__ int neopvm_mpl_bsendrecv(void *out, size_t length, int to, int type, void *in, size_t room, int *from,
                                           void *bytes, size_t width)
{
    size_t got = 0;
    int result = (mpc_bsendrecv)(out, length, to, type, in, room, from, &got);
    return neopvm_mpl_told(result, got, bytes, width);
}

static __inline__ int neopvm_mpl_wait(int *id, void *bytes, size_t width)
{
    size_t got = 0;
    int result = (mpc_wait)(id, &got);
    return neopvm_mpl_told(result, got, bytes, width);
}

static __inline__ int neopvm_mpl_probe(int *from, int *type, void *bytes, size_t width)
{
    size_t got = 0;
    int result = (mpc_probe)(from, type, &got);
    return neopvm_mpl_told(result, got, bytes, width);
}

#define mpc_brecv(data, room, from, type, bytes) \
    neopvm_mpl_brecv((data), (room), (from), (type), (bytes), sizeof *(bytes))
#define mpc_bsendrecv(out, length, to, type, in, room, from, bytes) \
    neopvm_mpl_bsendrecv((out), (length), (to), (type), (in), (room), (from), (bytes), sizeof *(bytes))
#define mpc_wait(id, bytes) neopvm_mpl_wait((id), (bytes), sizeof *(bytes))
#define mpc_probe(from, type, bytes) neopvm_mpl_probe((from), (type), (bytes), sizeof *(bytes))

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_MPL_H */
