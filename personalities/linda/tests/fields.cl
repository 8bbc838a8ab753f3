/* Every type comes out as it went in, by value, by array, by string, and types are not mixed. */
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point { double x; int name; };

static int bad;

static void check(int fine, const char *what)
{
    if (!fine) {
        printf("wrong: %s\n", what);
        bad++;
    }
}

static void scalars(void)
{
    char c = 0;
    signed char sc = 0;
    unsigned char uc = 0;
    short s = 0;
    unsigned short us = 0;
    int i = 0;
    unsigned u = 0;
    long l = 0;
    unsigned long ul = 0;
    long long ll = 0;
    unsigned long long ull = 0;
    float f = 0;
    double d = 0;
    long double ld = 0;
    bool b = false;
    double complex z = 0;

    out("scalars", (char)1, (signed char)-2, (unsigned char)3, (short)-4, (unsigned short)5, -6, 7u, -8L, 9UL, -10LL, 11ULL,
        12.5f, 13.5, 14.5L, (bool)true, 1.0 + 2.0 * I);
    in("scalars", ?c, ?sc, ?uc, ?s, ?us, ?i, ?u, ?l, ?ul, ?ll, ?ull, ?f, ?d, ?ld, ?b, ?z);
    check(c == 1 && sc == -2 && uc == 3 && s == -4 && us == 5 && i == -6 && u == 7 && l == -8 && ul == 9, "integers");
    check(ll == -10 && ull == 11 && f == 12.5f && d == 13.5 && ld == 14.5L && b && creal(z) == 1 && cimag(z) == 2, "others");
    out("typed", 1);
    check(!inp("typed", ?u) && !inp("typed", ?l) && !inp("typed", 2) && !inp("typed") && !inp("typed", 1, ?i), "no match");
    check(rdp("typed", ?i) && i == 1 && inp("typed", 1) && !rdp("typed", ?int), "a match");
}

static void arrays(void)
{
    double sent[5] = { 1, 2, 3, 4, 5 }, got[8] = { 0 }, *made = NULL;
    struct point points[2] = { { 1, 2 }, { 3, 4 } }, back[2], one;
    char text[20], *string = NULL, letters[4] = { 'a', 'b', 'c', 'd' };
    int count, i;

    out("array", sent:3);
    in("array", ?got:count);
    check(count == 3 && got[2] == 3 && got[3] == 0, "a part of an array");
    out("array", sent:);
    in("array", ?made:count);
    check(count == 5 && made && made[4] == 5, "an array in memory of its own");
    out("array", sent + 1:2);
    in("array", ?made:);
    check(made[0] == 2 && made[1] == 3 && made[2] == 3, "an array where the pointer points");
    out("array", sent:0);
    in("array", ?got:count);
    check(count == 0, "an empty array");
    out("value", sent:3);
    check(!inp("value", sent:2) && inp("value", sent:3), "arrays are compared with their lengths");
    free(made);
    out("points", points:2, points[1]);
    in("points", ?back:count, ?one);
    check(count == 2 && back[1].name == 4 && one.x == 3, "structs");
    out("text", "hello", letters:4);
    in("text", ?text, ?string);
    check(strcmp(text, "hello") == 0 && string && strcmp(string, "abcd") == 0, "strings");
    out("text", string, "");
    in("text", "abcd", ?text:count);
    check(count == 0, "an empty string");
    free(string);
    out("large", (double)1, sent:1);
    in("large", ?double, ?double:i);
    check(i == 1, "fields that are dropped");
}

/* Only their first dimension is counted; the others must be whole. */
static void rows(void)
{
    int table[3][4], back[3][4] = { { 0 } }, (*some)[4] = NULL, line[12], count, i;
    double cube[2][3][4] = { { { 0 } } }, other[2][3][4];
    char names[2][8] = { "one", "two" }, got[2][8] = { "" };
    struct { float grid[2][2]; } in_struct = { { { 1, 2 }, { 3, 4 } } }, copy;

    for (i = 0; i < 12; i++)
        table[i / 4][i % 4] = i;
    cube[1][2][3] = 5;
    out("rows", table:, table:2, table[2]:, cube:, cube[1]:, names:, in_struct.grid:);
    in("rows", ?back:count, ?some:i, ?line:, ?other:, ?double:, ?got:, ?copy.grid:);
    check(count == 3 && memcmp(table, back, sizeof table) == 0 && i == 2 && some[1][3] == 7 && line[3] == 11, "a table");
    check(other[1][2][3] == 5 && strcmp(got[1], "two") == 0 && copy.grid[1][0] == 3, "arrays of arrays");
    out("rows", table:);
    in("rows", ?line:count);
    check(count == 12 && line[11] == 11, "rows in an array of one dimension");
    free(some);
}

static void large(void)
{
    int n = 1 << 20, i, count;
    int *sent = malloc(n * sizeof *sent), *got = NULL;

    for (i = 0; i < n; i++)
        sent[i] = i * 7;
    out("large", sent:n);
    in("large", ?got:count);
    check(count == n && memcmp(sent, got, n * sizeof *sent) == 0, "an array of 4 MB");
    free(sent);
    free(got);
}

int real_main(int argc, char **argv)
{
    check(argc == 2 || (strcmp(argv[1], "a b") == 0 && strcmp(argv[2], "") == 0), "arguments");
    scalars();
    arrays();
    rows();
    if (argc == 2) {
        int five[5] = { 0 }, table[3][4];
        out("rows", five:);
        in("rows", ?table:);
    }
    large();
    check(lprocs() == 1, "one process");
    start_timer();
    timer_split("all");
    print_times();
    if (!bad)
        printf("ok\n");
    return bad ? 1 : 0;
}
