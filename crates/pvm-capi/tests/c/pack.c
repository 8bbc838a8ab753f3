/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What works without a machine, written as in 1994: no prototypes of its own, K&R definitions, data
 * of the library declared where they are used.
 */
#include <stdio.h>
#include <string.h>

#include "pvm3.h"

extern int pvm_errno, pvm_nerr;
extern char *pvm_errlist[];

/* A program may have a function of a name that the library has, too. */
int pvmsleep(seconds)
int seconds;
{
    return seconds;
}

static int check(what, good)
char *what;
int good;
{
    if (!good)
        printf("wrong: %s (pvm_errno %d)\n", what, pvm_errno);
    return !good;
}

int main()
{
    int ints[4], out[4], bytes, wrong = 0;
    double d = 2.5, e = 0;
    char text[32];

    pvm_setopt(PvmAutoErr, 0);
    memset(out, 0, sizeof out);
    ints[0] = 1, ints[1] = 2, ints[2] = 3, ints[3] = -4;
    wrong += check("no buffer", pvm_pkint(ints, 4, 1) == PvmNoBuf);
    wrong += check("errno", pvm_errno == PvmNoBuf);
    wrong += check("text", strcmp(pvm_errlist[-pvm_errno], "No current buffer") == 0);
    wrong += check("texts", pvm_nerr == 37);
    wrong += check("initsend", pvm_initsend(PvmDataDefault) > 0);
    wrong += check("encoding", pvm_initsend(3) == PvmBadParam);
    pvm_initsend(PvmDataDefault);
    wrong += check("stride", pvm_pkint(ints, 2, 3) == PvmOk);
    wrong += check("packf", pvm_packf("%d %lf %s %2d", 7, d, "hello", ints) == PvmOk);
    pvm_bufinfo(pvm_getsbuf(), &bytes, (int *)0, (int *)0);
    wrong += check("length", bytes == 8 + 4 + 8 + 12 + 8);
    pvm_setrbuf(pvm_setsbuf(0));
    wrong += check("upkint", pvm_upkint(out, 2, 2) == PvmOk && out[0] == 1 && out[2] == -4);
    wrong += check("unpackf", pvm_unpackf("%d%lf%s%*d", out, &e, text, 2, out + 1) == PvmOk);
    wrong += check("values", out[0] == 7 && e == 2.5 && strcmp(text, "hello") == 0);
    wrong += check("array", out[1] == 1 && out[2] == 2);
    wrong += check("end", pvm_upkint(out, 1, 1) == PvmNoData);
    wrong += check("format", pvm_packf("%+%q", PvmDataDefault) == PvmBadParam);
    wrong += check("freed", pvm_freebuf(pvm_getrbuf()) == PvmOk && pvm_getrbuf() == 0);
    wrong += check("unknown", pvm_freebuf(4711) == PvmNoSuchBuf);
    wrong += check("own function", pvmsleep(5) == 5);
    return wrong != 0;
}
