/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls, for their three spellings (mpc.c, mp.c). */
#ifndef MPL_CALLS_H
#define MPL_CALLS_H

#include "../../shared/echo.h"

int mpl_enter(void);
/* 0, or -1 with mperrno. */
int mpl_result(int status);
int mpl_refuse(int number);

int mpl_environ(int *tasks, int *me);
int mpl_send(const void *data, size_t bytes, int to, int type);
int mpl_receive(void *data, size_t room, int *from, int *type, size_t *bytes);
int mpl_send_receive(const void *out, size_t bytes, int to, int type, void *in, size_t room, int *from, size_t *got);
int mpl_post_send(const void *data, size_t bytes, int to, int type, int *id);
int mpl_post_receive(void *data, size_t room, int *from, int *type, int *id);
int mpl_status(int id);
int mpl_wait(int *id, size_t *bytes);
int mpl_probe(int *from, int *type, size_t *bytes);
int mpl_sync(int group);
int mpl_broadcast(void *data, size_t bytes, int root, int group);
int mpl_stopall(int code);

#endif
