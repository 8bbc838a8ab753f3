/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call in place of MPSC's, on any number of nodes. */
#include <mpsc.h>
#include "../../pvm2/tests/check.h"

int main(void)
{
    double begin = mpsc_clock();
    int me = mpsc_node(), count = mpsc_count(), node = -1, type = -1, value = -1, big[2] = {0, 0};

    CHECK(me >= 0 && me < count);
    CHECK_IS(mpsc_send((me + 1) % count, 2, &me, sizeof me), 0);
    CHECK_IS(mpsc_receive(&node, &type, &value, sizeof value), sizeof value);
    CHECK(value == node && node == (me + count - 1) % count && type == 2);
    CHECK_IS(mpsc_send(me, 3, NULL, 0), 0);
    node = -1;
    type = 3;
    CHECK_SOON(mpsc_test(&node, &type) == 0);
    CHECK_IS(mpsc_receive(&node, &type, NULL, 0), 0);
    CHECK_IS(mpsc_test(&node, &type), -1);
    CHECK_IS(mpsc_send(me, 4, big, sizeof big), 0);
    type = 4;
    CHECK_IS(mpsc_receive(&node, &type, &value, sizeof value), -1); /* longer than the room */
    CHECK_IS(mpsc_send(count, 1, &me, 4), -1);
    CHECK_IS(mpsc_send(me, -1, &me, 4), -1);
    CHECK_IS(mpsc_send(me, 1, &me, -1), -1);
    CHECK_IS(mpsc_send(me, 1, NULL, 4), -1);
    CHECK_IS(mpsc_receive(NULL, &type, &value, 4), -1);
    CHECK_IS(mpsc_test(&node, NULL), -1);
    CHECK_IS(mpsc_barrier(), 0);
    CHECK(mpsc_clock() >= begin);
    return 0;
}
