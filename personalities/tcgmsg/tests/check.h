/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A wrong result ends the program with its place. */
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#include <stdlib.h>
#define CHECK(is_so)                                                        \
    do {                                                                    \
        if (!(is_so)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #is_so); \
            exit(99);                                                       \
        }                                                                   \
    } while (0)
#endif
