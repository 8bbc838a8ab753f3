/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Worker of samples.mandlebrot: asks its parent for columns of the Mandelbrot set and computes them, with the messages of
 * "Java Bindings to Parallel Virtual Machine", appendix B.
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

/* The tags; the Java master has the same. */
#define INITIALDATAREQUEST 1
#define INITIALDATARESPONSE 2
#define WORKREQUEST 3
#define WORKRESPONSE 4
#define WORKRESULT 5
#define WORKEREXIT 7
#define PARENTEXIT 8

static int checked(int result, char *what)
{
    if (result < 0) {
        pvm_perror(what);
        exit(1);
    }
    return result;
}

static void ask(int parent, int request)
{
    checked(pvm_initsend(PvmDataDefault), "initsend");
    checked(pvm_send(parent, request), "send");
}

/* Waits for an answer of the parent, but not when it is gone. */
static void await(int parent, int answer)
{
    struct timeval limit = {60, 0};

    if (pvm_probe(-1, PARENTEXIT) > 0 || checked(pvm_trecv(parent, answer, &limit), "trecv") == 0) {
        fprintf(stderr, "mandelbrot_worker: no word from the parent\n");
        pvm_exit();
        exit(1);
    }
}

static int pixel(float real, float imaginary, int max)
{
    float z_real = 0, z_imaginary = 0, next;
    int count = 0;

    do {
        next = z_real * z_real - z_imaginary * z_imaginary + real;
        z_imaginary = 2 * z_real * z_imaginary + imaginary;
        z_real = next;
    } while (z_real * z_real + z_imaginary * z_imaginary < 4 && ++count < max);
    return count;
}

int main(void)
{
    /* Smallest and largest real part, then the imaginary ones; width, height, most steps. */
    float range[4], scale_real, scale_imaginary;
    int shape[3], parent = checked(pvm_parent(), "parent"), column, done = 0, y, *counts;

    checked(pvm_notify(PvmTaskExit, PARENTEXIT, 1, &parent), "notify");
    ask(parent, INITIALDATAREQUEST);
    await(parent, INITIALDATARESPONSE);
    checked(pvm_upkfloat(range, 4, 1), "range");
    checked(pvm_upkint(shape, 3, 1), "shape");
    scale_real = (range[1] - range[0]) / shape[0];
    scale_imaginary = (range[3] - range[2]) / shape[1];
    if (shape[1] < 1 || !(counts = malloc((size_t)shape[1] * sizeof *counts)))
        return 1;

    for (;;) {
        ask(parent, WORKREQUEST);
        await(parent, WORKRESPONSE);
        checked(pvm_upkint(&column, 1, 1), "column");
        if (column < 0)
            break;
        for (y = 0; y < shape[1]; y++)
            counts[y] = pixel(range[0] + column * scale_real, range[2] + y * scale_imaginary, shape[2]);
        checked(pvm_initsend(PvmDataDefault), "initsend");
        checked(pvm_pkint(&column, 1, 1), "column");
        checked(pvm_pkint(counts, shape[1], 1), "counts");
        checked(pvm_send(parent, WORKRESULT), "send");
        done++;
    }
    checked(pvm_initsend(PvmDataDefault), "initsend");
    checked(pvm_pkint(&done, 1, 1), "done");
    checked(pvm_send(parent, WORKEREXIT), "send");
    free(counts);
    return pvm_exit() < 0;
}
