/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests say when something is not as it should be. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

#define CHECK_IS(call, expected)                                                            \
    do {                                                                                    \
        long got_ = (long)(call), want_ = (long)(expected);                                 \
        if (got_ != want_) {                                                                \
            fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #call, got_, \
                    want_);                                                                 \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

/* Waits for a condition with a generous limit. */
#define CHECK_SOON(condition)                                                               \
    do {                                                                                    \
        int turns_ = 6000;                                                                  \
        while (!(condition) && --turns_ > 0)                                                \
            usleep(10000);                                                                  \
        CHECK(turns_ > 0 && #condition);                                                    \
    } while (0)

#endif
