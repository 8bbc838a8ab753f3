/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A master in C whose others are in Fortran (mixed_f.f), and which talks to a task of PVM, too: `mixed_c TID` sends what all
 * have summed up by pvm_send and waits for the answer.
 */
#include "check.h"
#include "p4.h"
#include <pvm3.h>

int main(int argc, char **argv)
{
    double x[2] = {0, 1};
    int value = 4711, type, from, length, answer = 0;
    char *message = NULL;
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    int all = p4_num_total_ids(), tid = argc > 1 ? atoi(argv[1]) : 0;
    CHECK(p4_get_my_id() == 0);
    CHECK(p4_broadcast(3, &value, sizeof value) == 0);
    CHECK(p4_global_op(4, x, 2, sizeof *x, p4_dbl_sum_op, P4DBL) == 0);
    CHECK(x[0] == all * (all - 1) / 2 && x[1] == all);
    for (int at = 1; at < all; at++) {
        type = 5, from = -1, message = NULL;
        CHECK(p4_recv(&type, &from, &message, &length) == 0);
        CHECK(length == sizeof(double) && *(double *)(void *)message == from + 0.5);
        p4_msg_free(message);
    }
    if (tid > 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(x, 2, 1);
        CHECK(pvm_send(tid, 77) == 0);
        CHECK(pvm_recv(tid, 78) > 0 && pvm_upkint(&answer, 1, 1) == 0);
        CHECK(answer == (int)x[0]);
    }
    printf("ok %d processes\n", all);
    CHECK(p4_global_barrier(6) == 0);
    p4_wait_for_end();
    return 0;
}
