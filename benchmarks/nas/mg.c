/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * MG, the multigrid kernel (RNR-94-007, section 2.2.2): V-cycles for Laplace(u) = v on a periodic
 * grid of n^3 points, where v is 1 at ten random points, -1 at ten others, and 0 elsewhere.
 *
 * The grid is cut in blocks, first along z, then y, then x, each with a layer of its neighbours'
 * points around it. Grids of at most 16^3 points are not cut: every task has the whole, and works
 * on it alone, since a message about so few points takes longer than the points.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nas.h"

enum { MOST_LEVELS = 13, WHOLE_LEVEL = 4, EXTREMES = 10 };
enum { TAG_FACES = 1, TAG_WHOLE = 10 };
enum { X, Y, Z };

/* A grid of 2^level points each way; this task's block, [z][y][x], with a layer around. */
struct grid {
    int n[3];        /* points of the block */
    int row, plane;  /* distances in the array */
    size_t points;   /* with the layer */
    double *u, *r;
};

static int top, whole;             /* levels: the finest, and the finest that is not cut */
static int iterations;
static struct grid grids[MOST_LEVELS];
static double *v;
static int parts[3], part[3];      /* tasks along x, y, z, and which of them this one is */
static double *faces_out, *faces_in;
static double *line_a, *line_b, *line_c, *line_d, *line_e; /* of the longest row */

/* A: centre -8/3, faces 0, edges 1/6, corners 1/12. S: by the class, corners 0. */
static const double stencil_a[4] = {-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};
static double stencil_s[3] = {-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0};

/* ---- Decomposition ---- */

static void cut(int tasks, int *along)
{
    along[X] = along[Y] = along[Z] = 1;
    for (int axis = Z; tasks > 1; tasks /= 2, axis = (axis + 2) % 3)
        along[axis] *= 2;
}

static int takes(int tasks)
{
    int along[3];
    if (tasks & (tasks - 1))
        return 0;
    cut(tasks, along);
    return along[Z] <= 1 << whole;
}

static int rank_at(int x, int y, int z)
{
    x = (x + parts[X]) % parts[X];
    y = (y + parts[Y]) % parts[Y];
    z = (z + parts[Z]) % parts[Z];
    return x + parts[X] * (y + parts[Y] * z);
}

static int neighbour(int axis, int step)
{
    int at[3] = {part[X], part[Y], part[Z]};
    at[axis] += step;
    return rank_at(at[X], at[Y], at[Z]);
}

static double *allocate(size_t count)
{
    double *items = calloc(count, sizeof *items);
    if (items == NULL)
        nas_fail("no memory for a grid of %zu points.", count);
    return items;
}

static void make_grid(struct grid *g, int level)
{
    for (int axis = X; axis <= Z; axis++)
        g->n[axis] = (1 << level) / (level > whole ? parts[axis] : 1);
    g->row = g->n[X] + 2;
    g->plane = g->row * (g->n[Y] + 2);
    g->points = (size_t)g->plane * (size_t)(g->n[Z] + 2);
    g->u = allocate(g->points);
    g->r = allocate(g->points);
}

static void make_grids(void)
{
    size_t side;
    cut(nas.tasks, parts);
    part[X] = nas.rank % parts[X];
    part[Y] = nas.rank / parts[X] % parts[Y];
    part[Z] = nas.rank / parts[X] / parts[Y];
    for (int level = 1; level <= top; level++)
        make_grid(&grids[level], level);
    v = allocate(grids[top].points);
    side = (size_t)(1 << top) + 2;
    faces_out = allocate(2 * side * side);
    faces_in = allocate(2 * side * side);
    line_a = allocate(5 * side);
    line_b = line_a + side;
    line_c = line_b + side;
    line_d = line_c + side;
    line_e = line_d + side;
}

/* ---- The layer around a block ---- */

/* A face: lines of `length` neighbouring points, or of points a row apart, `count` of them. */
struct face {
    int length, step, count, apart;
};

/* Axes come in the order x, y, z, and a later face has the earlier axes' layers, so corners
 * arrive. */
static struct face face_of(const struct grid *g, int axis)
{
    if (axis == X)
        return (struct face){g->n[Y], g->row, g->n[Z], g->plane};
    if (axis == Y)
        return (struct face){g->row, 1, g->n[Z], g->plane};
    return (struct face){g->plane, 1, 1, 0};
}

