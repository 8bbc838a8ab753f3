/*
 * Primes below a limit in three styles: results that are live tuples (each waits for those it needs), a bag of tasks with
 * a master, and a pipeline of sieves. Arguments: style, limit, workers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_definition(int n)
{
    int i;
    for (i = 2; i * i <= n; i++)
        if (n % i == 0)
            return 0;
    return 1;
}

/* Result: each number's process reads the results of smaller ones. */
static int is_prime(int n)
{
    int i, prime;
    for (i = 2; i * i <= n; i++) {
        rd("prime", i, ?prime);
        if (prime && n % i == 0)
            return 0;
    }
    return 1;
}

static int result(int limit)
{
    int i, prime, count = 0;
    for (i = 2; i < limit; i++)
        eval("prime", i, is_prime(i));
    for (i = 2; i < limit; i++) {
        rd("prime", i, ?prime);
        count += prime;
    }
    return count;
}

/* Agenda: workers take intervals from a bag. */
static int worker(int width)
{
    int from, i, done = 0;
    for (;;) {
        in("interval", ?from);
        if (from < 0)
            return done;
        int count = 0;
        for (i = from; i < from + width; i++)
            count += i >= 2 && by_definition(i);
        out("found", count);
        done++;
    }
}

static int agenda(int limit, int workers)
{
    int width = 50, i, count = 0, found, tasks = 0, done, sum = 0;
    for (i = 0; i < workers; i++)
        eval("worker", worker(width));
    for (i = 0; i < limit; i += width, tasks++)
        out("interval", i);
    for (i = 0; i < tasks; i++) {
        in("found", ?found);
        count += found;
    }
    for (i = 0; i < workers; i++)
        out("interval", -1);
    for (i = 0; i < workers; i++) {
        in("worker", ?done);
        sum += done;
    }
    return sum == tasks ? count : -1;
}

/* Specialist: a pipeline of which each process sieves by one prime, and makes its follower. */
static int sieve(int prime, int id)
{
    int n, i = 0, sent = 0, length = 0;
    for (;;) {
        in("stream", id, i++, ?n);
        if (n < 0)
            break;
        if (n % prime) {
            if (!length) {
                eval("sieve", id + 1, sieve(n, id + 1));
                length = 1;
            } else {
                out("stream", id + 1, sent++, n);
            }
        }
    }
    if (!length)
        return 1;
    out("stream", id + 1, sent, -1);
    in("sieve", id + 1, ?length);
    return length + 1;
}

static int specialist(int limit)
{
    int i, sent = 0, length;
    eval("sieve", 0, sieve(2, 0));
    for (i = 3; i < limit; i++)
        out("stream", 0, sent++, i);
    out("stream", 0, sent, -1);
    in("sieve", 0, ?length);
    return length;
}

int real_main(int argc, char **argv)
{
    int limit = atoi(argv[2]), workers = atoi(argv[3]), wanted = 0, got, i;
    (void)argc;
    for (i = 2; i < limit; i++)
        wanted += by_definition(i);
    got = strcmp(argv[1], "result") == 0 ? result(limit) : strcmp(argv[1], "agenda") == 0 ? agenda(limit, workers) : specialist(limit);
    printf("%s, %d primes below %d\n", got == wanted ? "ok" : "wrong", got, limit);
    return got != wanted;
}
