/* The two kernels of the comparison of 1993, with what surrounds them. */
#include <stdlib.h>
#include <sys/time.h>

static double wtime(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec + now.tv_usec * 1.0e-6;
}

static int worker(int buffer_size, int iterations)
{
    long *buffer = malloc(buffer_size * sizeof *buffer);
    int iters;

    out (" Worker alive?", 1);    /* synchronize processes */

    for( iters = iterations ; iters-- ; ) {
        in ("ping", ?buffer:);
        out("pong", buffer:buffer_size);
    }
    free(buffer);
    return 0;
}

int real_main(int argc, char **argv)
{
    int buffer_size = argc > 1 ? atoi(argv[1]) : 100, iterations = 100, iters, flag;
    long *buffer = calloc(buffer_size, sizeof *buffer);
    double t0, twtime = 0, *tp = malloc(iterations * sizeof *tp), *times = tp;

    eval(" Timing worker",worker(buffer_size,iterations));

    in(" Worker alive?", ?flag);    /* synchronize processes */

    for( iters = iterations ; iters-- ; ) {
        t0 = wtime();

        out("ping", buffer:buffer_size);
        in("pong", ? buffer: );

        *tp = wtime();
        *tp++ -= ( t0 + twtime);
    }
    in(" Timing worker", ?flag);
    return times[0] < 0;
}