/* The point where the face number i of the axis begins. */
static long face_begin(const struct grid *g, int axis, int i)
{
    if (axis == X)
        return i + g->row + g->plane;
    if (axis == Y)
        return (long)i * g->row + g->plane;
    return (long)i * g->plane;
}

static double *pack(const double *from, struct face f, double *to)
{
    for (int c = 0; c < f.count; c++, from += f.apart)
        for (int i = 0; i < f.length; i++)
            *to++ = from[(long)i * f.step];
    return to;
}

static const double *unpack(double *to, struct face f, const double *from)
{
    for (int c = 0; c < f.count; c++, to += f.apart)
        for (int i = 0; i < f.length; i++)
            to[(long)i * f.step] = *from++;
    return from;
}

/* With nobody along the axis the block is its own neighbour. */
static void wrap_axis(const struct grid *g, double *x, int axis)
{
    struct face f = face_of(g, axis);
    int n = g->n[axis];
    for (int c = 0; c < f.count; c++) {
        double *low = x + face_begin(g, axis, 0) + (long)c * f.apart;
        double *high = x + face_begin(g, axis, n + 1) + (long)c * f.apart;
        const double *first = x + face_begin(g, axis, 1) + (long)c * f.apart;
        const double *last = x + face_begin(g, axis, n) + (long)c * f.apart;
        for (int i = 0; i < f.length; i++) {
            low[(long)i * f.step] = last[(long)i * f.step];
            high[(long)i * f.step] = first[(long)i * f.step];
        }
    }
}

/* Where there are two along the axis both faces go to the same task: one message. */
static void exchange_pair(const struct grid *g, double *x, int axis)
{
    struct face f = face_of(g, axis);
    int n = g->n[axis], other = neighbour(axis, 1);
    int count = (int)(pack(x + face_begin(g, axis, 1), f,
                           pack(x + face_begin(g, axis, n), f, faces_out)) - faces_out);
    nas_send(other, TAG_FACES + axis, faces_out, count);
    nas_recv(other, TAG_FACES + axis, faces_in, count);
    unpack(x + face_begin(g, axis, n + 1), f,
           unpack(x + face_begin(g, axis, 0), f, faces_in));
}

/* The last face goes up and becomes the layer below the next block; the first goes down. */
static void exchange_ring(const struct grid *g, double *x, int axis)
{
    struct face f = face_of(g, axis);
    int n = g->n[axis], up = neighbour(axis, 1), down = neighbour(axis, -1);
    int count = (int)(pack(x + face_begin(g, axis, n), f, faces_out) - faces_out);
    nas_send(up, TAG_FACES + axis, faces_out, count);
    pack(x + face_begin(g, axis, 1), f, faces_out);
    nas_send(down, TAG_FACES + 3 + axis, faces_out, count);
    nas_recv(down, TAG_FACES + axis, faces_in, count);
    unpack(x + face_begin(g, axis, 0), f, faces_in);
    nas_recv(up, TAG_FACES + 3 + axis, faces_in, count);
    unpack(x + face_begin(g, axis, n + 1), f, faces_in);
}

/* Whole planes lie together in the array: they are sent from it and received into it. */
static void exchange_planes(const struct grid *g, double *x)
{
    int n = g->n[Z], up = neighbour(Z, 1), down = neighbour(Z, -1);
    nas_send(up, TAG_FACES + Z, x + face_begin(g, Z, n), g->plane);
    nas_send(down, TAG_FACES + 3 + Z, x + face_begin(g, Z, 1), g->plane);
    nas_recv(down, TAG_FACES + Z, x + face_begin(g, Z, 0), g->plane);
    nas_recv(up, TAG_FACES + 3 + Z, x + face_begin(g, Z, n + 1), g->plane);
}

enum { SMALL_PLANE = 2048 }; /* points: below it a second message costs more than packing */

static void exchange(int level, double *x)
{
    const struct grid *g = &grids[level];
    for (int axis = X; axis <= Z; axis++) {
#ifdef NAS_PLANT
        if (axis == Z && level == top)
            continue; /* planted: the planes above and below are not exchanged */
#endif
        if (level <= whole || parts[axis] == 1)
            wrap_axis(g, x, axis);
        else if (axis == Z && g->plane > SMALL_PLANE)
            exchange_planes(g, x);
        else if (parts[axis] == 2)
            exchange_pair(g, x, axis);
        else
            exchange_ring(g, x, axis);
    }
}

