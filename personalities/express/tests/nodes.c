/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All calls of C programs between nodes. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "express.h"

static struct nodenv env;
static int me, all, right, left;

static void plain(void)
{
    int type = 5, src = left, any = DONTCARE, i;
    char out[100], in[100];
    snprintf(out, sizeof out, "from %d", me);
    CHECK(exwrite(out, 20, &right, &type) == 20);
    CHECK(exread(in, 100, &src, &any) == 20);
    CHECK(src == left && any == 5 && atoi(in + 5) == left);
    for (i = 0; i < 3; i++) {
        type = 10 + i;
        exwrite(out, i, &right, &type);
    }
    for (i = 2; i >= 0; i--) {
        type = 10 + i;
        src = left;
        CHECK(exread(in, 100, &src, &type) == i);
    }
    type = ALLNODES;
    i = 77;
    CHECK(exwrite(out, 1, &type, &i) == 1);
    for (i = 1; i < all; i++) {
        int seventy = 77;
        src = DONTCARE;
        CHECK(exread(in, 1, &src, &seventy) == 1);
    }
}

static void beside(void)
{
    int type = 20, src = DONTCARE, sent = -1, other = 21;
    volatile int status = 0;
    char in[10] = "", out[10] = "beside";
    CHECK(exreceive(in, 10, &src, &type, (int *)&status) == 0 && (status < 0 || all > 1));
    exsync();
    CHECK(exsend(out, 10, &right, &type, &sent) == 0 && sent == 10);
    while (status < 0)
        usleep(100);
    CHECK(status == 10 && strcmp(in, "beside") == 0 && src == left);
    src = DONTCARE;
    CHECK(extest(&src, &other) == -1);
    exsync();
    CHECK(exwrite(out, 3, &right, &other) == 3);
    while (extest(&src, &other) < 0)
        usleep(100);
    CHECK(extest(&src, &other) == 3 && src == left && other == 21);
    CHECK(exread(in, 10, &src, &other) == 3);
}

static volatile int handled, handled_sum;

static int handler(char *buf, int len, int src, int type)
{
    CHECK(len == (int)sizeof(int) && src == left && type == 30);
    handled_sum += *(int *)buf;
    handled++;
    return 0;
}

static void handlers(void)
{
    int type = 30, any = DONTCARE, i;
    CHECK(exhandle(handler, &any, &type) == 0);
    for (i = 1; i <= 100; i++)
        exwrite(&i, sizeof i, &right, &type);
    while (handled < 100)
        usleep(100);
    CHECK(handled_sum == 5050);
}

static void exchanges(void)
{
    int type = 40, itype = DONTCARE, src = left, got[4], grid[3][5], i, k;
    int value[4] = {me, me + 1, me + 2, me + 3};
    CHECK(exchange(got, sizeof got, &src, &itype, value, sizeof value, &right, &type) == sizeof got);
    CHECK(src == left && itype == 40 && got[3] == left + 3);
    for (i = 0; i < 3; i++)
        for (k = 0; k < 5; k++)
            grid[i][k] = 100 * me + 10 * i + k;
    src = left;
    CHECK(exvchange(got, sizeof(int), sizeof(int), 3, &src, &itype, &grid[0][2], sizeof(int), sizeof grid[0], 3, &right,
                    &type) == 3 * (int)sizeof(int));
    CHECK(got[0] == 100 * left + 2 && got[2] == 100 * left + 22);
    CHECK(exvwrite(got, sizeof(int), sizeof(int), 3, &right, &type) == 12);
    memset(grid, 0, sizeof grid);
    src = DONTCARE;
    CHECK(exvread(&grid[0][1], sizeof(int), sizeof grid[0], 3, &src, &type) == 12);
    CHECK(grid[2][1] == 100 * ((left + all - 1) % all) + 22 && grid[0][0] == 0 && grid[1][2] == 0);
}

static int add(void *p1, void *p2, int size)
{
    CHECK(size == sizeof(double));
    *(double *)p1 += *(double *)p2;
    return 0;
}

