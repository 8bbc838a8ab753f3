/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* refused WHAT: the last process makes one wrong call, and the other ones wait (tests/refused.sh). */
#include "check.h"
#include "p4.h"
#include <limits.h>
#include <string.h>

#define IS(name) (strcmp(what, name) == 0)

static char data[1000];
static int x, len, type = 1, from = -1;
static char *msg;

static void sends(const char *what)
{
    if (IS("to"))
        p4_send(1, 2, data, 8);
    if (IS("type"))
        p4_sendr(INT_MIN, 0, data, 8);
    if (IS("length"))
        p4_sendx(1, 0, data, -1, P4NOX);
    if (IS("datatype"))
        p4_sendx(1, 0, data, 8, 99);
    if (IS("null"))
        p4_send(1, 0, NULL, INT_MAX);
    if (IS("foreign"))
        p4_sendb(1, 0, data, 8);
    if (IS("beyond"))
        p4_sendb(1, 0, p4_msg_alloc(8), INT_MAX);
    if (IS("broadcast"))
        p4_broadcast(1, data, -8);
}

static void receives(const char *what)
{
    if (IS("from")) {
        from = 2;
        p4_recv(&type, &from, &msg, &len);
    }
    if (IS("any")) {
        type = -2;
        p4_recv(&type, &from, &msg, &len);
    }
    if (IS("unknown")) {
        msg = data;
        p4_recv(&type, &from, &msg, &len);
    }
    if (IS("short")) {
        msg = p4_msg_alloc(8);
        p4_recv(&type, &from, &msg, &len);
    }
}

static void memory(const char *what)
{
    if (IS("alloc"))
        p4_msg_alloc(INT_MIN);
    if (IS("free"))
        p4_msg_free(data);
    if (IS("free-twice")) {
        msg = p4_msg_alloc(8);
        p4_msg_free(msg);
        p4_msg_free(msg);
    }
    if (IS("shmalloc"))
        p4_shmalloc(-1);
    if (IS("shfree"))
        p4_shfree(data);
}

static void together(const char *what)
{
    p4_monitor_t monitor;
    p4_barrier_monitor_t barrier;
    if (IS("op-count"))
        p4_global_op(1, &x, -1, sizeof x, p4_int_sum_op, P4INT);
    if (IS("op-size"))
        p4_global_op(1, &x, 1, 8, p4_int_sum_op, P4INT);
    if (IS("op-type"))
        p4_global_op(1, &x, 1, sizeof x, p4_int_sum_op, -1);
    if (IS("queues"))
        p4_moninit(&monitor, INT_MAX);
    p4_moninit(&monitor, 1);
    if (IS("outside"))
        p4_mexit(&monitor);
    p4_menter(&monitor);
    if (IS("queue"))
        p4_mdelay(&monitor, INT_MAX);
    p4_barrier_init(&barrier);
    if (IS("barrier"))
        p4_barrier(&barrier, -1);
    if (IS("twice"))
        p4_initenv(NULL, NULL);
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    CHECK(argc == 2);
    if (strcmp(argv[1], "early") == 0)
        p4_send(1, 0, data, 8);
    p4_create_procgroup();
    if (p4_get_my_id() == 0)
        p4_send(1, 1, data, sizeof data);
    if (p4_get_my_id() == 1) {
        sends(argv[1]);
        receives(argv[1]);
        memory(argv[1]);
        together(argv[1]);
        fprintf(stderr, "%s is not refused\n", argv[1]);
        return 98;
    }
    type = 77;
    p4_recv(&type, &from, &msg, &len);
    return 97;
}