/* ---- The four operators ----
 * For a row, across[i] is the sum of the four points beside it in the plane of y and z, corner[i]
 * that of the four diagonal ones; upright[i] = x[z-1] + x[z+1] serves three rows.
 */

static void add_rows(double *restrict sum, const double *restrict a, const double *restrict b,
                     int count)
{
    for (int i = 0; i < count; i++)
        sum[i] = a[i] + b[i];
}

struct rolling {
    double *before, *here, *after; /* upright sums of rows y-1, y, y+1 */
};

static void roll(struct rolling *s)
{
    double *free_line = s->before;
    s->before = s->here;
    s->here = s->after;
    s->after = free_line;
}

/* across and corner of row y, whose rolling sums before and here are there. */
static void sum_around(const double *restrict x, int row, int plane, const struct rolling *s,
                       double *restrict across, double *restrict corner)
{
    const double *below = x - row, *above = x + row;
    const double *after_low = x + row - plane, *after_high = x + row + plane;
    const double *restrict before = s->before, *restrict here = s->here;
    double *restrict after = s->after;
    for (int i = 0; i < row; i++) {
        after[i] = after_low[i] + after_high[i];
        across[i] = below[i] + above[i] + here[i];
        corner[i] = before[i] + after[i];
    }
}

static void begin_rolling(struct rolling *s, const double *x, int row, int plane)
{
    s->before = line_c;
    s->here = line_d;
    s->after = line_e;
    add_rows(s->before, x - row - plane, x - row + plane, row);
    add_rows(s->here, x - plane, x + plane, row);
}

static void residual_row(int n, const double *restrict u, const double *restrict right,
                         double *restrict r, const double *restrict across,
                         const double *restrict corner)
{
    for (int i = 1; i <= n; i++)
        r[i] = right[i] - stencil_a[0] * u[i]
            - stencil_a[2] * (corner[i] + across[i - 1] + across[i + 1])
            - stencil_a[3] * (corner[i - 1] + corner[i + 1]);
}

/* r = right - A u inside the block; right may be r. */
static void residual(int level, const double *u, const double *right, double *r)
{
    const struct grid *g = &grids[level];
    struct rolling s;
    for (int z = 1; z <= g->n[Z]; z++) {
        long at = (long)z * g->plane + g->row;
        begin_rolling(&s, u + at, g->row, g->plane);
        for (int y = 1; y <= g->n[Y]; y++, at += g->row, roll(&s)) {
            sum_around(u + at, g->row, g->plane, &s, line_a, line_b);
            residual_row(g->n[X], u + at, right + at, r + at, line_a, line_b);
        }
    }
    exchange(level, r);
}

static void smooth_row(int n, const double *restrict r, double *restrict u,
                       const double *restrict across, const double *restrict corner)
{
    double centre = stencil_s[0], face = stencil_s[1], edge = stencil_s[2];
    for (int i = 1; i <= n; i++)
        u[i] += centre * r[i] + face * (r[i - 1] + r[i + 1] + across[i])
            + edge * (corner[i] + across[i - 1] + across[i + 1]);
}

/* u = u + S r */
static void smooth(int level, const double *r, double *u)
{
    const struct grid *g = &grids[level];
    struct rolling s;
    for (int z = 1; z <= g->n[Z]; z++) {
        long at = (long)z * g->plane + g->row;
        begin_rolling(&s, r + at, g->row, g->plane);
        for (int y = 1; y <= g->n[Y]; y++, at += g->row, roll(&s)) {
            sum_around(r + at, g->row, g->plane, &s, line_a, line_b);
            smooth_row(g->n[X], r + at, u + at, line_a, line_b);
        }
    }
    exchange(level, u);
}

