/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A table of processes that the program fills: by hand, without a procgroup file. */
#include "check.h"
#include "p4.h"

int main(int argc, char **argv)
{
    int sum;
    p4_initenv(&argc, argv);
    if (p4_get_my_id() == 0) {
        struct p4_procgroup *group = p4_alloc_procgroup();
        CHECK(group != NULL);
        group->num_entries = 2;
        group->entries[0].numslaves_in_group = 1;
        group->entries[1].numslaves_in_group = 2;
        strcpy(group->entries[1].host_name, "local");
        CHECK(p4_startup(group) == 0);
        free(group);
    }
    CHECK(p4_num_total_ids() == 4);
    sum = p4_get_my_id();
    CHECK(p4_global_op(1, &sum, 1, sizeof sum, p4_int_sum_op, P4INT) == 0);
    CHECK(sum == 6);
    if (p4_get_my_id() == 0)
        printf("ok table of %d\n", p4_num_total_ids());
    p4_wait_for_end();
    return 0;
}
