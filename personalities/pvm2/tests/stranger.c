/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A program of PVM 3 that is no component and sends into the components' contexts whatever it likes, to the component whose
 * task is its first argument; the second one is a task whose death it pretends. Contexts and tags are those of src/pvm2.h.
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

/* The death of a component that lives, and calls of ready that nobody has made. */
static void forge_notes(int tid, int victim)
{
    unsigned long calls[2] = {1, 5};

    pvm_setcontext(0x25003);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&victim, 1, 1);
    CHECK_IS(pvm_send(tid, 1), PvmOk);
    pvm_initsend(PvmDataDefault);
    pvm_pkulong(calls, 2, 1);
    pvm_pkstr("forged");
    CHECK_IS(pvm_send(tid, 2), PvmOk);
}

int main(int argc, char **argv)
{
    int tid, context;

    CHECK(argc >= 2 && (tid = (int)strtol(argv[1], NULL, 0)) > 0);
    CHECK(pvm_mytid() > 0);
    for (context = 0x25001; context <= 0x25003; context++) {
        send_text(tid, context, 1, "a stranger's message");
        send_ints(tid, context, 1, 0);
        send_ints(tid, context, 2, 1000);
        send_text(tid, context, 0, "nobody");
    }
    forge_notes(tid, argc > 2 ? (int)strtol(argv[2], NULL, 0) : tid);
    pvm_exit();
    return 0;
}
