/* N bodies in steps: each worker moves a part of them and reads all others' positions of the step. Arguments: bodies, workers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64
#define STEPS 5

typedef struct { double x, y, vx, vy, mass; } body;

static void begin(body *all, int n)
{
    int i;
    for (i = 0; i < n; i++)
        all[i] = (body) { i % 8, i / 8, 0, 0, 1 + i % 3 };
}

static void move(const body *all, int n, body *own, int from, int count)
{
    int i, j;
    for (i = 0; i < count; i++) {
        double ax = 0, ay = 0;
        for (j = 0; j < n; j++)
            if (j != from + i) {
                double dx = all[j].x - own[i].x, dy = all[j].y - own[i].y, d = sqrt(dx * dx + dy * dy + 0.01);
                ax += all[j].mass * dx / (d * d * d);
                ay += all[j].mass * dy / (d * d * d);
            }
        own[i].vx += ax * 0.01;
        own[i].vy += ay * 0.01;
        own[i].x += own[i].vx * 0.01;
        own[i].y += own[i].vy * 0.01;
    }
}

static int worker(int me, int workers, int n)
{
    body all[MOST], own[MOST];
    int from = n * me / workers, count = n * (me + 1) / workers - from, step, other, at;
    begin(all, n);
    memcpy(own, all + from, count * sizeof *own);
    for (step = 0; step < STEPS; step++) {
        move(all, n, own, from, count);
        out("part", step, me, own:count);
        for (other = 0; other < workers; other++) {
            at = n * other / workers;
            rd("part", step, other, ?&all[at]:);
        }
    }
    out("end", from, own:count);
    return count;
}

int real_main(int argc, char **argv)
{
    int n = atoi(argv[1]), workers = atoi(argv[2]), i, from, count, step, bad = 0, sum = 0;
    body all[MOST], next[MOST], got[MOST];
    (void)argc;
    for (i = 0; i < workers; i++)
        eval("worker", worker(i, workers, n));
    begin(all, n);
    for (step = 0; step < STEPS; step++) {
        memcpy(next, all, sizeof next);
        move(all, n, next, 0, n);
        memcpy(all, next, sizeof all);
    }
    for (i = 0; i < workers; i++) {
        in("end", ?from, ?got:count);
        bad += memcmp(got, all + from, count * sizeof *got) != 0;
    }
    for (i = 0; i < workers; i++) {
        in("worker", ?count);
        sum += count;
    }
    printf("%s, %d bodies\n", bad || sum != n ? "wrong" : "ok", sum);
    return bad || sum != n;
}
