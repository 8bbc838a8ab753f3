/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One component by itself: every call that needs no other, with good values and with bad ones. */
#include <pvmuser.h>
#include "check.h"

static char LONG_NAME[] = "a name of thirty-three characters";

static void before_enrolling(void)
{
    char name[33];
    int instance, one = 1;

    CHECK_IS(leave(), PvmNoComp);
    CHECK_IS(whoami(name, &instance), PvmNoComp);
    CHECK_IS(snd("alone", 0, 1), PvmNoComp);
    CHECK_IS(vsnd("alone", 0, 1), PvmNoComp);
    CHECK_IS(rcv(1), PvmNoComp);
    CHECK_IS(vrcv(1), PvmNoComp);
    CHECK_IS(rcvmulti(1, &one), PvmNoComp);
    CHECK_IS(vrcvmulti(1, &one), PvmNoComp);
    CHECK_IS(probe(1), PvmNoComp);
    CHECK_IS(probemulti(1, &one), PvmNoComp);
    CHECK_IS(barrier("alone", 1), PvmNoComp);
    CHECK_IS(ready("alone"), PvmNoComp);
    CHECK_IS(waituntil("alone"), PvmNoComp);
    CHECK_IS(terminate("alone", 0), PvmNoComp);
    CHECK_IS(initiate("alone", NULL), PvmNoComp);
    CHECK_IS(initiateM("alone", NULL), PvmNoComp);
    CHECK_IS(rcvinfo(NULL, NULL, NULL, NULL), PvmNoMsg);
    CHECK_IS(getnint(&one, 1), PvmNoMsg);
    CHECK_IS(putnint(&one, 1), PvmNoMsg);
}

static void enrolling(void)
{
    char name[33];
    int instance = -1;

    CHECK_IS(enroll(NULL), PvmBadParam);
    CHECK_IS(enroll(""), PvmBadParam);
    CHECK_IS(strlen(LONG_NAME), 33);
    CHECK_IS(enroll(LONG_NAME), PvmTooLong);
    CHECK_IS(enroll(LONG_NAME + 1), 0); /* 32 characters are allowed */
    CHECK_IS(whoami(name, &instance), PvmOk);
    CHECK(!strcmp(name, LONG_NAME + 1) && instance == 0);
    CHECK_IS(enroll("again"), PvmAlready);
    CHECK_IS(leave(), PvmOk);
    CHECK_IS(leave(), PvmNoComp);
    CHECK_IS(enroll("alone"), 0);
    CHECK_IS(whoami(NULL, NULL), PvmOk);
}

static void packing(void)
{
    int i[3] = {1, -2, 2147483647};
    short s[2] = {-32768, 7};
    long l[2] = {-5000000000L, 6};
    float f[2] = {1.5f, -0.25f}, c[4] = {1, 2, 3, 4};
    double d[2] = {1e300, -1e-300}, z[4] = {1, -1, 2, -2};

    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(i, 3), PvmOk);
    CHECK_IS(putnshort(s, 2), PvmOk);
    CHECK_IS(putnlong(l, 2), PvmOk);
    CHECK_IS(putnfloat(f, 2), PvmOk);
    CHECK_IS(putndfloat(d, 2), PvmOk);
    CHECK_IS(putncplx(c, 2), PvmOk);
    CHECK_IS(putndcplx(z, 2), PvmOk);
    CHECK_IS(putbytes("b\0yte", 5), PvmOk);
    CHECK_IS(putstring("a text"), PvmOk);
    CHECK_IS(putstring(""), PvmOk);
    CHECK_IS(putnint(NULL, 0), PvmOk);
    CHECK_IS(putnint(i, -1), PvmBadParam);
    CHECK_IS(putbytes("", -1), PvmBadParam);
    CHECK_IS(putndcplx(NULL, 1), PvmBadParam);
    CHECK_IS(putstring(NULL), PvmBadParam);
}

static void unpacking(void)
{
    int i[3];
    short s[2];
    long l[2];
    float f[2], c[4];
    double d[2], z[4];
    char bytes[5], text[16], empty[16] = "x";

    CHECK_IS(getnint(i, -1), PvmBadParam);
    CHECK_IS(getnint(NULL, 1), PvmBadParam);
    CHECK_IS(getstring(NULL), PvmBadParam);
    CHECK_IS(getnint(i, 3), PvmOk);
    CHECK_IS(getnshort(s, 2), PvmOk);
    CHECK_IS(getnlong(l, 2), PvmOk);
    CHECK_IS(getnfloat(f, 2), PvmOk);
    CHECK_IS(getndfloat(d, 2), PvmOk);
    CHECK_IS(getncplx(c, 2), PvmOk);
    CHECK_IS(getndcplx(z, 2), PvmOk);
    CHECK_IS(getbytes(bytes, 5), PvmOk);
    CHECK_IS(getstring(text), PvmOk);
    CHECK_IS(getstring(empty), PvmOk);
    CHECK(i[0] == 1 && i[1] == -2 && i[2] == 2147483647 && s[0] == -32768 && s[1] == 7);
    CHECK(l[0] == -5000000000L && l[1] == 6 && f[0] == 1.5f && f[1] == -0.25f);
    CHECK(d[0] == 1e300 && d[1] == -1e-300 && c[0] == 1 && c[3] == 4 && z[1] == -1 && z[3] == -2);
    CHECK(!memcmp(bytes, "b\0yte", 5) && !strcmp(text, "a text") && !empty[0]);
    CHECK_IS(getnint(i, 1), PvmNoData);
    CHECK_IS(getstring(text), PvmNoData);
    CHECK_IS(getbytes(bytes, 0), PvmOk);
}

