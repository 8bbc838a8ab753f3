/* Old C: definitions with their types behind, implicit ints, declarations without parameters. */
#define SIZE 100
#define STOP -1

char *name();
double weight();
static helper();

struct list {
    struct list *next;
    int value;
};
typedef struct list LIST, *LISTP;

real_main(argc, argv)
int argc;
char **argv;
{
    register i;
    register int j;
    register char *p;
    int flag;
    double total, w;
    static long buffer[SIZE];
    LIST one;

    one.value = 3;
    total = 0;
    for (i = 0; i < SIZE; i++)
        buffer[i] = i;
    eval("worker", worker(SIZE, 3));
    eval("mixed", mixed('c', 2.5, 7L, one), 5, buffer:);
    eval("named", i, later(argv[0]));
    in("alive", ?flag);
    for (j = 0; j < 10; j++) {
        out("task", j, buffer:SIZE);
        in("result", ?i, ?w);
        in("text", ?p);
        total += w;
    }
    out("total", total);
    out("task", STOP, buffer:SIZE);
    in("worker", ?flag);
    start_timer();
    timer_split("a");
    print_times();
    lexit(helper(1));
    return lprocs();
}

worker(size, n)
long size;
{
    static long buffer[SIZE];
    int task, length;

    out("alive", 1);
    for (;;) {
        in("task", ?task, ?buffer:length);
        if (task == STOP)
            return n;
        out("result", task, weight(buffer, length));
    }
}

static helper(in)
int in;
{
    return in;
}

double weight(v, n)
long *v;
int n;
{
    double sum = 0;
    while (n-- > 0)
        sum += *v++;
    return sum;
}

float mixed(c, d, l, list)
char c;
float d;
long l;
LIST list;
{
    return c + d + l + list.value;
}

int later(text)
char text[];
{
    return text[0];
}
