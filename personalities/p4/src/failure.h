/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Errors of the program, or around it. */
#ifndef P4_FAILURE_H
#define P4_FAILURE_H

#if defined(__GNUC__)
#define P4_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define P4_PRINTF(text, first)
#endif

/* Tells it and ends the job; never returns. */
_Noreturn void fatal(const char *format, ...) P4_PRINTF(1, 2);
/* Like fatal under hard errors; under soft errors prints nothing and returns -1. */
int failed(const char *format, ...) P4_PRINTF(1, 2);
int failure_soft(int on);
void failure_error(const char *what, int value);
/* How this process is called in what it prints. */
const char *process_name(void);

#endif
