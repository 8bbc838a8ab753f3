/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What nodes write in each mode, and that all read the same. */
#include "check.h"
#include "express.h"

int main(void)
{
    struct nodenv env;
    char word[100] = "";
    exparam(&env);
    printf("single\n");
    CHECK(!ismulti(stdout));
    CHECK(scanf("%99s", word) == 1);
    printf("word %s\n", word);
    CHECK(fmulti(stdout) == 0);
    CHECK(ismulti(stdout) || env.nprocs == 1);
    printf("multi %d %s\n", env.procnum, word);
    CHECK(exflush(stdout) == 0);
    printf("again %d\n", env.procnum);
    CHECK(fsingl(stdout) == 0);
    printf("single again\n");
    CHECK(fasync(stdout) == 0);
    printf("async\n");
    fmulti(stdout);
    printf("ok end %d\n", env.procnum);
    return 0;
}
