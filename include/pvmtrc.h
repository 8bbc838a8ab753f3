/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvmtrc.h - helpers of libpvmtrc for programs that collect and print traces.
 *
 * PVM 3 has a library of this name for its own tracer, but does not install a header for it. This file
 * declares the calls of that library that other programs can use. Link with -lpvmtrc -lpvm3.
 */
#ifndef NEOPVM_PVMTRC_H
#define NEOPVM_PVMTRC_H

#include "pvmtev.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The C names of the types TEV_DATA_NULL to TEV_DATA_DEFERRED, as trace files spell them. */
extern char *TRC_TYPE_STRS[];

/* The tags that the program chooses for notices about hosts. */
extern int TRC_HOST_ADD_NOTIFY_CODE;
extern int TRC_HOST_DEL_NOTIFY_CODE;

/* Returns a copy of a string, which the caller frees, or null if there is no memory. */
char *trc_copy_str NEOPVM_ARGS((char *text));

/* Returns a number as at least `width` digits, with leading zeroes. The caller frees the string. */
char *trc_pad_num NEOPVM_ARGS((int number, int width));

/* Returns the current date and time without a newline. The caller frees the string. */
char *trc_date_str NEOPVM_ARGS((void));

/* Returns 1 if `text` begins with `prefix`, else 0. */
int trc_compare NEOPVM_ARGS((char *prefix, char *text));

/* Return the number of an event's datum or of a kind of event by its short name, or -1. */
int trc_get_did NEOPVM_ARGS((char *name));
int trc_find_event_str NEOPVM_ARGS((char *name));

/* Prints the kinds of events in four columns, with an asterisk before those in the mask. */
void trc_print_tmask NEOPVM_ARGS((Pvmtmask mask));

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_PVMTRC_H */
