/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* refused WHAT: the last node makes one wrong call, and the other ones wait (tests/refused.sh). */
#include "check.h"
#include "express.h"
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define IS(name) (strcmp(what, name) == 0)

static char data[64];
static int type = 1, nobody = 2, none = -7, first, status, list[2] = {0, 1};

static int add(void *into, void *from, int size)
{
    (void)into, (void)from, (void)size;
    return 0;
}

static void sends(const char *what)
{
    if (IS("node"))
        exwrite(data, 8, &nobody, &type);
    if (IS("type"))
        exwrite(data, 8, &first, &none);
    if (IS("length"))
        exwrite(data, INT_MIN, &first, &type);
    if (IS("null"))
        exwrite(NULL, INT_MAX, &first, &type);
    if (IS("exsend"))
        exsend(data, -1, &first, &type, &status);
    if (IS("vector"))
        exvwrite(data, 8, 8, -1, &first, &type);
    if (IS("vector-overflow"))
        exvwrite(data, INT_MAX, 0, INT_MAX, &first, &type);
}

static void receives(const char *what)
{
    if (IS("read-length"))
        exread(data, -1, &first, &type);
    if (IS("read-node"))
        exread(data, 8, &nobody, &type);
    if (IS("read-type"))
        exread(data, 8, &first, &none);
    if (IS("short"))
        exread(data, 8, &first, &type);
    if (IS("vector-short"))
        exvread(data, 1, 2, 8, &first, &type);
    if (IS("later-short")) {
        exreceive(data, 8, &first, &type, &status);
        pause();
    }
    if (IS("handler"))
        exhandle(NULL, &first, &type);
}

static void together(const char *what)
{
    if (IS("list"))
        exbroadcast(data, 0, 8, INT_MAX, list, NULL, &type);
    if (IS("broadcast"))
        exbroadcast(data, 0, -8, ALLNODES, NULLPTR, NULL, &type);
    if (IS("origin"))
        exbroadcast(data, 2, 8, ALLNODES, NULLPTR, NULL, &type);
    if (IS("combine"))
        excombine(data, add, -1, 8, ALLNODES, NULLPTR, &type);
    if (IS("concat"))
        exconcat(data, 8, data, -1, NULL, 2, list, &type);
    if (IS("grid"))
        exgridinit(INT_MAX, list);
    exgridinit(1, &nobody);
    if (IS("direction"))
        exgridnode(0, 1, 1);
    if (IS("handle"))
        exload(99, "program", 0);
    if (IS("exopen"))
        exopen("device", 1, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct nodenv env;
    exparam(&env);
    if (env.procnum == 0 && strstr(what, "short") != NULL)
        exwrite(data, 64, &type, &type);
    if (env.procnum == 1) {
        sends(what);
        receives(what);
        together(what);
        fprintf(stderr, "%s is not refused\n", what);
        return 98;
    }
    type = 77;
    first = 1;
    exread(data, 8, &first, &type);
    return 97;
}
