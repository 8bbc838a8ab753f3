/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * mandelbrot: the hosts of the machine draw one picture together.
 *
 *     mandelbrot [-o FILE.png] [-w WIDTH] [-h HEIGHT] [-i ITERATIONS] [-n WORKERS_PER_HOST] [-x
 *     PROGRAM]...
 *
 * The program has two parts: started from the shell it is the master, and spawned it is a worker.
 * The master starts workers on every host, and one worker of each PROGRAM, which may be written in
 * any language. It gives each worker two bands of rows at a time, so that no worker waits for the
 * next band, and gives the bands of a worker that dies to the others. At the end it writes the
 * picture and prints what each worker has computed.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "png.h"
#include "pvm3.h"

enum { JOB = 1, BAND = 2, WORKER_GONE = 3 };
enum { BAND_ROWS = 4, BANDS_AHEAD = 2, SAMPLES = 2, NOBODY = -1, DONE = -2, OTHERS_MAX = 8 };

struct picture { int width, height, iterations; };

struct worker {
    int tid, alive, bands_held, rows;
    double busy_s;
    const char *host, *program;
};

static double now_s(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* ---- the worker ---- */

static int escape(double x, double y, int iterations)
{
    double a = 0, b = 0, aa = 0, bb = 0;
    int n;

    for (n = 0; n < iterations && aa + bb < 4; n++) {
        b = 2 * a * b + y;
        a = aa - bb + x;
        aa = a * a;
        bb = b * b;
    }
    return n;
}

/* Returns the mean of SAMPLES x SAMPLES points: 0 is inside the set, 1..255 are colours. */
static unsigned char pixel(const struct picture *p, int column, int row)
{
    double step = 3.2 / p->width;
    int i, n, sum = 0;

    for (i = 0; i < SAMPLES * SAMPLES; i++) {
        double dx = (double)(i % SAMPLES) / SAMPLES, dy = (double)(i / SAMPLES) / SAMPLES;
        n = escape(-2.3 + (column + dx) * step, ((double)row + dy - p->height / 2.0) * step,
                   p->iterations);
        sum += n == p->iterations ? 0 : 1 + (n * 9) % 255;
    }
    return (unsigned char)(sum / (SAMPLES * SAMPLES));
}

static int rows_of(const struct picture *p, int band)
{
    int left = p->height - band * BAND_ROWS;
    return left < BAND_ROWS ? left : BAND_ROWS;
}

static void work(int master)
{
    struct picture p;
    int band, i;
    unsigned char *pixels;
    double start_s, spent_s;

    for (;;) {
        pvm_recv(master, JOB);
        pvm_upkint(&band, 1, 1);
        if (band < 0)
            return;
        pvm_upkint(&p.width, 1, 1);
        pvm_upkint(&p.height, 1, 1);
        pvm_upkint(&p.iterations, 1, 1);
        start_s = now_s();
        pixels = malloc((size_t)p.width * BAND_ROWS);
        for (i = 0; i < p.width * rows_of(&p, band); i++)
            pixels[i] = pixel(&p, i % p.width, band * BAND_ROWS + i / p.width);
        spent_s = now_s() - start_s;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&band, 1, 1);
        pvm_pkdouble(&spent_s, 1, 1);
        pvm_pkbyte((char *)pixels, p.width * rows_of(&p, band), 1);
        pvm_send(master, BAND);
        free(pixels);
    }
}

/* ---- the master ---- */

struct job {
    struct picture picture;
    unsigned char *pixels;
    int *holder;               /* for each band: the index of its worker, NOBODY or DONE */
    int bands, bands_done;
    struct worker *workers;
    int worker_count;
    const char *others[OTHERS_MAX]; /* programs of other workers */
    int other_count;
};

static void progress(const struct job *job)
{
    static int shown = -1;
    int i, percent = 100 * job->bands_done / job->bands;

    if (percent == shown || !isatty(STDERR_FILENO))
        return;
    shown = percent;
    fputs("\r[", stderr);
    for (i = 0; i < 50; i++)
        fputc(i < percent / 2 ? '#' : '.', stderr);
    fprintf(stderr, "] %3d %%%s", percent, percent == 100 ? "\n" : "");
}

