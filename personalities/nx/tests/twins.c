/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N(name) _##name
#include "calls.c"
