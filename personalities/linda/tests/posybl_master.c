/* POSYBL, whose macros call posybl_operation: the kernel of the comparison of 1993 and every kind of field. Arguments: the worker,
 * longs in an array. */
#include <posybl.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check(int fine, const char *what)
{
    if (!fine)
        printf("wrong: %s\n", what);
    return fine;
}

static int fields(void)
{
    char c, *cs, *text;
    short s, *ss;
    int i, *is, n[6], fine;
    long l, *ls;
    float f, *fs;
    double d, *ds;

    out(lstring("one"), lchar('c'), lshort(1), lint(2), llong(3), lfloat(4.5f), ldouble(5.5), lstring("text"));
    fine = check(!inp(lstring("one"), lint(1)), "no match");
    fine &= check(rdp(lstring("one"), qlchar(&c), qlshort(&s), qlint(0), qllong(&l), qlfloat(&f), qldouble(&d), qlstring(&text)), "rdp");
    rd(lstring("one"), qlchar(0), qlshort(0), qlint(&i), qllong(0), qlfloat(0), qldouble(0), lstring("text"));
    in(lstring("one"), lchar('c'), lshort(1), lint(2), llong(3), lfloat(4.5f), ldouble(5.5), qlstring(0));
    fine &= check(c == 'c' && s == 1 && i == 2 && l == 3 && f == 4.5f && d == 5.5 && !strcmp(text, "text"), "values");
    out(lstring("many"), lnchar("xy", 2), lnshort(&s, 1), lnint(&i, 1), lnlong(&l, 1), lnfloat(&f, 1), lndouble(&d, 1));
    in(lstring("many"), qlnchar(&cs, &n[0]), qlnshort(&ss, &n[1]), qlnint(&is, &n[2]), qlnlong(&ls, &n[3]),
       qlnfloat(&fs, &n[4]), qlndouble(&ds, &n[5]));
    fine &= check(n[0] == 2 && cs[1] == 'y' && n[1] == 1 && *ss == 1 && n[2] == 1 && *is == 2 && *ls == 3 && *fs == 4.5f && *ds == 5.5 && n[5] == 1, "arrays");
    free(text); free(cs); free(ss); free(is); free(ls); free(fs); free(ds);
    return fine;
}

/* True if a task is on the host with this number, counted around from 1. */
static int is_on(int tid, int number)
{
    struct pvmhostinfo *table;
    int hosts, formats;

    return pvm_config(&hosts, &formats, &table) == 0 && pvm_tidtohost(tid) == table[(number - 1) % hosts].hi_tid;
}

/* A worker's whole work. */
static int echoes(const int *buffer, int count)
{
    int i, len, *back, fine = 1;

    for (i = 0; i < 10; i++) {
        out(lstring("ping"), lnint(buffer, count));
        in(lstring("pong"), qlnint(&back, &len));
        fine &= check(len == count && memcmp(buffer, back, count * sizeof *buffer) == 0, "an echo");
        free(back);
    }
    return fine;
}

/* No header declares it. */
extern int init(int argc, char **argv);

int main(int argc, char **argv)
{
    int is_it_alive = FALSE, i, count = atoi(argv[2]), fine = fields();
    int *buffer = malloc(count * sizeof *buffer);
    char place[1024];
    char *arguments[] = {argv[2], NULL};

    fine &= check(init(argc, argv) == 0, "init");
    for (i = 0; i < count; i++)
        buffer[i] = i;
    snprintf(place, sizeof place, "#3/%s", argv[1]);
    fine &= check(is_on(eval_l(place, argv[2], NULL), 3), "eval_l on the third host");
    in(lstring("Worker alive?"), qlint(&is_it_alive));
    fine &= echoes(buffer, count);
    fine &= check(is_on(eval_nl(2, argv[1], argv[2], NULL), 2), "eval_nl on the second host");
    in(lstring("Worker alive?"), qlint(&is_it_alive));
    fine &= echoes(buffer, 1);
    fine &= check(is_on(eval_nv(1, argv[1], arguments), 1), "eval_nv on the first host");
    in(lstring("Worker alive?"), qlint(&is_it_alive));
    fine &= echoes(buffer, 1);
    fine &= check(eval_v(argv[1], arguments) > 0, "eval_v");
    in(lstring("Worker alive?"), qlint(&is_it_alive));
    fine &= echoes(buffer, 1);
    fine &= check(is_it_alive == TRUE && eval_l("/nowhere/worker", (char *)NULL) == -1, "a worker that is not there");
    if (fine)
        printf("ok\n");
    return !fine;
}
