/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The spelling with addresses, and the same with an underscore behind for Fortran. Lengths are ints and are checked. */
#include <mpl.h>
#include "mpl_calls.h"

#define SAME(name, arguments) ECHO_CALL int mp_##name##_ arguments __attribute__((alias("mp_" #name)))

static int to_int(size_t bytes)
{
    return bytes == (size_t)-1 ? -1 : bytes > INT32_MAX ? INT32_MAX : (int)bytes;
}

ECHO_CALL int mp_environ(int *tasks, int *me)
{
    return mpl_environ(tasks, me);
}
SAME(environ, (int *tasks, int *me));

ECHO_CALL int mp_bsend(void *data, int *bytes, int *to, int *type)
{
    return *bytes < 0 ? mpl_refuse(EINVAL) : mpl_send(data, (size_t)*bytes, *to, *type);
}
SAME(bsend, (void *data, int *bytes, int *to, int *type));

ECHO_CALL int mp_brecv(void *data, int *room, int *from, int *type, int *bytes)
{
    size_t got = 0;
    int result = *room < 0 ? mpl_refuse(EINVAL) : mpl_receive(data, (size_t)*room, from, type, &got);

    if (result == 0)
        *bytes = to_int(got);
    return result;
}
SAME(brecv, (void *data, int *room, int *from, int *type, int *bytes));

ECHO_CALL int mp_bsendrecv(void *out, int *bytes, int *to, int *type, void *in, int *room, int *from, int *got)
{
    size_t length = 0;
    int result;

    if (*bytes < 0 || *room < 0)
        return mpl_refuse(EINVAL);
    result = mpl_send_receive(out, (size_t)*bytes, *to, *type, in, (size_t)*room, from, &length);
    if (result == 0)
        *got = to_int(length);
    return result;
}
SAME(bsendrecv, (void *out, int *bytes, int *to, int *type, void *in, int *room, int *from, int *got));

ECHO_CALL int mp_send(void *data, int *bytes, int *to, int *type, int *id)
{
    return *bytes < 0 ? mpl_refuse(EINVAL) : mpl_post_send(data, (size_t)*bytes, *to, *type, id);
}
SAME(send, (void *data, int *bytes, int *to, int *type, int *id));

ECHO_CALL int mp_recv(void *data, int *room, int *from, int *type, int *id)
{
    return *room < 0 ? mpl_refuse(EINVAL) : mpl_post_receive(data, (size_t)*room, from, type, id);
}
SAME(recv, (void *data, int *room, int *from, int *type, int *id));

ECHO_CALL int mp_status(int *id)
{
    return mpl_status(*id);
}
SAME(status, (int *id));

ECHO_CALL int mp_wait(int *id, int *bytes)
{
    size_t got = 0;
    int result = mpl_wait(id, &got);

    if (result == 0)
        *bytes = to_int(got);
    return result;
}
SAME(wait, (int *id, int *bytes));

ECHO_CALL int mp_probe(int *from, int *type, int *bytes)
{
    size_t got = 0;
    int result = mpl_probe(from, type, &got);

    if (result == 0)
        *bytes = to_int(got);
    return result;
}
SAME(probe, (int *from, int *type, int *bytes));

ECHO_CALL int mp_sync(int *group)
{
    return mpl_sync(*group);
}
SAME(sync, (int *group));

ECHO_CALL int mp_bcast(void *data, int *bytes, int *root, int *group)
{
    return *bytes < 0 ? mpl_refuse(EINVAL) : mpl_broadcast(data, (size_t)*bytes, *root, *group);
}
SAME(bcast, (void *data, int *bytes, int *root, int *group));

ECHO_CALL int mp_stopall(int *code)
{
    return mpl_stopall(*code);
}
SAME(stopall, (int *code));
