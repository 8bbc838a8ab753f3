/* Declarations of unusual shapes, of which each has an operation behind it. */
struct s { int a[3]; double d; };

__attribute__((noinline)) static int attributed(int x)
{
    out("a", x);
    return x;
}

[[gnu::noinline]] static int bracketed(int x)
{
    out("b", x);
    return x;
}

static int (*returned(int a))(int)
{
    out("c", a);
    return a ? attributed : bracketed;
}

static int named(int) __asm__("another_name");
_Static_assert(sizeof(struct s) > 0, "a struct");
static struct s table[] = { { { 1, 2, 3 }, 4 }, { .d = 5 } }, *pointers[2] = { table, 0 };
static int (*const functions[])(int) = { attributed, bracketed };
typedef int in_type(int), *out_type;

static int named(int x)
{
    int m[2][3] = { { 0 } }, *p = m[0], n = 0, row[3];
    out_type q = &n;
    if (x)
        goto rd;
    else
        in("d", ?*--p, ?m[x][--n], ?pointers[0]->a[1]);
    out("e", *p++, m[0][n++], n++, m[1]:, table[0].a:2);
    in("e", ?row:n, ?table[1], ?*q, ?(*q), ?(row):);
rd:
    rd("f", n == 1 ? x : n ? 2 : 3, row:n > 2 ? 3 : n);
    do
        out("g");
    while (inp("h", (char)1, (struct s) { .d = 1 }));
    return functions[0](1) + row[0];
}

extern int elsewhere(struct s, const char *const name, double [3]);
int elsewhere_too(int (*)(int), struct s *[]);

static int digraphs(void)
<%
    int a<:3:> = <% 1, 2, 3 %>, n;
    out("h", a<:0:>, a:);
    in("h", ?a<:0:>, ?a:n);
    return n;
%>

/* What a statement may be made of. */
static int statements(int n)
{
    int i, a[3] = { 1, 2, 3 }, b[inp("j") + 1], *q = a;
    for (in("k", ?i); i < n; out("l", i++)) if (inp("m")) break; else continue;
    while (in("n"), rd("o"), i--) ;
    if (i) out("p"); else out("q");
    switch (in("r", ?i), i) { case 1: out("s"); }
    out("t", (struct s) { .d = 3 }, (int[]) { 1, inp("u"), 3 }:, ({ out("v", 1); 7; }));
    in("t", ?(struct s) { .d = 3 }, ?(int[3]) { 0 }:, ?q[({ int k = 0; k; })]);
    out("w", a[0] ? a[1] ? 1 : 2 : 3, a:a[0] ? 1 : 2, "in(\"x\", ?y)" "rd(1)", '"', L'x');
    b[0] = inp("x") && (in("y"), !rdp("z"));
    eval("aa", named(inp("bb")), statements(eval("cc", named(n + i++))));
    return inp("dd") ? rd("ee") : (in("ff"), b[0]);
}

int real_main(void)
{
    in_type *f = named;
    eval("i", named(3), returned(1)(2), f(1) + 0, table[0].a[0]);
    return sizeof(out_type) == 8 ? digraphs() : statements(1);
}
