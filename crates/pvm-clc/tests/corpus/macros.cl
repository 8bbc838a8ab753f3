/* Operations in macros, and macros in operations. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define PUT(name, value) out(name, value)
#define GET(name, place) in(name, ?place)
#define EMPTY(name) (!rdp(name, ?int))
#define VECTOR(a, n) a:n
#define TASK "task"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define REPEAT(n, what) do { int i_; for (i_ = 0; i_ < (n); i_++) { what; } } while (0)
#define WORKERS 4

typedef double real;
typedef struct { real x[3]; } body;

static real force(body a, int n)
{
    return a.x[0] * n;
}

static int worker(int id, const char *name, double limit)
{
    real v[3];
    int n;
    REPEAT(id, PUT(name, limit));
    GET(TASK, VECTOR(v, n));
    return n;
}

int real_main(int argc, char **argv)
{
    int i;
    real v[3] = { 1, 2, 3 };
    body b = { { 1, 2, 3 } };
    (void)argv;
    PUT(TASK, VECTOR(v, 3));
    PUT("max", MAX(argc, 3));
    PUT("errno", errno);
    PUT("file", __FILE__);
    PUT("line", __LINE__);
    REPEAT(WORKERS, eval("worker", worker(i_, "name", 1)));
    eval("force", force(b, 2), sqrt(2), pow(2.0, argc), force(b, 1) + 1);
    while (EMPTY("done"))
        GET(TASK, v[0]);
    in("a string with in(\"x\", ?y) and rd(z)" /* and out(1) */, ?i); // eval(1)
    printf("%d\n", i);
    return 0;
}
