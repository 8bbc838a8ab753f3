/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NX: a global sum. */
#include <nx.h>
#include <stdio.h>
#include "pi.h"

int main(void)
{
    double total = strips_of((int)mynode(), (int)numnodes()), work;

    gdsum(&total, 1, &work);
    if (mynode() == 0)
        printf("NX: pi is %.8f by %ld nodes\n", total, numnodes());
    return 0;
}
