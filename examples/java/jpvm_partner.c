/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A partner of JPVM tasks in C: sends back, with tag 2, the text and the number of each message with tag 1. */
#include <pvm3.h>

int main(void)
{
    char text[256];
    double number;
    int parent = pvm_parent();

    while (pvm_recv(parent, 1) > 0 && pvm_upkstr(text) == 0 && pvm_upkdouble(&number, 1, 1) == 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pkstr(text);
        pvm_pkdouble(&number, 1, 1);
        pvm_send(parent, 2);
    }
    return pvm_exit();
}
