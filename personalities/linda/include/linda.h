/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * linda.h - the calls of C-Linda beside its operations. clc knows them without this file; it is for files of a program
 * that an ordinary C compiler compiles.
 */
#ifndef NEOPVM_LINDA_H
#define NEOPVM_LINDA_H

#ifdef __cplusplus
extern "C" {
#endif

/* Ends this process. The first process of a program waits for those that eval has started, as at the end of real_main. */
void lexit(int status);

/* Ends the whole program with this status. */
void lhalt(int status);

/* The number of this program's processes. */
int lprocs(void);

/* Start a clock, note a time under a name, and print all times. */
void start_timer(void);
void timer_split(char *name);
void print_times(void);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_LINDA_H */
