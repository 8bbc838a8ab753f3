/* What programs of others had in them: names of operations as members, labels and parameters, operations in odd places,
 * old definitions, tables, and evals of all of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pt { short x, y; };
typedef struct pt points[4];
struct node { int in; int out; struct { double rd; } eval; struct node *inp; };
struct big { char text[3000]; int n; };
#define CALL(f, ...) f(__VA_ARGS__)
#define STRING(x) #x
#define FORMAL(x) ? x
#define CHECK(e) ((e) ? 1 : 0)
#define LOOP(i, n) for (i = 0; i < (n); i++)

static int bad;

static void check(int fine, const char *what)
{
    if (!fine) {
        printf("wrong: %s\n", what);
        bad++;
    }
}

/* A parameter with the name of an operation is the program's own. */
static int apply(int (*out)(int), int in) { return out(in); }
static int dbl(int x) { return 2 * x; }
static int (*table[2])(int) = { dbl, dbl };
static int (*chosen(void))(int) { return dbl; }
static struct big grow(struct big b, int k) { b.n += k; memset(b.text, 'a' + k, sizeof b.text); return b; }
static int count(char *s, char c) { int n = 0; while (*s) n += *s++ == c; return n; }
static double half(double x) { return x / 2; }
static int fib(int n) { int a, b; if (n < 2) return n; eval("fib", n, fib(n - 1)); b = fib(n - 2); in("fib", n, ?a); return a + b; }
int worker();

#line 1000 "other.cl"
static void lines(void) { int l; char *f = NULL; out("line", __LINE__, __FILE__); in("line", ?l, ?f); check(l == 1000 && !strcmp(f, "other.cl"), "lines"); free(f); }
#line 41 "strange.cl"

static void names(void)
{
    struct node n = { 4, 5, { 2.5 }, NULL }, *p = &n;

    n.inp = p;
    out("n", n.in, p->out, n.eval.rd);
    in("n", ?p->inp->in, ?n.out, ?p->eval.rd);
    check(n.in == 4 && apply(dbl, 4) == 8 && !strcmp(STRING(in("x", ?y)), "in(\"x\", ?y)"), "names");
    goto in;
in: out("label"); in("label");
}

static void places(void)
{
    int i, j, k = 0, a[5], *p = a;
    char c;

    CALL(out, "call", 1, (char)'c'); CALL(in, "call", FORMAL(i), FORMAL(c));
    check(i == 1 && c == 'c' && !CHECK(inp("call", ?i, ?c)), "macros");
    for (out("loop", 3); inp("loop", ?j) && j > 0; out("loop", j - 1))
        k++;
    check(k == 3 && j == 0, "operations in the head of a loop");
    i = (out("c1"), out("c2"), in("c1"), in("c2"), 9);
    j = i > 5 ? (out("q", 1), in("q", ?i)) : in("never");
    check(i == 1 && j == 1, "commas and conditions");
    LOOP(i, 5) a[i] = i;
    i = 0;
    out("p", *p++, *p, p[1], -p[2], ~p[0], (p++, *p), (int)(p - a));
    { int x[7]; in("p", ?x[0], ?x[1], ?x[2], ?x[3], ?x[4], ?x[5], ?x[6]); check(x[0] == 0 && x[1] == 1 && x[2] == 2 && x[3] == -3 && x[5] == 2 && x[6] == 2, "each field once"); }
    p = a;
    out("s", 10); in("s", ?*p++); out("s", 11); in("s", ?a[++i]);
    check(a[0] == 10 && a[1] == 11 && p - a == 1 && i == 1, "each place once");
    out("if",
#ifdef NO
        1
#else
        2
#endif
    ); in("if", 2);
    out("\x41\102\n\t\"", '\'', L'x'); in("AB\n\t\"", 39, ?int);
}

static void values(void)
{
    points ps = { { 1, 2 }, { 3, 4 } }, got;
    char words[3][16] = { "one", "two", "three" }, word[16];
    int i, n;

    out("ps", ps:, ps[1], ps[1].x); in("ps", ?got:n, ?got[0], ?short);
    check(n == 4 && got[1].y == 4 && got[0].x == 3, "arrays by a typedef");
    LOOP(i, 3) out("words", i, words[i]);
    in("words", 2, ?word);
    check(!strcmp(word, "three") && inp("words", 0, "one") && inp("words", 1, ?word:n) && n == 3, "rows of char");
    out("literals", (int[]){ 1, 2, 3 }:3, (struct pt){ 5, 6 }, table[1](5), chosen()(6));
    { int v[3]; struct pt p; in("literals", ?v:, ?p, 10, 12); check(v[2] == 3 && p.y == 6, "literals"); }
}

static void evals(void)
{
    struct big b = { "", 1 };
    int i, n;
    double d;
    char *s = NULL;

    eval("w", worker()); in("w", ?i); check(i == 17, "a worker whose parameters are not declared");
    eval("big", grow(b, 3)); in("big", ?b); check(b.n == 4 && b.text[2999] == 'd', "a large struct");
    eval("count", count("banana", 'a')); in("count", 3);
    eval("two", dbl(2), half(3), "text", dbl(4)); in("two", ?i, ?d, ?s, ?n);
    check(i == 4 && d == 1.5 && !strcmp(s, "text") && n == 8, "several live fields");
    check(fib(5) == 5, "evals of evals");
    free(s);
}

int real_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    names();
    places();
    values();
    evals();
    lines();
    if (!bad)
        printf("ok\n");
    return bad != 0;
}

int worker() { return 17; }
