/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvmtrc.h - helpers of libpvmtrc for programs that collect and print traces.
 *
 * PVM 3 has a library of this name for its own tracer and never shipped its header. The calls here are
 * those of it that a program of its own can use; they do what they do there. Link with -lpvmtrc -lpvm3.
 */
#ifndef NEOPVM_PVMTRC_H
#define NEOPVM_PVMTRC_H

#include "pvmtev.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C names of the types TEV_DATA_NULL to TEV_DATA_DEFERRED, as traces declare them. */
extern char *TRC_TYPE_STRS[];

/* Sets the tags under which notices about hosts are to come. */
extern int TRC_HOST_ADD_NOTIFY_CODE;
extern int TRC_HOST_DEL_NOTIFY_CODE;

/* A copy of a text, to be freed by the caller; null if there is no memory. */
char *trc_copy_str NEOPVM_ARGS((char *text));

/* A number with zeroes in front, at least `width` digits; to be freed by the caller. */
char *trc_pad_num NEOPVM_ARGS((int number, int width));

/* Date and time now, without the end of line; to be freed by the caller. */
char *trc_date_str NEOPVM_ARGS((void));

/* 1 if `text` begins with `prefix`, else 0. */
int trc_compare NEOPVM_ARGS((char *prefix, char *text));

/* Number of an event's datum or kind by its short name; -1 if there is none. */
int trc_get_did NEOPVM_ARGS((char *name));
int trc_find_event_str NEOPVM_ARGS((char *name));

/* Prints the kinds of events in four columns, with an asterisk before those in the mask. */
void trc_print_tmask NEOPVM_ARGS((Pvmtmask mask));

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_PVMTRC_H */