static void hand_out(struct job *job, int index)
{
    struct worker *w = &job->workers[index];
    int band;

    for (band = 0; band < job->bands && w->alive && w->bands_held < BANDS_AHEAD; band++) {
        if (job->holder[band] != NOBODY)
            continue;
        job->holder[band] = index;
        w->bands_held++;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&band, 1, 1);
        pvm_pkint(&job->picture.width, 1, 1);
        pvm_pkint(&job->picture.height, 1, 1);
        pvm_pkint(&job->picture.iterations, 1, 1);
        pvm_send(w->tid, JOB);
    }
}

static int index_of(const struct job *job, int tid)
{
    int i;

    for (i = 0; i < job->worker_count; i++)
        if (job->workers[i].tid == tid)
            return i;
    return -1;
}

static void take_band(struct job *job, int index)
{
    struct worker *w = &job->workers[index];
    int band, rows;
    double spent_s;

    pvm_upkint(&band, 1, 1);
    pvm_upkdouble(&spent_s, 1, 1);
    if (band < 0 || band >= job->bands || job->holder[band] != index)
        return;
    rows = rows_of(&job->picture, band);
    pvm_upkbyte((char *)job->pixels + (size_t)band * BAND_ROWS * job->picture.width,
                rows * job->picture.width, 1);
    job->holder[band] = DONE;
    job->bands_done++;
    w->bands_held--;
    w->rows += rows;
    w->busy_s += spent_s;
}

static void lose_worker(struct job *job, int index)
{
    int band;

    job->workers[index].alive = 0;
    fprintf(stderr, "mandelbrot: worker t%x on %s is gone, others take its rows\n",
            (unsigned)job->workers[index].tid, job->workers[index].host);
    for (band = 0; band < job->bands; band++)
        if (job->holder[band] == index)
            job->holder[band] = NOBODY;
}

/* Returns 0 when the picture is complete. */
static int draw(struct job *job)
{
    int i, tag, from, gone, alive = job->worker_count;

    while (job->bands_done < job->bands && alive > 0) {
        for (i = 0; i < job->worker_count; i++)
            hand_out(job, i);
        pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, &from);
        if (tag == BAND && (i = index_of(job, from)) >= 0)
            take_band(job, i);
        if (tag == WORKER_GONE) {
            pvm_upkint(&gone, 1, 1);
            if ((i = index_of(job, gone)) >= 0 && job->workers[i].alive) {
                lose_worker(job, i);
                alive--;
            }
        }
        progress(job);
    }
    return job->bands_done < job->bands;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Starts `count` workers on a host, or anywhere if `host` is NULL. */
static void add_workers(struct job *job, const char *program, const char *host, int count)
{
    struct pvmhostinfo *hosts;
    int host_count = 0, started, i, h, *tids = calloc((size_t)count, sizeof *tids);
    char path[PATH_MAX];

    if (!realpath(program, path))
        snprintf(path, sizeof path, "%s", program);
    started = pvm_spawn(path, NULL, host ? PvmTaskHost : PvmTaskDefault, host ? (char *)host : "", count, tids);
    if (started < count)
        fprintf(stderr, "mandelbrot: %d of %d workers %s started on %s\n", started < 0 ? 0 : started, count,
                last_part(path), host ? host : "any host");
    if (started > 0)
        pvm_notify(PvmTaskExit, WORKER_GONE, started, tids);
    pvm_config(&host_count, NULL, &hosts);
    for (i = 0; i < started; i++) {
        struct worker w = {.tid = tids[i], .alive = 1, .host = "?", .program = strdup(last_part(path))};
        for (h = 0; h < host_count; h++)
            if (hosts[h].hi_tid == pvm_tidtohost(tids[i]))
                w.host = strdup(hosts[h].hi_name);
        job->workers[job->worker_count++] = w;
    }
    free(tids);
}

