/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * LU factorization with partial pivoting for one precision: linpack.c includes this for REAL double and float.
 *
 * A is n by n, column after column, `n` apart. Both ways do the same operations; the blocked one gathers them so that what is
 * in the cache is used BLOCK times before it leaves.
 */
static void NAME(add_column)(REAL *y, REAL factor, const REAL *x, int count)
{
    int i;

    for (i = 0; i < count; i++)
        y[i] += factor * x[i];
}

/* The row at or below `k` whose entry of this column is the largest. */
static int NAME(pivot)(const REAL *column, int k, int n)
{
    int i, best = k;

    for (i = k + 1; i < n; i++)
        if (fabs((double)column[i]) > fabs((double)column[best]))
            best = i;
    return best;
}

static void NAME(swap_rows)(REAL *a, int n, int columns, int one, int other)
{
    REAL kept;
    int j;

    for (j = 0; j < columns && one != other; j++) {
        kept = a[(size_t)j * n + one];
        a[(size_t)j * n + one] = a[(size_t)j * n + other];
        a[(size_t)j * n + other] = kept;
    }
}

/* The columns from..to of A, with rows from `from` on; whole rows are exchanged. */
static void NAME(factor_panel)(REAL *a, int *pivots, int n, int from, int to)
{
    REAL *column, scale;
    int i, j, k;

    for (k = from; k < to; k++) {
        column = a + (size_t)k * n;
        pivots[k] = NAME(pivot)(column, k, n);
        NAME(swap_rows)(a, n, n, k, pivots[k]);
        scale = 1 / column[k];
        for (i = k + 1; i < n; i++)
            column[i] *= scale;
        for (j = k + 1; j < to; j++)
            NAME(add_column)(a + (size_t)j * n + k + 1, -a[(size_t)j * n + k], column + k + 1, n - k - 1);
    }
}

/* y_c -= L * u_c for four columns and STRIP rows; the sums stay in registers. */
static void NAME(update_strip)(REAL *restrict y, const REAL *restrict l, const REAL *restrict u, int n, int width)
{
    REAL sum0[STRIP] = {0}, sum1[STRIP] = {0}, sum2[STRIP] = {0}, sum3[STRIP] = {0};
    size_t k, order = (size_t)n;
    int i;

    for (k = 0; k < (size_t)width; k++) {
        const REAL *x = l + k * order;
        for (i = 0; i < STRIP; i++) {
            sum0[i] += u[k] * x[i];
            sum1[i] += u[order + k] * x[i];
            sum2[i] += u[2 * order + k] * x[i];
            sum3[i] += u[3 * order + k] * x[i];
        }
    }
    for (i = 0; i < STRIP; i++) {
        y[i] -= sum0[i];
        y[order + i] -= sum1[i];
        y[2 * order + i] -= sum2[i];
        y[3 * order + i] -= sum3[i];
    }
}

/* The same for any number of rows. */
static void NAME(update)(REAL *y, const REAL *l, const REAL *u, int n, int rows, int width)
{
    int begin, c, k;

    for (begin = 0; begin + STRIP <= rows; begin += STRIP)
        NAME(update_strip)(y + begin, l + begin, u, n, width);
    for (c = 0; c < 4; c++)
        for (k = 0; k < width; k++)
            NAME(add_column)(y + (size_t)c * n + begin, -u[(size_t)c * n + k], l + (size_t)k * n + begin,
                             rows - begin);
}

/* What the panel from..to means for the column j right of it: its upper part is solved, the rest stays for update. */
static void NAME(solve_upper)(REAL *column, const REAL *a, int n, int from, int to)
{
    int k;

    for (k = from; k < to; k++)
        NAME(add_column)(column + k + 1, -column[k], a + (size_t)k * n + k + 1, to - k - 1);
}

