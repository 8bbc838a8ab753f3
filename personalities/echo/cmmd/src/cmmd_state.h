/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CMMD_STATE_H
#define CMMD_STATE_H

#include "../../shared/echo.h"

/* Types of messages of the library's own. */
enum { TYPE_SWAP = JOB_OWN_FIRST, TYPE_BROADCAST, BROADCASTS = 1 << 24 };

int cmmd_enter(void);
void cmmd_must(const char *call, int status);

#endif
