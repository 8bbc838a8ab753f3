/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A program of PVM 3 that is no component and sends into the components' contexts whatever it likes, to the component whose
 * task is its argument. Contexts and tags are those of src/pvm2.h.
 */
#include <pvm3.h>
#include "check.h"

static void send_text(int tid, int context, int tag, const char *text)
{
    pvm_setcontext(context);
    pvm_initsend(PvmDataDefault);
    pvm_pkstr((char *)text);
    CHECK_IS(pvm_send(tid, tag), PvmOk);
}

static void send_ints(int tid, int context, int tag, int count)
{
    static int ints[1000];

    memset(ints, 0x7f, sizeof ints);
    pvm_setcontext(context);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(ints, count, 1);
    CHECK_IS(pvm_send(tid, tag), PvmOk);
}

int main(int argc, char **argv)
{
    int tid, context;

    CHECK(argc == 2 && (tid = (int)strtol(argv[1], NULL, 0)) > 0);
    CHECK(pvm_mytid() > 0);
    for (context = 0x25001; context <= 0x25003; context++) {
        send_text(tid, context, 1, "a stranger's message");
        send_ints(tid, context, 1, 0);
        send_ints(tid, context, 2, 1000);
        send_text(tid, context, 0, "nobody");
    }
    pvm_exit();
    return 0;
}
