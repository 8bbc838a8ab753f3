/* Every form of field, with every type. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct point { double x, y; int name; };
union word { int i; float f; };
typedef struct point point;
typedef unsigned long size;
typedef float matrix[8][8];
enum colour { RED, GREEN };
static long vector[100];

static int next(void)
{
    static int n;
    return n++;
}

int real_main(int argc, char **argv)
{
    char c = 'c', text[20], *string = argv[0];
    signed char sc = 1;
    unsigned char uc = 2;
    short s = 3;
    unsigned short us = 4;
    int i = 5, length, many = argc;
    unsigned u = 6;
    long l = 7;
    unsigned long ul = 8;
    long long ll = 9;
    unsigned long long ull = 10;
    float f = 1.5f;
    double d = 2.5;
    long double ld = 3.5L;
    bool b = true;
    float complex fc = 1;
    double complex dc = 2;
    point p = { 1, 2, 3 };
    union word w = { 4 };
    enum colour colour = GREEN;
    const int fixed = 9;
    int64_t wide = 10;
    size_t n = 11;
    double array[10] = { 0 }, *pointer = NULL, variable[many];
    int table[3][4] = { { 0 } }, (*rows)[4] = table, open[many][3];
    double cube[2][3][4] = { { { 0 } } };
    char names[3][20] = { "" };
    struct { int grid[2][2]; } squares[4] = { { { { 0 } } } };
    struct { point inside; int list[4]; } all = { { 0, 0, 0 }, { 1 } }, *where = &all;
    const char *constant = "constant";

    out("scalars", c, sc, uc, s, us, i, u, l, ul, ll, ull, f, d, ld, b);
    out("complex", fc, dc);
    out("structs", p, w, all.inside, where->inside);
    out("others", colour, RED, fixed, wide, n, 'x', 1, 1u, 1L, 1.0, 1.0f, sizeof i, (short)1);
    out("texts", text, string, constant, "a" "b", argv[0]);
    out("expressions", i ? 1 : 2, ((void)i, l), i + 2 * 3, next(), vector[3], *array, -d, !i, i == 2 ? c : c);
    out("arrays", array:10, array:, array:i ? 3 : 4, array + 2:3, vector:, &vector[2]:n, text:, text:5, variable:many);
    open[0][0] = 1;
    out("rows", table:, table:2, table[1]:, rows:3, &table[1]:1, table[0]:12, open:many, cube:, cube[1]:, cube[1][2]:, names:,
        names[1]:, names[1], squares:, squares[1].grid:);
    in("rows", ?table:, ?table:n, ?table[1]:, ?rows:n, ?&table[1]:n, ?table[0]:n, ?open:n, ?cube:n, ?cube[1]:, ?cube[1][2]:n,
       ?names:, ?names[1]:, ?names[1], ?squares:n, ?squares[1].grid:n);
    in("rows", ?int:, ?matrix:, ?point:n);
    out("members", all.list:, where->list:2);
    out(1, 2, 3);
    out("one");
    in("scalars", ?c, ?sc, ?uc, ?s, ?us, ?i, ?u, ?l, ?ul, ?ll, ?ull, ?f, ?d, ?ld, ?b);
    rd("complex", ?fc, ?dc);
    in("structs", ?p, ?w, ?all.inside, ?where->inside);
    in("texts", ?text, ?string, ? text, ?*argv);
    in("arrays", ?array:length, ?pointer:length, ?array:, ?pointer:, ?vector:n, ?(pointer + 1):length, ?&vector[3]:,
       ?text:length, ?where->list[2]);
    in("members", ?all.list:, ?where->list:where->list[0], ?variable:length);
    in("types", ?int, ?char *, ?struct point, ?point, ?unsigned long, ?double:, ?size:length, ?const char *, ?enum colour);
    if ((inp("a", ?i) && !rdp("b", i, ?d)) || inp("c"))
        return inp("d") + rdp("e", ?int);
    while (rdp("f", ?i))
        ;
    for (i = inp("g", 1); i < 3; i++)
        in("h", i ? 1 : 2);
    switch (inp("i")) {
    case 1:
        out("j");
        break;
    default:
        in("k");
    }
    out("nested", inp("l", ?i), rdp("m", inp("n"), ?d));
    __linda_out("always", 1);
    __linda_in("always", ?i);
    return __linda_inp("p") + __linda_rdp("q") + (int)strlen(text) + length;
}
