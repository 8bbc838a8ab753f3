/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Under soft errors each call with nonsense returns -1, and the program goes on; then `bad WHAT` ends the job. */
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "p4.h"

static void too_short(int me)
{
    char *small = p4_msg_alloc(10), *msg = NULL;
    int type = 5, from = me, len;
    char large[200];
    memset(large, 'x', sizeof large);
    CHECK(p4_send(5, me, large, 200) == 0);
    CHECK(p4_recv(&type, &from, &small, &len) == -1);
    CHECK(p4_recv(&type, &from, &msg, &len) == 0 && len == 200);
    CHECK(p4_sendb(5, me, small, 1000) == -1);
    p4_msg_free(msg);
    p4_msg_free(msg);
    p4_msg_free(small);
}

static void soft(int me, int all)
{
    int type = -2, from = -1, len, x = 1;
    char *msg = NULL, local[10];
    CHECK(p4_soft_errors(1) == 0);
    CHECK(p4_send(1, all, "x", 1) == -1);
    CHECK(p4_send(1, -1, "x", 1) == -1);
    CHECK(p4_send(-1, me, "x", 1) == -1);
    CHECK(p4_send(1, me, "x", -1) == -1);
    CHECK(p4_send(1, me, NULL, 1) == -1);
    CHECK(p4_sendx(1, me, "x", 1, 5) == -1);
    CHECK(p4_sendb(1, me, local, 1) == -1);
    CHECK(p4_recv(&type, &from, &msg, &len) == -1);
    type = 1;
    from = all;
    CHECK(p4_recv(&type, &from, &msg, &len) == -1);
    /* A buffer whose length nobody knows was filled beyond its end. */
    char own[4], *mine = own;
    type = from = -1;
    CHECK(p4_send(1, me, "12345678", 8) == 0);
    CHECK(p4_recv(&type, &from, &mine, &len) == -1);
    CHECK(p4_recv(&type, &from, &msg, &len) == 0 && len == 8);
    p4_msg_free(msg);
    msg = NULL;
    CHECK(p4_recv(NULL, &from, &msg, &len) == -1);
    CHECK(p4_broadcast(1, NULL, 4) == -1);
    CHECK(p4_global_op(1, &x, -1, sizeof x, p4_int_sum_op, P4INT) == -1);
    CHECK(p4_global_op(1, &x, 1, 8, p4_int_sum_op, P4INT) == -1);
    CHECK(p4_global_op(1, &x, 1, 4, p4_int_sum_op, 9) == -1);
    CHECK(p4_msg_alloc(-1) == NULL);
    p4_msg_free(local);
    p4_msg_free((char *)8);
    p4_set_avail_buff(9, 100);
    p4_set_avail_buff(1, 64);
    p4_set_avail_buff(1, 128);
    too_short(me);
    CHECK(p4_initenv(NULL, NULL) == -1);
    CHECK(p4_soft_errors(0) == 1);
    CHECK(p4_set_hard_errors(0) == 1);
    p4_error("told and not fatal", 3);
    CHECK(p4_set_hard_errors(1) == 0);
}

static int fails(void)
{
    p4_error("by a process without an id", 4);
    return 0;
}

static void hard(const char *what, int me, int last)
{
    char *msg = NULL;
    int type = 1, from = -1, len;
    if (me == last && strcmp(what, "error") == 0)
        p4_error("as asked", 77);
    if (me == last && strcmp(what, "free") == 0)
        p4_msg_free((char *)&type);
    if (me == last && strcmp(what, "send") == 0)
        p4_send(1, 1000, "x", 1);
    if (me == last && strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (me == last && strcmp(what, "segv") == 0)
        raise(SIGSEGV);
    if (me == last && strcmp(what, "created") == 0)
        p4_create(fails);
    if (me == last && strcmp(what, "exit") == 0)
        exit(9);
    p4_recv(&type, &from, &msg, &len);
}

int main(int argc, char **argv)
{
    int me;
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    soft(me, p4_num_total_ids());
    if (argc > 1)
        hard(argv[1], me, p4_num_total_ids() - 1);
    p4_wait_for_end();
    if (me == 0)
        printf("ok\n");
    return 0;
}