static void to_myself(int direct)
{
    char name[33] = "";
    int bytes = 0, type = 0, instance = -1;

    CHECK_IS(probe(5), PvmNoMsg);
    packing();
    CHECK_IS(direct ? vsnd("alone", 0, 5) : snd("alone", 0, 5), PvmOk);
    CHECK_SOON(probe(5) == 5);
    CHECK_IS(probe(4), PvmNoMsg);
    CHECK_IS(direct ? vrcv(5) : rcv(5), 5);
    CHECK_IS(rcvinfo(&bytes, &type, name, &instance), PvmOk);
    CHECK(bytes > 0 && type == 5 && !strcmp(name, "alone") && instance == 0);
    unpacking();
    /* A sent message stays, and can be sent again. */
    CHECK_IS(snd("alone", 0, 0), PvmOk);
    CHECK_IS(rcv(-1), 0);
    unpacking();
}

static void to_myself_again(void)
{
    CHECK_IS(snd("alone", 0, 6), PvmOk);
    CHECK_IS(rcv(6), 6);
}

/* Few items of one type take another way; they can be read in pieces, and as something else. */
static void few_items(void)
{
    int i[3] = {7, 8, 9};
    short s[2] = {-3, 4};
    float f[2] = {0.5f, 2};
    double d[3] = {1, 2, 3};
    char bytes[16];

    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putndfloat(d, 3), PvmOk);
    to_myself_again();
    memset(d, 0, sizeof d);
    CHECK_IS(getndfloat(d + 1, 2), PvmOk);
    CHECK_IS(getndfloat(d, 1), PvmOk);
    CHECK(d[1] == 1 && d[2] == 2 && d[0] == 3);
    CHECK_IS(getndfloat(d, 1), PvmNoData);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(i, 3), PvmOk);
    to_myself_again();
    CHECK_IS(getnint(i, 1), PvmOk);
    CHECK_IS(getnfloat(f, 1), PvmOk); /* the bits of an int */
    CHECK(i[0] == 7 && !memcmp(f, i + 1, 4));
    CHECK_IS(getbytes(bytes, 4), PvmOk);
    CHECK(bytes[3] == 9 && !bytes[0]); /* as they lie in the message */
    CHECK_IS(getnint(i, 1), PvmNoData);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnshort(s, 2), PvmOk);
    to_myself_again();
    CHECK_IS(getnint(i, 2), PvmOk);
    CHECK(i[0] == -3 && i[1] == 4);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putbytes("0123456789", 10), PvmOk);
    to_myself_again();
    CHECK_IS(getbytes(bytes, 4), PvmOk);
    CHECK(!memcmp(bytes, "0123", 4));
    CHECK_IS(getbytes(bytes, 6), PvmOk);
    CHECK(!memcmp(bytes, "456789", 6));
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnfloat(f, 2), PvmOk);
    to_myself_again();
    CHECK_IS(getnfloat(f, 3), PvmNoData);
    CHECK_IS(initsend(), PvmOk);
    CHECK_IS(putnint(i, 2), PvmOk);
    to_myself_again();
    CHECK_IS(getstring(bytes), PvmNoData); /* no text: it was PvmMismatch, which is for barriers */
}

/* Messages of one type in order, other types before them; several types; none of them. */
static void choosing(void)
{
    int n, types[2] = {8, 9}, any = -1, bad = -2;

    for (n = 1; n <= 6; n++) {
        initsend();
        putnint(&n, 1);
        CHECK_IS(snd("alone", 0, n == 3 ? 9 : n == 5 ? 8 : 7), PvmOk);
    }
    CHECK_SOON(probe(9) == 9);
    CHECK_IS(probemulti(2, types), probe(8) == 8 ? 8 : 9);
    CHECK_IS(rcvmulti(2, types), 9); /* the one that came first */
    CHECK(getnint(&n, 1) == PvmOk && n == 3);
    CHECK_IS(probe(7), 7);
    CHECK_IS(vrcvmulti(2, types), 8);
    CHECK(getnint(&n, 1) == PvmOk && n == 5);
    CHECK_IS(rcv(7), 7);
    CHECK(getnint(&n, 1) == PvmOk && n == 1);
    CHECK_IS(rcvmulti(1, &any), 7);
    CHECK(getnint(&n, 1) == PvmOk && n == 2);
    CHECK_IS(rcv(-1), 7);
    CHECK_IS(vrcv(7), 7);
    CHECK(getnint(&n, 1) == PvmOk && n == 6);
    CHECK_IS(probe(-1), PvmNoMsg);
    CHECK_IS(probemulti(2, types), PvmNoMsg);
    CHECK_IS(rcv(-2), PvmBadParam);
    CHECK_IS(probe(-2), PvmBadParam);
    CHECK_IS(rcvmulti(1, &bad), PvmBadParam);
    CHECK_IS(rcvmulti(0, types), PvmBadParam);
    CHECK_IS(rcvmulti(-1, types), PvmBadParam);
    CHECK_IS(rcvmulti(1, NULL), PvmBadParam);
    CHECK_IS(probemulti(1, NULL), PvmBadParam);
}

