/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How the tasks of a run came to be. */
#ifndef NAS_START_H
#define NAS_START_H
void start_keep(int argc, char **argv);
int start_place(void);
int start_siblings(void);
#endif
