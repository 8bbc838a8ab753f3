/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* messages: the eight sends, selection by type and sender, probes and buffers, in any number of processes. */
#include "check.h"
#include "p4.h"

#define ROUNDS 200

static int me, all, right, left;

static int take(int type, int from, char *expected, int expected_len)
{
    char *msg = NULL;
    int len = -1;
    CHECK(p4_recv(&type, &from, &msg, &len) == 0);
    CHECK(len == expected_len && memcmp(msg, expected, (size_t)len) == 0);
    p4_msg_free(msg);
    return from;
}

/* Each of the eight arrives at the right neighbour, in the order of the sends. */
static void all_sends(void)
{
    char *buffer = p4_msg_alloc(6);
    strcpy(buffer, "hello");
    CHECK(p4_send(1, right, buffer, 6) == 0);
    CHECK(p4_sendx(2, right, buffer, 6, P4NOX) == 0);
    CHECK(p4_sendb(3, right, buffer, 6) == 0);
    CHECK(p4_sendbx(4, right, buffer, 6, P4INT) == 0);
    CHECK(take(4, left, "hello", 6) == left);
    CHECK(take(1, -1, "hello", 6) == left);
    CHECK(take(3, left, "hello", 6) == left);
    CHECK(take(2, -1, "hello", 6) == left);
    p4_msg_free(buffer);
}

/* Those with an acknowledgement: even ones send first. What the receiver had sent before it received is there. */
static void acknowledged(void)
{
    char *buffer = p4_msg_alloc(8);
    int i, type = 70, from = left;
    memcpy(buffer, "eight by", 8);
    for (i = 0; i < 4 && all > 1; i++) {
        if (me == 0) {
            CHECK((i == 0   ? p4_sendr(60, 1, buffer, 8)
                   : i == 1 ? p4_sendrx(60, 1, buffer, 8, P4DBL)
                   : i == 2 ? p4_sendbr(60, 1, buffer, 8)
                            : p4_sendbrx(60, 1, buffer, 8, P4FLT)) == 0);
            type = 70;
            from = 1;
            CHECK(p4_messages_available(&type, &from));
            CHECK(take(70, 1, "before", 6) == 1);
        } else if (me == 1) {
            CHECK(p4_send(70, 0, "before", 6) == 0);
            CHECK(take(60, 0, buffer, 8) == 0);
        }
    }
    CHECK(p4_sendr(61, me, buffer, 8) == 0);
    CHECK(take(61, me, buffer, 8) == me);
    p4_msg_free(buffer);
}

static void lengths(void)
{
    static int sizes[] = {0, 1, 63, 64, 65, 4095, 4096, 5000, 100000, 1000000};
    int i, k, len, type, from;
    char *given = p4_msg_alloc(1000000);
    for (i = 0; i < 10; i++) {
        char *data = p4_msg_alloc(sizes[i]);
        for (k = 0; k < sizes[i]; k++)
            data[k] = (char)(k * 7 + i);
        CHECK(p4_sendb(100 + i, right, data, sizes[i]) == 0);
        type = 100 + i;
        from = -1;
        CHECK(p4_rcv(&type, &from, &given, &len) == 0);
        CHECK(type == 100 + i && from == left && len == sizes[i]);
        CHECK(memcmp(given, data, (size_t)len) == 0);
        p4_msg_free(data);
    }
    p4_msg_free(given);
}

static void probes(void)
{
    int type = -1, from = -1, i;
    p4_global_barrier(9);
    CHECK(!p4_messages_available(&type, &from) && !p4_any_messages_available());
    p4_global_barrier(9);
    CHECK(p4_send(200, right, "x", 1) == 0);
    CHECK(p4_waitformsg() == 1);
    CHECK(p4_any_messages_available());
    CHECK(p4_messages_available(&type, &from) && type == 200 && from == left);
    type = 201;
    from = -1;
    CHECK(!p4_messages_available(&type, &from) && type == 201);
    take(200, -1, "x", 1);
    for (i = 0; i < ROUNDS; i++)
        CHECK(p4_send(300 + i % 5, right, (char *)&i, sizeof i) == 0);
    for (type = 304; type >= 300; type--) {
        int expected = type - 300;
        for (i = 0; i < ROUNDS / 5; i++, expected += 5)
            take(type, left, (char *)&expected, sizeof expected);
    }
    /* Nobody broadcasts while another process still looks for what is there. */
    p4_global_barrier(9);
}

static void to_all(void)
{
    int root;
    double value;
    for (root = 0; root < all; root++) {
        value = root + 0.5;
        if (root == me) {
            CHECK(p4_broadcast(400, &value, sizeof value) == 0);
            CHECK(p4_broadcastx(401, &value, sizeof value, P4DBL) == 0);
        } else {
            CHECK(take(401, root, (char *)&value, sizeof value) == root);
            CHECK(take(400, -1, (char *)&value, sizeof value) == root);
        }
        CHECK(p4_global_barrier(3) == 0);
    }
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    all = p4_num_total_ids();
    CHECK(p4_num_total_slaves() == all - 1);
    right = (me + 1) % all;
    left = (me + all - 1) % all;
    all_sends();
    acknowledged();
    lengths();
    probes();
    to_all();
    p4_dprintfl(1, "not seen\n");
    p4_wait_for_end();
    if (me == 0)
        printf("ok %d processes\n", all);
    return 0;
}