static void NAME(factor)(REAL *a, int *pivots, int n, int block)
{
    int from, to, j, k;

    for (from = 0; from < n; from += block) {
        to = from + block < n ? from + block : n;
        NAME(factor_panel)(a, pivots, n, from, to);
        for (j = to; j < n; j++)
            NAME(solve_upper)(a + (size_t)j * n, a, n, from, to);
        for (j = to; j + 4 <= n; j += 4)
            NAME(update)(a + (size_t)j * n + to, a + (size_t)from * n + to, a + (size_t)j * n + from, n, n - to,
                         to - from);
        for (; j < n; j++)
            for (k = from; k < to; k++)
                NAME(add_column)(a + (size_t)j * n + to, -a[(size_t)j * n + k], a + (size_t)k * n + to, n - to);
    }
}

/* b becomes x. */
static void NAME(substitute)(const REAL *a, const int *pivots, REAL *b, int n)
{
    REAL kept;
    int k;

    for (k = 0; k < n; k++) {
        kept = b[k];
        b[k] = b[pivots[k]];
        b[pivots[k]] = kept;
    }
    for (k = 0; k < n; k++)
        NAME(add_column)(b + k + 1, -b[k], a + (size_t)k * n + k + 1, n - k - 1);
    for (k = n - 1; k >= 0; k--) {
        b[k] /= a[(size_t)k * n + k];
        NAME(add_column)(b, -b[k], a + (size_t)k * n, k);
    }
}

/* Numbers between -0.5 and 0.5 that are the same each time, and as right side the sums of the rows: x is all ones. */
static void NAME(generate)(REAL *a, REAL *b, int n)
{
    unsigned long state = 1325;
    size_t i, j, order = (size_t)n;

    for (i = 0; i < order * order; i++) {
        state = (state * 1103515245 + 12345) & 0x7fffffff;
        a[i] = (REAL)((double)state / 0x7fffffff - 0.5);
    }
    for (i = 0; i < order; i++) {
        double sum = 0;
        for (j = 0; j < order; j++)
            sum += (double)a[j * order + i];
        b[i] = (REAL)sum;
    }
}

static double NAME(residual)(const REAL *a, const REAL *x, const REAL *b, int n)
{
    double worst = 0, large_a = 0, large_x = 0, sum;
    size_t i, j, order = (size_t)n;

    for (i = 0; i < order; i++) {
        sum = -(double)b[i];
        for (j = 0; j < order; j++) {
            sum += (double)a[j * order + i] * (double)x[j];
            large_a = fmax(large_a, fabs((double)a[j * order + i]));
        }
        worst = fmax(worst, fabs(sum));
        large_x = fmax(large_x, fabs((double)x[i]));
    }
    return worst / (n * large_a * large_x * EPSILON);
}

static void NAME(solve_all)(const char *name, int n, double seconds, int blocked)
{
    static double rates[SOLVES_MAX];
    size_t bytes = (size_t)n * (size_t)n * sizeof(REAL);
    REAL *a = malloc(bytes), *copy = malloc(bytes), *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    int *pivots = malloc((size_t)n * sizeof *pivots), count = 0;
    double end = measure_now_ns() + 1e9 * seconds, begin, r, order = n;

    if (!a || !copy || !b || !x || !pivots) {
        fprintf(stderr, "no memory for order %d\n", n);
        exit(1);
    }
    NAME(generate)(copy, b, n);
    while (count < SOLVES_MIN || (count < SOLVES_MAX && measure_now_ns() < end)) {
        memcpy(a, copy, bytes);
        memcpy(x, b, (size_t)n * sizeof *x);
        begin = measure_now_ns();
        NAME(factor)(a, pivots, n, blocked ? BLOCK : n);
        NAME(substitute)(a, pivots, x, n);
        rates[count++] = 1e3 * (2.0 / 3 * order * order * order + 2 * order * order) / (measure_now_ns() - begin);
    }
    r = NAME(residual)(copy, x, b, n);
    if (!(r < 16)) {
        fprintf(stderr, "%s: the residual %g is too large\n", name, r);
        exit(1);
    }
    measure_row(name, n, "Mflop/s", rates, count);
    free(a);
    free(copy);
    free(b);
    free(x);
    free(pivots);
}
