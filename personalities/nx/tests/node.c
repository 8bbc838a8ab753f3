/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What host.c loads. */
#include "check.h"
#include "nx.h"

int main(void)
{
    long value = 0, sum = 1, work;
    crecv(1, (char *)&value, sizeof value);
    CHECK(infonode() == myhost());
    gisum(&sum, 1, &work);
    CHECK(sum == numnodes());
    value += mynode();
    gsync();
    csend(2, (char *)&value, sizeof value, myhost(), 0);
    if (mynode() == numnodes() - 1)
        crecv(3, (char *)&value, sizeof value);
    return 0;
}
