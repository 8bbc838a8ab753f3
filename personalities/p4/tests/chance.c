/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* chance SEED [OPERATIONS]: ../../tests/chance.h by the calls of p4. */
#include "p4.h"

#define OWN 1
#define ANY_TYPE 1
#define EITHER 0
#define SENDS 4
#define ACKNOWLEDGED 4
#define ALL_SENDS 1
#define RECEIVES 4
#define POSTS 0
#define POST_ANY 0
#define HANDLERS 0
#define POST_THREADS 0
#define TOGETHERS 4
#include "../../tests/chance.h"

static char *buffer;

static void enter(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    all = p4_num_total_ids();
    buffer = p4_msg_alloc(LENGTH_MAX);
    MUST(buffer != NULL);
}

static void leave(void)
{
    p4_msg_free(buffer);
    p4_wait_for_end();
}

static int send_by(int how, int to, int type, char *data, int bytes)
{
    if (to == -1)
        return how & 1 ? p4_broadcastx(type, data, bytes, P4NOX) : p4_broadcast(type, data, bytes);
    switch (how) {
    case 0: return p4_send(type, to, data, bytes);
    case 1: return p4_sendx(type, to, data, bytes, P4DBL);
    case 2: return p4_sendb(type, to, data, bytes);
    case 3: return p4_sendbx(type, to, data, bytes, P4INT);
    default: return type & 1 ? p4_sendr(type, to, data, bytes) : p4_sendrx(type, to, data, bytes, P4INT);
    }
}

static void send_one(int how, int to, int type, char *data, int bytes)
{
    int is_buffer = to != -1 && (how == 2 || how == 3);
    char *message = is_buffer ? p4_msg_alloc(bytes) : data;
    if (is_buffer)
        memcpy(message, data, (size_t)bytes);
    MUST_BE(send_by(how, to, type, message, bytes), 0);
    if (is_buffer)
        p4_msg_free(message);
}

static struct came receive_one(int how, struct wanted wanted, char *data, int room)
{
    int type = wanted.type, from = wanted.source, bytes = -5;
    char *message = how == 1 ? buffer : NULL;
    while (how == 2 && !p4_messages_available(&type, &from))
        ;
    if (how == 3) {
        MUST_BE(p4_waitformsg(), 1);
        MUST(p4_any_messages_available());
    }
    MUST_BE(p4_recv(&type, &from, &message, &bytes), 0);
    MUST(bytes >= 0 && bytes <= room && (how != 1 || message == buffer));
    memcpy(data, message, (size_t)bytes);
    if (how != 1)
        p4_msg_free(message);
    return (struct came){from, type, bytes};
}

static void barrier(void)
{
    MUST_BE(p4_global_barrier(3), 0);
}

static void doubles(struct dice *dice, int round)
{
    static double x[3000];
    int count = 1 + (int)roll(dice, roll(dice, 10) == 0 ? 3000 : 30), is_sum = (int)roll(dice, 2);
    for (int at = 0; at < count; at++)
        x[at] = me + at * 2.0 + round;
    MUST_BE(p4_global_op(4, x, count, sizeof *x, is_sum ? p4_dbl_sum_op : p4_dbl_max_op, P4DBL), 0);
    for (int at = 0; at < count; at++)
        MUST(x[at] == (is_sum ? all * (at * 2.0 + round) + all * (all - 1) / 2 : at * 2.0 + round + all - 1));
}

static void integers(struct dice *dice, int round)
{
    int x[40], count = 1 + (int)roll(dice, 40);
    for (int at = 0; at < count; at++)
        x[at] = -me * at - round % 1000;
    MUST_BE(p4_global_op(5, x, count, sizeof *x, p4_int_min_op, P4INT), 0);
    for (int at = 0; at < count; at++)
        MUST_BE(x[at], -(all - 1) * at - round % 1000);
}

/* Exclusive or, which p4 does not have. */
static void exclusive_or(char *x, char *y, int count)
{
    long *mine = (long *)(void *)x, *theirs = (long *)(void *)y;
    for (int at = 0; at < count; at++)
        mine[at] ^= theirs[at];
}

static void own_function(struct dice *dice)
{
    long x[5], wanted[5] = {0};
    for (int rank = 0; rank < all; rank++)
        for (int at = 0; at < 5; at++) {
            long value = roll(dice, 1000000);
            wanted[at] ^= value;
            if (rank == me)
                x[at] = value;
        }
    MUST_BE(p4_global_op(6, x, 5, sizeof *x, exclusive_or, P4LNG), 0);
    for (int at = 0; at < 5; at++)
        MUST_BE(x[at], wanted[at]);
}

static void together(int which, struct dice *dice, int round)
{
    switch (which) {
    case 0: doubles(dice, round); break;
    case 1: integers(dice, round); break;
    case 2: own_function(dice); break;
    default: barrier();
    }
}