static void addresses(void)
{
    CHECK_IS(snd("nobody", 0, 1), PvmNoComp);
    CHECK_IS(vsnd("nobody", -1, 1), PvmNoComp);
    CHECK_IS(snd("alone", 1, 1), PvmNoComp);
    CHECK_IS(snd("alone", 2147483647, 1), PvmNoComp);
    CHECK_IS(snd("alone", -2, 1), PvmBadParam);
    CHECK_IS(snd("alone", 0, -1), PvmBadParam);
    CHECK_IS(snd(NULL, 0, 1), PvmBadParam);
    CHECK_IS(snd("", 0, 1), PvmBadParam);
    CHECK_IS(snd(LONG_NAME, 0, 1), PvmTooLong);
    CHECK_IS(snd("alone", -1, 1), PvmOk); /* all but the caller */
    CHECK_IS(probe(1), PvmNoMsg);
    CHECK_IS(status("alone", 0), 1);
    CHECK_IS(status("alone", -1), 1);
    CHECK_IS(status("alone", 1), 0);
    CHECK_IS(status("nobody", -1), 0);
    CHECK_IS(status("alone", -2), PvmBadParam);
    CHECK_IS(status(LONG_NAME, 0), PvmTooLong);
    CHECK_IS(status(NULL, 0), PvmBadParam);
    CHECK_IS(terminate("nobody", 0), PvmNoComp);
    CHECK_IS(terminate("nobody", -1), PvmNoComp);
    CHECK_IS(terminate("alone", 0), PvmBadParam);
    CHECK_IS(terminate("alone", -2), PvmBadParam);
    CHECK_IS(terminate(LONG_NAME, 0), PvmTooLong);
}

static void starting(void)
{
    int hosts = 0, formats = 0;

    CHECK_IS(pstatus(&hosts, &formats), PvmOk);
    CHECK(hosts >= 1 && formats == 1);
    CHECK_IS(pstatus(NULL, NULL), PvmOk);
    CHECK_IS(initiate(NULL, NULL), PvmBadParam);
    CHECK_IS(initiate("", "SUN4"), PvmBadParam);
    CHECK_IS(initiate(LONG_NAME, "SUN4"), PvmTooLong);
    CHECK_IS(initiate("no-such-program", NULL), PvmNoFile);
    CHECK_IS(initiate("/no/such-program", "SUN4"), PvmNoFile);
    CHECK_IS(initiate("alone", "PDP11"), PvmNoHost);
    CHECK_IS(initiateM("alone", "no-such-host"), PvmNoHost);
    CHECK_IS(initiatem("alone", "no-such-host"), PvmNoHost);
    CHECK_IS(status("no-such-program", -1), 0); /* what did not start has no number */
    CHECK_IS(status("alone", 1), 0);
}

static void waiting(void)
{
    static char longer[257];

    memset(longer, 'x', 256);
    CHECK_IS(barrier("alone", 1), PvmOk);
    CHECK_IS(barrier("alone", 1), PvmOk);
    CHECK_IS(barrier("alone", 0), PvmBadParam);
    CHECK_IS(barrier("alone", -1), PvmBadParam);
    CHECK_IS(barrier(NULL, 1), PvmBadParam);
    CHECK_IS(barrier(longer, 1), PvmTooLong);
    CHECK_IS(ready("event"), PvmOk);
    CHECK_IS(ready("event"), PvmOk);
    CHECK_IS(waituntil("event"), PvmOk);
    CHECK_IS(waituntil("event"), PvmOk);
    CHECK_IS(ready(""), PvmBadParam);
    CHECK_IS(ready(longer), PvmTooLong);
    CHECK_IS(waituntil(NULL), PvmBadParam);
}

int main(void)
{
    before_enrolling();
    enrolling();
    to_myself(0);
    to_myself(1);
    few_items();
    choosing();
    addresses();
    starting();
    waiting();
    CHECK_IS(leave(), PvmOk);
    CHECK_IS(snd("alone", 0, 1), PvmNoComp);
    CHECK_IS(status("alone", -1), 0); /* these need no component, but said that no machine answers */
    CHECK_IS(pstatus(NULL, NULL), PvmOk);
    CHECK_IS(enroll("alone"), 0); /* the number is free again */
    CHECK_IS(leave(), PvmOk);
    return 0;
}