/* Starts `per_host` workers on every host by name, and one of each other program. */
static void start_workers(struct job *job, const char *program, int per_host)
{
    struct pvmhostinfo *hosts;
    int host_count = 0, h, i;
    char **names;

    pvm_config(&host_count, NULL, &hosts);
    job->workers = calloc((size_t)(host_count * per_host + job->other_count), sizeof *job->workers);
    /* The next call of pvm_config changes the table. */
    names = calloc((size_t)host_count + 1, sizeof *names);
    for (h = 0; h < host_count; h++)
        names[h] = strdup(hosts[h].hi_name);
    for (h = 0; h < host_count; h++) {
        add_workers(job, program, names[h], per_host);
        free(names[h]);
    }
    free(names);
    for (i = 0; i < job->other_count; i++)
        add_workers(job, job->others[i], NULL, 1);
}

static void report(const struct job *job, double wall_s)
{
    int i, stop = -1, rows = 0;
    double busy_s = 0;

    printf("%-24s %8s %8s %9s  %s\n", "HOST", "TASK", "ROWS", "SECONDS", "PROGRAM");
    for (i = 0; i < job->worker_count; i++) {
        const struct worker *w = &job->workers[i];
        printf("%-24s %8x %8d %9.2f  %s%s\n", w->host, (unsigned)w->tid, w->rows, w->busy_s, w->program,
               w->alive ? "" : " (gone)");
        rows += w->rows;
        busy_s += w->busy_s;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&stop, 1, 1);
        if (w->alive)
            pvm_send(w->tid, JOB);
    }
    printf("%-24s %8d %8d %9.2f  in %.2f s\n", "all", job->worker_count, rows, busy_s, wall_s);
}

static int lead(struct job *job, const char *program, int per_host, const char *file)
{
    const struct picture *picture = &job->picture;
    double start_s = now_s();
    int i, status;

    job->bands = (picture->height + BAND_ROWS - 1) / BAND_ROWS;
    job->pixels = calloc((size_t)picture->width, (size_t)picture->height);
    job->holder = malloc((size_t)job->bands * sizeof *job->holder);
    for (i = 0; i < job->bands; i++)
        job->holder[i] = NOBODY;
    start_workers(job, program, per_host);
    status = draw(job);
    report(job, now_s() - start_s);
    if (status)
        fprintf(stderr, "mandelbrot: no worker is left, the picture is not complete\n");
    else if ((status = png_write(file, job->pixels, picture->width, picture->height)) != 0)
        perror(file);
    else
        printf("picture: %s\n", file);
    return status;
}

static int usage(void)
{
    fprintf(stderr, "usage: mandelbrot [-o FILE.png] [-w WIDTH] [-h HEIGHT] [-i ITERATIONS] "
                    "[-n WORKERS_PER_HOST] [-x PROGRAM]...\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct job job = {.picture = {1200, 900, 1000}};
    struct picture *picture = &job.picture;
    const char *file = "mandelbrot.png";
    int option, per_host = 1, status;

    while ((option = getopt(argc, argv, "o:w:h:i:n:x:")) != -1) {
        switch (option) {
        case 'o': file = optarg; break;
        case 'w': picture->width = atoi(optarg); break;
        case 'h': picture->height = atoi(optarg); break;
        case 'i': picture->iterations = atoi(optarg); break;
        case 'n': per_host = atoi(optarg); break;
        case 'x':
            if (job.other_count == OTHERS_MAX)
                return usage();
            job.others[job.other_count++] = optarg;
            break;
        default: return usage();
        }
    }
    if (picture->width < 1 || picture->height < 1 || picture->width > 20000 || picture->height > 20000
        || picture->iterations < 1 || per_host < 1)
        return usage();
    if (pvm_mytid() < 0)
        return 1;
    if (pvm_parent() > 0) {
        work(pvm_parent());
        status = 0;
    } else {
        status = lead(&job, argv[0], per_host, file);
    }
    pvm_exit();
    return status ? 1 : 0;
}
