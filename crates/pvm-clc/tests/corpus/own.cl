/* A program's own names. */
#include <stdio.h>

static int in(int a)
{
    return a + 1;
}

static void copy(FILE *out, int (*rd)(int), int eval[])
{
    fputs("out(1)", out);
    rd(eval[0]);
}

struct calls {
    int (*out)(int);
    int inp;
};

int out(const char *, int);

static int use(struct calls *calls, struct calls own)
{
    int eval = 3;
    copy(stdout, in, &eval);
    {
        int (*rdp)(int) = in;
        rdp(3);
    }
    rdp("tuple", ?eval);
    {
        extern int inp(int);
        inp(2);
    }
    return calls->out(1) + own.out(in(2)) + calls->inp + out("x", 1) + inp("tuple", ?eval);
}

int real_main(int argc, char **argv)
{
    struct calls calls = { in, 0 };
    (void)argv;
    __linda_out("tuple", 1);
    __linda_in("tuple", ?argc);
    for (int rd = 0; rd < 1; rd++)
        argc += rd;
    return use(&calls, calls);
}
