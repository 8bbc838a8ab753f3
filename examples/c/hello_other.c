/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* hello_other: hello starts it. It sends the name of its host and ends. */
#include <stdio.h>
#include <unistd.h>
#include "pvm3.h"

enum { GREETING = 1 };

int main(void)
{
    char host[64] = "", greeting[128];

    gethostname(host, sizeof host - 1);
    snprintf(greeting, sizeof greeting, "hello, world from %s", host);
    pvm_initsend(PvmDataDefault);
    pvm_pkstr(greeting);
    pvm_send(pvm_parent(), GREETING);
    pvm_exit();
    return 0;
}
