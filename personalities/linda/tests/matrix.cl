/* A matrix product with a bag of tasks: rows of the first matrix, the second one read by all. Arguments: size, workers. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static double left[MOST][MOST], right[MOST][MOST];

static int worker(int size)
{
    double row[MOST], sum[MOST], *all = malloc(sizeof right);
    int next, i, j, done = 0;
    rd("right", ?all:);
    for (;;) {
        in("next", ?next);
        out("next", next < size ? next + 1 : next);
        if (next >= size)
            break;
        rd("left", next, ?row:);
        for (j = 0; j < size; j++) {
            sum[j] = 0;
            for (i = 0; i < size; i++)
                sum[j] += row[i] * all[i * MOST + j];
        }
        out("product", next, sum:size);
        done++;
    }
    free(all);
    return done;
}

int real_main(int argc, char **argv)
{
    int size = atoi(argv[1]), workers = atoi(argv[2]), i, j, k, row, done, sum = 0, bad = 0;
    double got[MOST];
    (void)argc;
    for (i = 0; i < size; i++)
        for (j = 0; j < size; j++) {
            left[i][j] = i - j;
            right[i][j] = i * j % 7;
        }
    out("right", &right[0][0]:MOST * MOST);
    for (i = 0; i < size; i++)
        out("left", i, left[i]:size);
    out("next", 0);
    for (i = 0; i < workers; i++)
        eval("worker", worker(size));
    for (i = 0; i < size; i++) {
        in("product", ?row, ?got:);
        for (j = 0; j < size; j++) {
            double wanted = 0;
            for (k = 0; k < size; k++)
                wanted += left[row][k] * right[k][j];
            bad += wanted != got[j];
        }
    }
    for (i = 0; i < workers; i++) {
        in("worker", ?done);
        sum += done;
    }
    printf("%s, %d rows by %d workers\n", bad || sum != size ? "wrong" : "ok", sum, workers);
    return bad || sum != size;
}
