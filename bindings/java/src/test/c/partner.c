/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests of the Java binding talk to: partner MODE [ARGUMENT]
 *   echo          answers each message with what it understood of it, in the same types; tag 99 ends it
 *   die           ends by a signal when the first message has come
 *   silent        waits for ever
 *   square [N]    worker of a farm: int in with tag 1, its square out with tag 2; with N, one that gets N dies
 *   group NAME    joins a group of two and takes part in what GroupTest does
 *   barriers NAME N  joins a group, and goes to a barrier of two after each of N messages; then says so with tag 2
 *   large N       sends messages of N bytes with tag 3, then one of an int with tag 4, for each message that comes
 */
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "partner: %s: %d\n", what, result);
        exit(1);
    }
}

static int sender(int buffer, int *tag)
{
    int bytes, tid;

    check(buffer, "receive");
    check(pvm_bufinfo(buffer, &bytes, tag, &tid), "bufinfo");
    return tid;
}

/* byte, short, unsigned short, int, long, float, double, text; then 5 of each but the text. */
static void echo(void)
{
    for (;;) {
        char byte[5], text[256];
        short word[5];
        unsigned short letter[5];
        int number[5], tag, to = sender(pvm_recv(-1, -1), &tag), count, i;
        long large[5];
        float real[5];
        double precise[5];

        if (tag == 99)
            return;
        check(pvm_initsend(tag == 7 ? PvmDataRaw : PvmDataDefault), "initsend");
        for (i = 0; i < 2; i++) {
            count = i == 0 ? 1 : 5;
            check(pvm_upkbyte(byte, count, 1), "byte");
            check(pvm_upkshort(word, count, 1), "short");
            check(pvm_upkushort(letter, count, 1), "ushort");
            check(pvm_upkint(number, count, 1), "int");
            check(pvm_upklong(large, count, 1), "long");
            check(pvm_upkfloat(real, count, 1), "float");
            check(pvm_upkdouble(precise, count, 1), "double");
            if (i == 0)
                check(pvm_upkstr(text), "text");
            pvm_pkbyte(byte, count, 1);
            pvm_pkshort(word, count, 1);
            pvm_pkushort(letter, count, 1);
            pvm_pkint(number, count, 1);
            pvm_pklong(large, count, 1);
            pvm_pkfloat(real, count, 1);
            pvm_pkdouble(precise, count, 1);
            if (i == 0)
                pvm_pkstr(text);
        }
        check(pvm_send(to, tag + 1), "send");
    }
}

static void square(int deadly)
{
    for (;;) {
        int tag, number, to = sender(pvm_recv(-1, -1), &tag);

        if (tag != 1)
            return;
        check(pvm_upkint(&number, 1, 1), "int");
        if (number == deadly)
            raise(SIGKILL);
        number *= number;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&number, 1, 1);
        check(pvm_send(to, 2), "send");
    }
}

static void group(char *name)
{
    int mine[3], part[2], all[6], i, instance = pvm_joingroup(name);
    double sum[2] = {0.5, 1.5};

    check(instance, "join");
    check(pvm_barrier(name, 2), "barrier");
    for (i = 0; i < 3; i++)
        mine[i] = 10 * (instance + 1) + i;
    check(pvm_reduce(PvmSum, mine, 3, PVM_INT, 11, name, 0), "reduce to the other");
    check(pvm_reduce(PvmMax, sum, 2, PVM_DOUBLE, 12, name, 1), "reduce to me");
    check(pvm_gather(all, mine, 3, PVM_INT, 13, name, 0), "gather");
    check(pvm_scatter(part, NULL, 2, PVM_INT, 14, name, 0), "scatter");
    /* What came of it, for the other to see. */
    pvm_initsend(PvmDataDefault);
    pvm_pkint(part, 2, 1);
    pvm_pkdouble(sum, 2, 1);
    check(pvm_send(pvm_parent(), 15), "send");
    check(pvm_barrier(name, 2), "barrier");
    check(pvm_lvgroup(name), "leave");
}

static void barriers(char *name, int count)
{
    int tag, to = 0;

    check(pvm_joingroup(name), "join");
    while (count-- > 0) {
        to = sender(pvm_recv(-1, 1), &tag);
        check(pvm_barrier(name, 2), "barrier");
    }
    pvm_initsend(PvmDataDefault);
    check(pvm_send(to, 2), "send");
    check(pvm_lvgroup(name), "leave");
}

static void large(size_t size)
{
    char *items = calloc(size, 1);

    if (!items)
        exit(1);
    for (;;) {
        int tag, to = sender(pvm_recv(-1, -1), &tag);

        if (tag == 99)
            return;
        size_t left = size;

        pvm_initsend(PvmDataRaw);
        while (left > 0) {
            int part = left > 1 << 30 ? 1 << 30 : (int)left;

            check(pvm_pkbyte(items + (size - left), part, 1), "pack");
            left -= (size_t)part;
        }
        check(pvm_send(to, 3), "send");
        pvm_initsend(PvmDataDefault);
        check(pvm_pkint(&tag, 1, 1), "pack");
        check(pvm_send(to, 4), "send");
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    check(pvm_mytid(), "mytid");
    if (!strcmp(mode, "echo")) {
        echo();
    } else if (!strcmp(mode, "die")) {
        int tag;

        sender(pvm_recv(-1, -1), &tag);
        raise(SIGKILL);
    } else if (!strcmp(mode, "silent")) {
        pvm_recv(-1, -1);
        pause();
    } else if (!strcmp(mode, "square")) {
        square(argc > 2 ? atoi(argv[2]) : -1);
    } else if (!strcmp(mode, "group") && argc > 2) {
        group(argv[2]);
    } else if (!strcmp(mode, "barriers") && argc > 3) {
        barriers(argv[2], atoi(argv[3]));
    } else if (!strcmp(mode, "large") && argc > 2) {
        large((size_t)strtoull(argv[2], NULL, 10));
    } else {
        fprintf(stderr, "partner: no such mode: %s\n", mode);
        return 1;
    }
    pvm_exit();
    return 0;
}