static void many(void)
{
    static char whole[4096];
    int list[64], sizes[64], type = 50, result = -1, i, half = (all + 1) / 2, total = 0;
    double x[100];
    strcpy(whole, me == all - 1 ? "the last one" : "");
    CHECK(exbroadcast(whole, all - 1, 13, ALLNODES, NULLPTR, &result, &type) == 13 && result == 13);
    CHECK(strcmp(whole, "the last one") == 0);
    for (i = 0; i < 100; i++)
        x[i] = me + i;
    CHECK(excombine(x, add, sizeof *x, 100, ALLNODES, NULLPTR, &type) == 0);
    for (i = 0; i < 100; i++)
        CHECK(x[i] == all * (all - 1) / 2 + all * i);
    /* The first half, last first; the others go by. */
    for (i = 0; i < half; i++)
        list[i] = half - 1 - i;
    x[0] = me + 1;
    if (me < half) {
        CHECK(excombine(x, add, sizeof *x, 1, half, list, &type) == 0);
        CHECK(x[0] == half * (half + 1) / 2);
        CHECK(exbroadcast(whole, 0, 13, half, list, NULL, &type) == 13);
        CHECK(exconcat(&me, sizeof me, whole, sizeof whole, sizes, half, list, &type) == half * (int)sizeof me);
        for (i = 0; i < half; i++)
            CHECK(((int *)whole)[i] == list[i] && sizes[i] == (int)sizeof me);
    }
    for (i = 0; i < all; i++)
        total += i + 1;
    memset(whole, 'a' + me, (size_t)all);
    CHECK(exconcat(whole, me + 1, whole + 100, 3000, sizes, ALLNODES, NULLPTR, &type) == total);
    CHECK(whole[100] == 'a' && whole[100 + total - 1] == 'a' + all - 1 && sizes[all - 1] == all);
    CHECK(exsync() == 0);
}

static void grids(void)
{
    int line[1], ring[1], coord[2], dim[2], part[2], first[2], whole[2] = {10, 7}, i, sum = 0;
    line[0] = all;
    ring[0] = -all;
    CHECK(exgridinit(1, line) == 0);
    CHECK(exgridnode(0, 0, -1) == NONODE && exgridnode(all - 1, 0, 1) == NONODE);
    CHECK(exgridnode(0, 0, all - 1) == all - 1);
    CHECK(exgridinit(1, ring) == 0);
    CHECK(exgridnode(0, 0, -1) == all - 1 && exgridnode(all - 1, 0, 1) == 0);
    for (i = 0; i < 100; i++)
        CHECK(exungray(exgray(i)) == i && __builtin_popcount((unsigned)(exgray(i) ^ exgray(i + 1))) == 1);
    if (all < 4)
        return;
    dim[0] = 2;
    dim[1] = 2;
    CHECK(exgridinit(2, dim) == 0);
    CHECK(exgridcoord(3, coord) == 0 && coord[0] == 1 && coord[1] == 1 && exgridproc(coord) == 3);
    CHECK(exgridnode(0, 1, 1) == 1 && exgridnode(0, 0, 1) == 2 && exgridnode(1, 1, 1) == NONODE);
    for (i = 0; i < 4; i++) {
        CHECK(exgridsize(i, whole, part, first) == 0);
        sum += part[0] * part[1];
        CHECK(first[0] == (i / 2) * 5 && first[1] == (i % 2) * 4);
    }
    CHECK(sum == 70);
}

static void bad(const char *what)
{
    int type = 5, node = all;
    char c = 0;
    if (me == 0 && strcmp(what, "node") == 0)
        exwrite(&c, 1, &node, &type);
    if (strcmp(what, "short") == 0) {
        exwrite(what, 5, &right, &type);
        exread(&c, 1, &left, &type);
    }
    if (me == 0 && strcmp(what, "list") == 0)
        exbroadcast(&c, 0, 1, 5, NULL, NULL, &type);
    exread(&c, 1, &left, &type);
}

int main(int argc, char **argv)
{
    CHECK(exparam(&env) == 0);
    me = env.procnum;
    all = env.nprocs;
    CHECK(me >= 0 && me < all && (1 << env.doscale) >= all && env.nhost == 0);
    right = (me + 1) % all;
    left = (me + all - 1) % all;
    if (argc > 1)
        bad(argv[1]);
    plain();
    beside();
    handlers();
    exchanges();
    many();
    grids();
    CHECK(extime() > 0);
    printf("ok %d nodes\n", all);
    return 0;
}
