/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Clock, data and output of the measured programs. Output is lines with tabs, which `pvm bench` reads:
 *
 *     row  TEST  SIZE  UNIT  VALUES    as they were measured, one after the other; UNIT is ns, s, Mflop/s or MHz
 *     clock  NS                        what reading the clock costs: taken off from what is told in ns
 */
#ifndef MEASURE_H
#define MEASURE_H

double measure_now_ns(void);
/* The mean of two readings with nothing between, over a hundred of them; told. */
void measure_clock(void);
void measure_row(const char *test, long size, const char *unit, const double *values, int count);

/* `bytes` bytes (and a few more) in a pattern of ints; ends the program if there is no memory. */
int *measure_filled(int bytes);
/* Ends the program with status 1 if the pattern is not there. */
void measure_check(const int *data, int bytes);

#endif