/* A coarse row from the fine rows around it: 1/2, faces 1/4, edges 1/8, corners 1/16. */
static void restrict_row(int n, const double *restrict fine, int row, int plane,
                         double *restrict coarse)
{
    double *restrict across = line_a, *restrict corner = line_b;
    const double *low = fine - plane, *high = fine + plane;
    for (int i = 1; i <= 2 * n + 1; i++) {
        across[i] = fine[i - row] + fine[i + row] + low[i] + high[i];
        corner[i] = low[i - row] + low[i + row] + high[i - row] + high[i + row];
    }
    for (int i = 1; i <= n; i++)
        coarse[i] = 0.5 * fine[2 * i] + 0.25 * (fine[2 * i - 1] + fine[2 * i + 1] + across[2 * i])
            + 0.125 * (across[2 * i - 1] + across[2 * i + 1] + corner[2 * i])
            + 0.0625 * (corner[2 * i - 1] + corner[2 * i + 1]);
}

/* Point c of a coarse grid lies at point 2c of the fine one, where the block's first point is 1.
 * `from` is where this task's part of the coarse array begins: it is all of it, except from the
 * cut to the whole. */
static void restrict_grid(int level, const double *fine, double *coarse, int low_x, int low_y,
                          int low_z)
{
    const struct grid *f = &grids[level], *c = &grids[level - 1];
    for (int z = 1; z <= f->n[Z] / 2; z++)
        for (int y = 1; y <= f->n[Y] / 2; y++)
            restrict_row(f->n[X] / 2, fine + (long)2 * z * f->plane + 2 * y * f->row, f->row,
                         f->plane,
                         coarse + (long)(z + low_z) * c->plane + (y + low_y) * c->row + low_x);
}

/* The fine row at (2z + dz, 2y + dy) from the sum of its coarse rows, each with the weight. */
static void prolong_row(int n, const double *restrict sum, double weight, double *restrict fine)
{
    double half = 0.5 * weight;
    for (int i = 0; i <= n; i++) {
        fine[2 * i] += weight * sum[i];
        fine[2 * i + 1] += half * (sum[i] + sum[i + 1]);
    }
}

static void prolong_rows(const struct grid *f, const struct grid *c, const double *coarse,
                         double *fine)
{
    int n = f->n[X] / 2;
    const double *up = coarse + c->plane;
    for (int i = 0; i <= n + 1; i++) {
        line_a[i] = coarse[i] + coarse[i + c->row];
        line_b[i] = coarse[i] + up[i];
        line_c[i] = line_a[i] + up[i] + up[i + c->row];
    }
    prolong_row(n, coarse, 1.0, fine);
    prolong_row(n, line_a, 0.5, fine + f->row);
    prolong_row(n, line_b, 0.5, fine + f->plane);
    prolong_row(n, line_c, 0.25, fine + f->plane + f->row);
}

/* fine += P coarse, the layer included, so that no exchange follows. */
static void prolong(int level, const double *coarse, double *fine, int low_x, int low_y, int low_z)
{
    const struct grid *f = &grids[level], *c = &grids[level - 1];
    for (int z = 0; z <= f->n[Z] / 2; z++)
        for (int y = 0; y <= f->n[Y] / 2; y++)
            prolong_rows(f, c, coarse + (long)(z + low_z) * c->plane + (y + low_y) * c->row + low_x,
                         fine + (long)2 * z * f->plane + 2 * y * f->row);
}

/* ---- The grid that everybody has whole ---- */

/* The points of one task's part of the whole grid, packed or unpacked. */
static long copy_part(int rank, double *x, double *list, int out)
{
    const struct grid *g = &grids[whole];
    int n[3] = {g->n[X] / parts[X], g->n[Y] / parts[Y], g->n[Z] / parts[Z]};
    int at[3] = {rank % parts[X], rank / parts[X] % parts[Y], rank / parts[X] / parts[Y]};
    long count = 0;
    for (int z = 1; z <= n[Z]; z++)
        for (int y = 1; y <= n[Y]; y++) {
            double *row = x + (long)(at[Z] * n[Z] + z) * g->plane + (at[Y] * n[Y] + y) * g->row
                + at[X] * n[X] + 1;
            memcpy(out ? list + count : row, out ? row : list + count,
                   sizeof(double) * (size_t)n[X]);
            count += n[X];
        }
    return count;
}

/* With the task 1, 2, 4 .. apart: all parts that both have by then. */
static void gather_whole(double *x)
{
    for (int apart = 1; apart < nas.tasks; apart *= 2) {
        int mine = nas.rank & ~(apart - 1), other = mine ^ apart;
        long count = 0;
        for (int k = 0; k < apart; k++)
            count += copy_part(mine + k, x, faces_out + count, 1);
        nas_send(nas.rank ^ apart, TAG_WHOLE, faces_out, (int)count);
        nas_recv(nas.rank ^ apart, TAG_WHOLE, faces_in, (int)count);
        count = 0;
        for (int k = 0; k < apart; k++)
            count += copy_part(other + k, x, faces_in + count, 0);
    }
    exchange(whole, x);
}

