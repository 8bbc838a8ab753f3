/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A worker in C: claims ("task", int) and puts ("result", int, int, "C") in the step that ends the claim.
 * A task below 0 is the end. */
#include <neotuple.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int32_t status) {
    if (status < 0) {
        fprintf(stderr, "worker: %s\n", neotuple_text(status));
        exit(1);
    }
}

static int32_t primes_below(int32_t end) {
    int32_t count = 0;
    for (int32_t n = 2; n < end; n++) {
        int32_t divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0) divisor++;
        count += divisor * divisor > n;
    }
    return count;
}

static neotuple named(const char *name) {
    neotuple tuple;
    check(neotuple_new(&tuple));
    check(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, name, strlen(name)));
    return tuple;
}

int main(void) {
    neotuple_space space;
    check(neotuple_open("bag", 0, NULL, &space));
    neotuple ready = named("ready");
    check(neotuple_out(space, ready, NEOTUPLE_FOREVER, NULL));
    neotuple wanted = named("task");
    check(neotuple_add_formal(wanted, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
    for (;;) {
        neotuple task, result = named("result");
        int32_t number, primes;
        check(neotuple_claim(space, wanted, NEOTUPLE_FOREVER, 0, &task));
        check(neotuple_get(task, 1, NEOTUPLE_INT, NEOTUPLE_SCALAR, &number, sizeof number, NULL));
        if (number < 0) {
            check(neotuple_done(space, task, NULL, 0));
            return 0;
        }
        primes = primes_below(number);
        check(neotuple_add(result, NEOTUPLE_INT, &number));
        check(neotuple_add(result, NEOTUPLE_INT, &primes));
        check(neotuple_add_bytes(result, NEOTUPLE_TEXT, "C", 1));
        check(neotuple_done(space, task, &result, 1));
        check(neotuple_free(task));
        check(neotuple_free(result));
    }
}
