/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The spelling of C. */
#include <mpl.h>
#include "mpl_calls.h"

ECHO_CALL int mpc_environ(int *tasks, int *me)
{
    return mpl_environ(tasks, me);
}

ECHO_CALL int mpc_bsend(void *data, size_t bytes, int to, int type)
{
    return mpl_send(data, bytes, to, type);
}

ECHO_CALL int (mpc_brecv)(void *data, size_t room, int *from, int *type, size_t *bytes)
{
    return mpl_receive(data, room, from, type, bytes);
}

ECHO_CALL int (mpc_bsendrecv)(void *out, size_t bytes, int to, int type, void *in, size_t room, int *from, size_t *got)
{
    return mpl_send_receive(out, bytes, to, type, in, room, from, got);
}

ECHO_CALL int mpc_send(void *data, size_t bytes, int to, int type, int *id)
{
    return mpl_post_send(data, bytes, to, type, id);
}

ECHO_CALL int mpc_recv(void *data, size_t room, int *from, int *type, int *id)
{
    return mpl_post_receive(data, room, from, type, id);
}

ECHO_CALL int mpc_status(int id)
{
    return mpl_status(id);
}

ECHO_CALL int (mpc_wait)(int *id, size_t *bytes)
{
    return mpl_wait(id, bytes);
}

ECHO_CALL int (mpc_probe)(int *from, int *type, size_t *bytes)
{
    return mpl_probe(from, type, bytes);
}

ECHO_CALL int mpc_sync(int group)
{
    return mpl_sync(group);
}

ECHO_CALL int mpc_bcast(void *data, size_t bytes, int root, int group)
{
    return mpl_broadcast(data, bytes, root, group);
}

ECHO_CALL int mpc_stopall(int code)
{
    return mpl_stopall(code);
}
