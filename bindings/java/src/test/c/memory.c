/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Exposed memory on the other side of the tests of the Java binding: memory MODE
 *   expose BYTES  exposes so many bytes as number 7, and the text "readable" as number 8 to be read only; says so with
 *                 tag 1, and takes no further part until the next message ends it
 *   count         is told an owner, a number and how often with tag 1, takes so many numbers of the counter there, and
 *                 sends them with tag 2; the word behind it counts, too, by exchanges alone
 */
#include <neopvm.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "memory: %s: %d\n", what, result);
        exit(1);
    }
}

static void expose(uint64_t bytes)
{
    void *address;

    check(neopvm_expose(7, bytes, NEOPVM_MAY_WRITE, &address), "expose");
    check(neopvm_expose(8, 8, NEOPVM_MAY_READ, &address), "expose");
    memcpy(address, "readable", 8);
    check(pvm_initsend(PvmDataDefault), "initsend");
    check(pvm_send(pvm_parent(), 1), "send");
    check(pvm_recv(-1, -1), "receive");
}

static void count(void)
{
    int what[3], i;
    int64_t before, seen;
    long *had;

    check(pvm_recv(pvm_parent(), 1), "receive");
    check(pvm_upkint(what, 3, 1), "unpack");
    had = calloc((size_t)what[2], sizeof *had);
    if (!had)
        exit(1);
    for (i = 0; i < what[2]; i++) {
        check(neopvm_add_memory(what[0], (uint32_t)what[1], 0, 8, 1, &before), "add");
        had[i] = before;
        check(neopvm_get_memory(what[0], (uint32_t)what[1], 8, &before, 8), "get");
        do {
            seen = before;
            check(neopvm_exchange_memory(what[0], (uint32_t)what[1], 8, 8, seen, seen + 1, &before), "exchange");
        } while (before != seen);
    }
    check(pvm_initsend(PvmDataDefault), "initsend");
    check(pvm_pklong(had, what[2], 1), "pack");
    check(pvm_send(pvm_parent(), 2), "send");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    check(pvm_mytid(), "mytid");
    if (!strcmp(mode, "expose") && argc > 2) {
        expose(strtoull(argv[2], NULL, 10));
    } else if (!strcmp(mode, "count")) {
        count();
    } else {
        fprintf(stderr, "memory: no such mode: %s\n", mode);
        return 1;
    }
    pvm_exit();
    return 0;
}
