/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of CMMD, on any number of nodes. */
#include <cmmd.h>
#include "../../pvm2/tests/check.h"

static int nodes, me, right, left;

static void blocking(void)
{
    int out = me, in = -1, big[2] = {0, 0};

    CHECK_IS(CMMD_send_noblock(right, 1, &out, sizeof out), 0);
    CHECK_IS(CMMD_receive_block(left, 1, &in, sizeof in), 0);
    CHECK_IS(in, left);
    CHECK(CMMD_bytes_received() == 4 && CMMD_msg_sender() == left && CMMD_msg_tag() == 1);
    /* Half of them send first; the last of an odd number meets its neighbour's receive. */
    if (me % 2 == 0 && me + 1 < nodes) {
        CHECK_IS(CMMD_send_block(me + 1, 2, &out, sizeof out), 0);
        CHECK_IS(CMMD_send(me + 1, 3, NULL, 0), 0);
    } else if (me % 2 == 1) {
        CHECK_IS(CMMD_receive(CMMD_ANY_NODE, 2, &in, sizeof in), 0);
        CHECK_IS(CMMD_receive(me - 1, CMMD_ANY_TAG, NULL, 0), 0);
        CHECK(in == me - 1 && CMMD_bytes_received() == 0 && CMMD_msg_tag() == 3);
    }
    CHECK_IS(CMMD_send_and_receive(left, 4, &in, sizeof in, right, 4, &out, sizeof out), 0);
    CHECK_IS(in, left);
    in = me;
    CHECK_IS(CMMD_swap(me ^ 1 ? (me ^ 1) < nodes ? me ^ 1 : me : 0, &in, sizeof in), 0);
    CHECK_IS(in, (me ^ 1) < nodes ? me ^ 1 : me);
    CHECK_IS(CMMD_send_noblock(right, 5, big, sizeof big), 0);
    CHECK_IS(CMMD_receive(left, 5, &in, sizeof in), -1); /* longer than the room */
    CHECK_IS(CMMD_send(nodes, 1, &out, sizeof out), -1);
    CHECK_IS(CMMD_send(-1, 1, &out, sizeof out), -1);
    CHECK_IS(CMMD_send(me, -1, &out, sizeof out), -1);
    CHECK_IS(CMMD_send(me, 1, &out, -1), -1);
    CHECK_IS(CMMD_send(me, 1, NULL, 4), -1);
    CHECK_IS(CMMD_receive(me, 1, &out, -1), -1);
    CHECK_IS(CMMD_send(me, 6, &out, sizeof out), 0); /* to oneself */
    CHECK_IS(CMMD_receive(me, 6, &in, sizeof in), 0);
}

static void under_way(void)
{
    int out = me * 3, in = -1;
    CMMD_mcb sent, receiving = CMMD_receive_async(left, 7, &in, sizeof in);

    CHECK(receiving > 0);
    CHECK_IS(CMMD_msg_pending(CMMD_ANY_NODE, 8), 0);
    CHECK_IS(CMMD_sync_with_nodes(), 0);
    CHECK_IS(CMMD_msg_done(receiving), 0);
    CHECK_IS(CMMD_sync_with_nodes(), 0);
    sent = CMMD_send_async(right, 7, &out, sizeof out);
    CHECK_IS(CMMD_msg_wait(sent), 1);
    CHECK_IS(CMMD_msg_wait(receiving), 1);
    CHECK_IS(in, left * 3);
    CHECK_IS(CMMD_msg_done(receiving), -1); /* spent */
    CHECK_IS(CMMD_send_async(nodes, 7, &out, sizeof out), -1);
    CHECK_IS(CMMD_receive_async(left, 7, &in, -1), -1);
    CHECK_IS(CMMD_send_noblock(right, 8, &out, sizeof out), 0);
    CHECK_SOON(CMMD_msg_pending(left, 8) == 1);
    CHECK_IS(CMMD_bytes_received(), 4);
    CHECK_IS(CMMD_receive(left, 8, &in, sizeof in), 0);
}

static void together(void)
{
    int value = me;

    CHECK_IS(CMMD_reduce_int(me + 1, CMMD_combiner_add), nodes * (nodes + 1) / 2);
    CHECK_IS(CMMD_reduce_int(-me, CMMD_combiner_min), -(nodes - 1));
    CHECK_IS(CMMD_reduce_int(1 << me, CMMD_combiner_ior), (1 << nodes) - 1);
    CHECK_IS(CMMD_reduce_int(1, CMMD_combiner_xor), nodes & 1);
    CHECK_IS(CMMD_reduce_int(6 | me << 4, CMMD_combiner_and) & 15, 6);
    CHECK(CMMD_reduce_uint(3000000000u + (unsigned)me, CMMD_combiner_max) == 3000000000u + (unsigned)nodes - 1);
    CHECK(CMMD_reduce_float(0.5f, CMMD_combiner_add) == 0.5f * (float)nodes);
    CHECK(CMMD_reduce_double(-1.5 - me, CMMD_combiner_max) == -1.5);
    if (me == 0)
        CHECK_IS(CMMD_bc_to_nodes(&nodes, sizeof nodes), 0);
    else
        CHECK_IS(CMMD_receive_bc_from_node(&value, sizeof value), 0);
    CHECK(me == 0 || value == nodes);
}

int main(void)
{
    CMMD_enable_host();
    CHECK_IS(CMMD_fset_io_mode(stdout, CMMD_independent), 0);
    nodes = CMMD_partition_size();
    me = CMMD_self_address();
    CHECK(me >= 0 && me < nodes && CMMD_host_node() == nodes);
    right = (me + 1) % nodes;
    left = (me + nodes - 1) % nodes;
    blocking();
    under_way();
    together();
    return 0;
}
