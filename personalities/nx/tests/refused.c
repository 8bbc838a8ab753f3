/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* refused WHAT: the last node makes one wrong call, and the other ones wait (tests/refused.sh). */
#include "nx.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IS(name) (strcmp(what, name) == 0)
#define BEYOND_32_BITS (1L << 32)

static char data[64];
static long info[8], sizes[2] = {LONG_MAX, LONG_MAX}, count, value, work;

static void handle(long type, long bytes, long node, long pid)
{
    (void)type, (void)bytes, (void)node, (void)pid;
}

static void sends(const char *what)
{
    if (IS("node"))
        csend(1, data, 8, 3, 0);
    if (IS("type"))
        csend(-1, data, 8, 0, 0);
    if (IS("type-long"))
        csend(BEYOND_32_BITS + 1, data, 8, 0, 0);
    if (IS("length"))
        csend(1, data, -8, 0, 0);
    if (IS("length-most"))
        csend(1, data, LONG_MAX, 0, 0);
    if (IS("isend"))
        isend(1, data, INT_MIN, 0, 0);
}

static void receives(const char *what)
{
    if (IS("crecv-length"))
        crecv(1, data, -1);
    if (IS("crecv-type"))
        crecv(BEYOND_32_BITS + 9, data, 8);
    if (IS("irecv-type"))
        irecv(-BEYOND_32_BITS - 9, data, 8);
    if (IS("crecvx-node"))
        crecvx(1, data, 8, 2, 0, info);
    if (IS("crecv-short"))
        crecv(9, data, 8);
    if (IS("irecv-short"))
        msgwait(irecv(9, data, 8));
    if (IS("hrecv-short")) {
        hrecv(9, data, 8, handle);
        pause();
    }
}

static void ids(const char *what)
{
    long id = isend(2, data, 1, mynode(), 0);
    if (IS("id-long"))
        msgwait(id + BEYOND_32_BITS);
    if (IS("id-done"))
        msgdone(id + BEYOND_32_BITS);
    if (IS("id-cancel"))
        msgcancel(id + BEYOND_32_BITS);
    msgwait(id);
    if (IS("id-spent"))
        msgwait(id);
    if (IS("id-never"))
        msgwait(LONG_MIN);
}

static void together(const char *what)
{
    if (IS("gisum"))
        gisum(&value, -1, &work);
    if (IS("gisum-overflow"))
        gisum(&value, LONG_MAX / 4, &work);
    if (IS("gcol"))
        gcol(data, -1, data, 8, &count);
    if (IS("gcolx-overflow"))
        gcolx(data, sizes, data);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (mynode() == 0 && strstr(what, "short") != NULL)
        csend(9, data, 64, 1, 0);
    if (mynode() == 1) {
        sends(what);
        receives(what);
        ids(what);
        together(what);
        fprintf(stderr, "%s is not refused\n", what);
        return 98;
    }
    crecv(1, data, 8);
    return 97;
}