/* Where this task's part of the coarser grid begins: not at 0 where that grid is whole. */
static void part_begin(int level, int *low)
{
    for (int axis = X; axis <= Z; axis++)
        low[axis] = level - 1 == whole ? part[axis] * grids[level].n[axis] / 2 : 0;
}

static void go_down(int level)
{
    int low[3];
    part_begin(level, low);
    restrict_grid(level, grids[level].r, grids[level - 1].r, low[X], low[Y], low[Z]);
    if (level - 1 == whole)
        gather_whole(grids[whole].r);
    else
        exchange(level - 1, grids[level - 1].r);
}

static void go_up(int level)
{
    int low[3];
    part_begin(level, low);
    prolong(level, grids[level - 1].u, grids[level].u, low[X], low[Y], low[Z]);
}

/* u = u + M r (RNR-94-007, 2.2.2, "V-cycle"), then r = v - A u. */
static void v_cycle(void)
{
    for (int level = top; level > 1; level--)
        go_down(level);
    memset(grids[1].u, 0, sizeof(double) * grids[1].points);
    smooth(1, grids[1].r, grids[1].u);
    for (int level = 2; level < top; level++) {
        struct grid *g = &grids[level];
        memset(g->u, 0, sizeof(double) * g->points);
        go_up(level);
        residual(level, g->u, g->r, g->r);
        smooth(level, g->r, g->u);
    }
    go_up(top);
    residual(top, grids[top].u, v, grids[top].r);
    smooth(top, grids[top].r, grids[top].u);
    residual(top, grids[top].u, v, grids[top].r);
}

/* ---- Right side and norm ---- */

/* The largest (sign 1) or smallest (-1) random values and where they are, best first. */
struct extremes {
    double value[EXTREMES], place[EXTREMES];
    int count;
};

static void offer(struct extremes *best, double value, double place, int sign)
{
    int at = best->count;
    if (at == EXTREMES && sign * value <= sign * best->value[EXTREMES - 1])
        return;
    if (at < EXTREMES)
        best->count++;
    else
        at--;
    for (; at > 0 && sign * value > sign * best->value[at - 1]; at--) {
        best->value[at] = best->value[at - 1];
        best->place[at] = best->place[at - 1];
    }
    best->value[at] = value;
    best->place[at] = place;
}

/* Random numbers belong to the points of the whole grid in storage order. */
static void find_extremes(struct extremes *large, struct extremes *small)
{
    const struct grid *g = &grids[top];
    long n = 1L << top;
    for (int z = 0; z < g->n[Z]; z++)
        for (int y = 0; y < g->n[Y]; y++) {
            long place = ((part[Z] * g->n[Z] + z) * n + part[Y] * g->n[Y] + y) * n
                + part[X] * g->n[X];
            double seed = nas_seed_after(314159265.0, 1220703125.0, place);
            nas_randoms(g->n[X], &seed, 1220703125.0, line_a);
            for (int x = 0; x < g->n[X]; x++) {
                offer(large, line_a[x], (double)(place + x), 1);
                offer(small, line_a[x], (double)(place + x), -1);
            }
        }
}

/* Everybody's candidates to everybody: each fills its own part of a sum. */
static void best_of_all(struct extremes *best, int sign)
{
    int share = 2 * EXTREMES;
    double *all = allocate((size_t)(share * nas.tasks));
    memcpy(all + share * nas.rank, best->value, sizeof best->value);
    memcpy(all + share * nas.rank + EXTREMES, best->place, sizeof best->place);
    nas_sum(all, share * nas.tasks);
    best->count = 0;
    for (int p = 0; p < nas.tasks; p++)
        for (int i = 0; i < EXTREMES; i++)
            offer(best, all[share * p + i], all[share * p + EXTREMES + i], sign);
    free(all);
}

