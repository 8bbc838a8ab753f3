/* Calls of eval with arguments and results of all types; several live fields; how processes end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pair { int a; double b; };

static char *repeat(const char *text, int times)
{
    char *all = calloc(strlen(text) + 1, times + 1);
    while (times-- > 0)
        strcat(all, text);
    return all;
}

static struct pair swap(struct pair p, float f, unsigned char c)
{
    struct pair q = { (int)p.b, p.a + f + c };
    return q;
}

static int parent_of(int depth)
{
    int below;
    if (depth == 0)
        return 1;
    eval("tree", depth, parent_of(depth - 1));
    in("tree", depth, ?below);
    return below + 1;
}

static int dies(int how)
{
    if (how == 1)
        abort();
    if (how == 2)
        lexit(3);
    if (how == 3)
        lhalt(7);
    return 0;
}

int real_main(int argc, char **argv)
{
    char text[64], other[64];
    double root, power;
    struct pair p = { 3, 4.5 }, q;
    int n, how = argc > 1 ? atoi(argv[1]) : 0;

    if (how) {
        eval("dies", dies(how));
        if (how == 3)
            in("never");
        return 0;
    }
    eval("repeat", repeat("ab", 3), 5, p);
    in("repeat", ?text, 5, ?q);
    eval("swap", swap(p, 2, 'a'));
    in("swap", ?p);
    eval("two", sqrt(2), repeat("x", 2), pow(2.0, 10), 1 + 1);
    in("two", ?root, ?other, ?power, 2);
    eval("tree", 9, parent_of(3));
    in("tree", 9, ?n);
    if (strcmp(text, "ababab") || q.a != 3 || p.a != 4 || p.b != 102 || root != sqrt(2) || strcmp(other, "xx") || power != 1024
        || n != 4)
        return 1;
    printf("ok\n");
    return 0;
}
