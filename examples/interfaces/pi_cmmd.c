/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CMMD: a reduction. */
#include <cmmd.h>
#include <stdio.h>
#include "pi.h"

int main(void)
{
    double total = CMMD_reduce_double(strips_of(CMMD_self_address(), CMMD_partition_size()), CMMD_combiner_add);

    if (CMMD_self_address() == 0)
        printf("CMMD: pi is %.8f by %d nodes\n", total, CMMD_partition_size());
    return 0;
}
