/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * applications WHAT TASKS REPETITIONS SIZE...
 *
 * WHAT is rows, columns or scattered (Gaussian elimination of order SIZE, gauss.f90) or nbody (SIZE bodies, nbody.f90). Only the
 * elimination, or the forces, are timed; what is told is the time of each repetition, averaged over the tasks. The solution is
 * put into the equations, and the result is compared with that of a sequential run; the program ends with status 1 if the
 * residual is large, or if the results differ by more than rounding.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/calls.h"
#include "measure.h"

/* In Fortran. */
void gauss_columns_fill(double *a, int n, int me, int tasks, int scattered);
void gauss_columns(double *a, int n, int me, int tasks, int scattered);
void gauss_columns_solve(const double *a, double *x, int n, int me, int tasks, int scattered);
void gauss_rows_fill(double *a, int n, int me, int tasks);
void gauss_rows(double *a, int n, int me, int tasks);
void gauss_rows_solve(const double *a, double *x, int n, int me, int tasks);
double gauss_residual(const double *x, int n);
void nbody_forces(double *force, int n, int me, int tasks);

enum { REPETITIONS_MAX = 100, RESIDUAL_MAX = 16 };

static int me, tasks;

static void fill(const char *what, double *place, int n, int rank, int all)
{
    if (!strcmp(what, "rows"))
        gauss_rows_fill(place, n, rank, all);
    else if (strcmp(what, "nbody"))
        gauss_columns_fill(place, n, rank, all, !strcmp(what, "scattered"));
}

static void compute(const char *what, double *place, int n, int rank, int all)
{
    if (!strcmp(what, "rows"))
        gauss_rows(place, n, rank, all);
    else if (!strcmp(what, "nbody"))
        nbody_forces(place, n, rank, all);
    else
        gauss_columns(place, n, rank, all, !strcmp(what, "scattered"));
}

/* The solution, which every task has, counts once. */
static double solution_sum(const char *what, const double *place, int n, int rank, int all)
{
    double *x = malloc((size_t)n * sizeof *x), sum = 0, residual;
    int i;

    if (!x) {
        fprintf(stderr, "no memory for %d\n", n);
        exit(1);
    }
    if (!strcmp(what, "rows"))
        gauss_rows_solve(place, x, n, rank, all);
    else
        gauss_columns_solve(place, x, n, rank, all, !strcmp(what, "scattered"));
    residual = rank == 0 ? gauss_residual(x, n) : 0;
    if (!(residual < RESIDUAL_MAX)) {
        fprintf(stderr, "%s of %d: the residual is %g\n", what, n, residual);
        exit(1);
    }
    for (i = 0; i < n && rank == 0; i++)
        sum += fabs(x[i]);
    free(x);
    return sum;
}

/* The time of one run by `all` tasks in ns, and a number that depends on the whole result: each task's part of it. */
static double run(const char *what, double *place, int n, int rank, int all, double *sum)
{
    double begin, time;
    int i;

    fill(what, place, n, rank, all);
    if (all > 1)
        calls_barrier();
    begin = measure_now_ns();
    compute(what, place, n, rank, all);
    time = measure_now_ns() - begin;
    *sum = 0;
    if (strcmp(what, "nbody"))
        *sum = solution_sum(what, place, n, rank, all);
    else
        for (i = 0; i < 3 * (n / all); i++)
            *sum += fabs(place[i]);
    return time;
}

static void check(double sum, double sequential, const char *what, int n)
{
    if (!(fabs(sum - sequential) <= 1e-7 * fabs(sequential))) {
        fprintf(stderr, "%s of %d: %.12g, but %.12g by one task\n", what, n, sum, sequential);
        exit(1);
    }
}

static void measure(const char *what, int repetitions, int n)
{
    static double times[REPETITIONS_MAX];
    size_t numbers = strcmp(what, "nbody") ? (size_t)n * (size_t)(n + 1) : 3 * (size_t)n;
    double *place = malloc(numbers * sizeof *place), told[2], sequential;
    int i;

    if (!place) {
        fprintf(stderr, "no memory for %d\n", n);
        exit(1);
    }
    for (i = 0; i < repetitions; i++) {
        told[0] = run(what, place, n, me, tasks, told + 1);
        if (tasks > 1)
            calls_sum(told, 2);
        times[i] = told[0] / tasks;
    }
    if (me == 0) {
        measure_row(what, n, "ns", times, repetitions);
        if (tasks > 1) {
            run(what, place, n, 0, 1, &sequential);
            check(told[1], sequential, what, n);
        }
    }
    free(place);
}

int main(int argc, char **argv)
{
    int i, repetitions;

    if (argc < 5 || (tasks = atoi(argv[2])) < 1) {
        fprintf(stderr, "applications: see the head of applications.c\n");
        return 2;
    }
    repetitions = atoi(argv[3]) < REPETITIONS_MAX ? atoi(argv[3]) : REPETITIONS_MAX;
    me = calls_begin(&argc, &argv, tasks, DIRECT);
    for (i = 4; i < argc; i++)
        measure(argv[1], repetitions, atoi(argv[i]));
    calls_end();
    return 0;
}
