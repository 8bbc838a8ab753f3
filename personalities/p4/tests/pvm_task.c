/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A task of PVM that answers a process of p4: it tells its id, and then ends. */
#include "check.h"
#include <pvm3.h>

int main(void)
{
    double x[2];
    int tid;
    printf("%d\n", pvm_mytid());
    fflush(stdout);
    CHECK(pvm_recv(-1, 77) > 0 && pvm_upkdouble(x, 2, 1) == 0);
    CHECK(pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &tid) == 0);
    int answer = (int)x[0];
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&answer, 1, 1);
    CHECK(pvm_send(tid, 78) == 0);
    pvm_exit();
    return 0;
}