static void set_points(const struct extremes *best, double value)
{
    const struct grid *g = &grids[top];
    long n = 1L << top;
    for (int i = 0; i < EXTREMES; i++) {
        long place = (long)best->place[i];
        long x = place % n - part[X] * g->n[X], y = place / n % n - part[Y] * g->n[Y];
        long z = place / n / n - part[Z] * g->n[Z];
        if (x >= 0 && x < g->n[X] && y >= 0 && y < g->n[Y] && z >= 0 && z < g->n[Z])
            v[(z + 1) * g->plane + (y + 1) * g->row + x + 1] = value;
    }
}

static void make_right_side(void)
{
    struct extremes large = {.count = 0}, small = {.count = 0};
    find_extremes(&large, &small);
    best_of_all(&large, 1);
    best_of_all(&small, -1);
    set_points(&large, 1.0);
    set_points(&small, -1.0);
    exchange(top, v);
}

static double norm(const double *r)
{
    const struct grid *g = &grids[top];
    double sum = 0;
    for (int z = 1; z <= g->n[Z]; z++)
        for (int y = 1; y <= g->n[Y]; y++) {
            const double *row = r + (long)z * g->plane + y * g->row;
            double part_sum[8] = {0};
            for (int x = 1; x <= g->n[X]; x++)
                part_sum[x & 7] += row[x] * row[x];
            for (int k = 0; k < 8; k++)
                sum += part_sum[k];
        }
    nas_sum(&sum, 1);
    return sqrt(sum / pow(2.0, 3.0 * top));
}

/* ---- The run ---- */

static double solve(int count)
{
    struct grid *g = &grids[top];
    memset(g->u, 0, sizeof(double) * g->points);
    residual(top, g->u, v, g->r);
    norm(g->r);
    for (int i = 0; i < count; i++)
        v_cycle();
    return norm(g->r);
}

/* Sizes of the classes (NAS-95-020). */
static void choose_size(void)
{
    int n = nas.class_letter == 'S' ? 32 : nas.class_letter == 'W' ? 128 : 256;
    if (nas.thesis && nas.class_letter == 'S' && nas.size[0] == 0) {
        n = 128;
        nas.class_letter = 'W';
    }
    iterations = nas.class_letter == 'B' ? 20 : 4;
    if (nas.size[0] > 0)
        n = nas.size[0];
    if (nas.iterations > 0)
        iterations = nas.iterations;
    if ((n & (n - 1)) || n < 4 || n != nas.size[1] * !!nas.size[0] + n * !nas.size[0]
        || (nas.size[0] && n != nas.size[2]))
        nas_fail("MG takes cubes whose side is a power of two from 4 on, such as --size 64.");
    for (top = 0; 1 << top < n; top++)
        continue;
    whole = top - 1 < WHOLE_LEVEL ? top - 1 : WHOLE_LEVEL;
    if (nas.class_letter == 'B') {
        stencil_s[0] = -3.0 / 17.0;
        stencil_s[1] = 1.0 / 33.0;
        stencil_s[2] = -1.0 / 61.0;
    }
}

static void verify(double got)
{
    if (!nas.first)
        return;
    if (nas.class_letter == 'B' && top == 8 && iterations == 20)
        nas_quantity("L2 norm of the residual", got, 0.1800564401355e-05, 1e-8);
    else if (nas.class_letter != 'B' && iterations == 4 && (top == 5 || top == 7 || top == 8))
        nas_quantity("L2 norm of the residual", got, top == 5 ? 0.5307707005734e-04
                     : top == 7 ? 0.6467329375339e-05 : 0.2433365309069e-05, 1e-8);
    else
        nas_norm("L2 norm of the residual", got);
}

int main(int argc, char **argv)
{
    double began, seconds, got, points;
    char size[48];
    nas_options(argc, argv, "mg", NAS_SIZE);
    choose_size();
    nas_require_tasks(takes, "MG takes powers of two");
    points = pow(2.0, 3.0 * top);
    nas_begin(8.0 * 3.6 * points / nas.tasks + 64.0 * pow(4.0, top));
    make_grids();
    make_right_side();
    solve(1); /* not timed */
    nas_barrier();
    nas_timed(1);
    began = nas_seconds();
    got = solve(iterations);
    seconds = nas_seconds() - began;
    nas_timed(0);
    verify(got);
    snprintf(size, sizeof size, "%dx%dx%d", 1 << top, 1 << top, 1 << top);
    nas_report(size, iterations, seconds, 58.0 * iterations * points);
    nas_end();
}
