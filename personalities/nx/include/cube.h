/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The name of nx.h on other machines of Intel's. */
#include "nx.h"
