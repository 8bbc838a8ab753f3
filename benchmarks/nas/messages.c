/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Messages from rank to rank in the encoding that was asked for, and the sums over all ranks.
 * nas_common.f90 has the first four again, by the Fortran calls.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pvm3.h"

#include "internal.h"
#include "nas.h"

static void count_send(double began, double bytes)
{
    nas_own.traffic.seconds[0] += nas_seconds() - began;
    nas_own.traffic.messages += 1;
    nas_own.traffic.bytes += bytes;
}

static void count_receive(double began)
{
    nas_own.traffic.seconds[1] += nas_seconds() - began;
}

/* For nas_common.f90, which sends by itself. */
void nas_count_send(double began, double bytes)
{
    count_send(began, bytes);
}

void nas_count_receive(double began)
{
    count_receive(began);
}

/* In place means that no buffer of ours lies between the array and the system: pvm_psend. */
void nas_send(int to, int tag, const double *items, int count)
{
    double began = nas_seconds();
    if (nas.encoding == NAS_INPLACE) {
        nas_check(pvm_psend(nas_tid(to), tag, (void *)items, count, PVM_DOUBLE), "pvm_psend");
    } else {
        nas_check(pvm_initsend(nas.encoding), "pvm_initsend");
        nas_check(pvm_pkdouble((double *)items, count, 1), "pvm_pkdouble");
        nas_check(pvm_send(nas_tid(to), tag), "pvm_send");
    }
    count_send(began, 8.0 * count);
}

static void check_length(int got, int wanted)
{
    if (got != wanted) {
        fprintf(stderr, "nas-%s: rank %d: a message of %d bytes where %d were expected.\n",
                nas_own.name, nas.rank, got, wanted);
        nas_abandon();
        exit(1);
    }
}

void nas_recv(int from, int tag, double *items, int count)
{
    double began = nas_seconds();
    int tid, found, bytes;
    if (nas.encoding == NAS_INPLACE) {
        nas_check(pvm_precv(nas_tid(from), tag, items, count, PVM_DOUBLE, &tid, &found, &bytes),
                  "pvm_precv");
        check_length(bytes, 8 * count);
    } else {
        nas_check(pvm_recv(nas_tid(from), tag), "pvm_recv");
        nas_check(pvm_upkdouble(items, count, 1), "pvm_upkdouble");
    }
    count_receive(began);
}

void nas_send_ints(int to, int tag, const int *items, int count)
{
    double began = nas_seconds();
    if (nas.encoding == NAS_INPLACE) {
        nas_check(pvm_psend(nas_tid(to), tag, (void *)items, count, PVM_INT), "pvm_psend");
    } else {
        nas_check(pvm_initsend(nas.encoding), "pvm_initsend");
        nas_check(pvm_pkint((int *)items, count, 1), "pvm_pkint");
        nas_check(pvm_send(nas_tid(to), tag), "pvm_send");
    }
    count_send(began, 4.0 * count);
}

/* At most `most` ints; says how many came. */
int nas_recv_ints(int from, int tag, int *items, int most)
{
    double began = nas_seconds();
    int tid, found, bytes = 0, buffer;
    if (nas.encoding == NAS_INPLACE) {
        nas_check(pvm_precv(nas_tid(from), tag, items, most, PVM_INT, &tid, &found, &bytes),
                  "pvm_precv");
    } else {
        buffer = pvm_recv(nas_tid(from), tag);
        nas_check(buffer, "pvm_recv");
        nas_check(pvm_bufinfo(buffer, &bytes, &found, &tid), "pvm_bufinfo");
        if (bytes <= 4 * most)
            nas_check(pvm_upkint(items, bytes / 4, 1), "pvm_upkint");
    }
    if (bytes > 4 * most)
        check_length(bytes, 4 * most);
    count_receive(began);
    return bytes / 4;
}

/* Whether a message waits, so that a receive would return at once. */
int nas_has_come(int from, int tag)
{
    int buffer = pvm_probe(nas_tid(from), tag);
    nas_check(buffer, "pvm_probe");
    return buffer > 0;
}

enum operation { ADD, MAXIMUM };

static void combine(double *mine, const double *other, int count, enum operation operation)
{
    for (int i = 0; i < count; i++) {
        if (operation == ADD)
            mine[i] += other[i];
        else if (other[i] > mine[i])
            mine[i] = other[i];
    }
}

static double *room(int count)
{
    static double *items;
    static int size;
    if (count > size) {
        free(items);
        items = malloc(sizeof *items * (size_t)count);
        size = count;
        if (items == NULL)
            nas_fail("no memory for a sum over %d values.", count);
    }
    return items;
}

/*
 * Powers of two: in log2(tasks) exchanges with ranks 1, 2, 4 .. apart everybody has the result.
 * Both partners add the same two numbers, so all have the same bits.
 */
static void exchange_reduce(double *items, int count, enum operation operation)
{
    double *other = room(count);
    for (int apart = 1; apart < nas.tasks; apart *= 2) {
        nas_send(nas.rank ^ apart, TAG_REDUCE, items, count);
        nas_recv(nas.rank ^ apart, TAG_REDUCE, other, count);
        combine(items, other, count, operation);
    }
}

/* Any number: a tree to rank 0 and back. */
static void tree_reduce(double *items, int count, enum operation operation)
{
    double *other = room(count);
    for (int apart = 1; apart < nas.tasks; apart *= 2) {
        if (nas.rank & apart) {
            nas_send(nas.rank - apart, TAG_REDUCE, items, count);
            break;
        }
        if (nas.rank + apart < nas.tasks) {
            nas_recv(nas.rank + apart, TAG_REDUCE, other, count);
            combine(items, other, count, operation);
        }
    }
    nas_broadcast(items, count);
}

static void reduce(double *items, int count, enum operation operation)
{
    if (nas.tasks == 1)
        return;
    if ((nas.tasks & (nas.tasks - 1)) == 0)
        exchange_reduce(items, count, operation);
    else
        tree_reduce(items, count, operation);
}

void nas_sum(double *items, int count)
{
    reduce(items, count, ADD);
}

void nas_max(double *items, int count)
{
    reduce(items, count, MAXIMUM);
}

/* Exact below 2^53. */
void nas_sum_longs(long *items, int count)
{
    double *values = malloc(sizeof *values * (size_t)count);
    if (values == NULL)
        nas_fail("no memory for a sum over %d values.", count);
    for (int i = 0; i < count; i++)
        values[i] = (double)items[i];
    nas_sum(values, count);
    for (int i = 0; i < count; i++)
        items[i] = (long)values[i];
    free(values);
}

/* From rank 0, by a tree. */
void nas_broadcast(double *items, int count)
{
    int apart = 1;
    while (apart < nas.tasks)
        apart *= 2;
    for (apart /= 2; apart > 0; apart /= 2) {
        if (nas.rank % (2 * apart) == 0 && nas.rank + apart < nas.tasks)
            nas_send(nas.rank + apart, TAG_SPREAD, items, count);
        else if (nas.rank % (2 * apart) == apart)
            nas_recv(nas.rank - apart, TAG_SPREAD, items, count);
    }
}

void nas_barrier(void)
{
    double nothing = 0;
    nas_sum(&nothing, 1);
}
