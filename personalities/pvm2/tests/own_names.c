/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program that has its own functions of names that the library exports: the library calls none of them. */
#include "check.h"

int enroll(char *name);
int leave(void);
int initsend(void);
int snd(char *name, int instance, int type);
int rcv(int type);

int status(void);
int probe(void);
int ready(void);
int barrier(void);
int whoami(void);

int status(void)
{
    abort();
}

int probe(void)
{
    abort();
}

int ready(void)
{
    abort();
}

int barrier(void)
{
    abort();
}

int whoami(void)
{
    abort();
}

int main(void)
{
    CHECK_IS(enroll("own"), 0);
    CHECK_IS(initsend(), 0);
    CHECK_IS(snd("own", 0, 3), 0);
    CHECK_IS(rcv(3), 3);
    CHECK_IS(leave(), 0);
    return 0;
}
