/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the library needs of pvm3.h, which is not included beside pvmuser.h: their codes have the same names. */
#ifndef PVM2_MACHINE_H
#define PVM2_MACHINE_H

#include <stdbool.h>

struct pvm2_named {
    const char *class;
    int index;
    int owner; /* 0: it has none any more */
    bool reserved; /* anybody may overwrite it */
};

/* Called for an entry of a named message; false ends the listing. */
typedef bool (*pvm2_each)(const struct pvm2_named *named, void *with);

/* All entries whose class holds the pattern; a status of neopvm.h. */
int pvm2_machine_each(const char *pattern, pvm2_each each, void *with);

enum { ROUTE_DAEMONS, ROUTE_DIRECT };
/* Sets the way of messages to other hosts; returns what it was, for pvm2_machine_unroute. */
int pvm2_machine_route(int route);
void pvm2_machine_unroute(int before);
bool pvm2_machine_is_here(int tid);

/* Has the next task that is started find a variable in its environment, or no longer. */
void pvm2_machine_export(const char *variable, const char *value);
void pvm2_machine_unexport(const char *variable);

/* The flags that put a named message at an index. */
int pvm2_machine_at(int index);

#endif
