/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The nodes' program of host and fhost. */
#include "check.h"
#include "express.h"

int main(void)
{
    struct nodenv env;
    int host = HOST, type = 1, value, i, sum = 0, all = ALLNODES;
    exparam(&env);
    CHECK(env.nhost == 1 && env.procnum >= 0 && env.procnum < env.nprocs);
    CHECK(exread(&value, sizeof value, &host, &type) == sizeof value);
    value += env.procnum;
    exsync();
    CHECK(exwrite(&value, sizeof value, &all, &type) == sizeof value);
    for (i = 1; i < env.nprocs; i++) {
        int src = DONTCARE, other;
        CHECK(exread(&other, sizeof other, &src, &type) == sizeof other);
        sum += other;
    }
    sum += value;
    CHECK(exwrite(&sum, sizeof sum, &host, &type) == sizeof sum);
    return 0;
}
