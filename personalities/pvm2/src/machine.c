/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdlib.h>
#include <neopvm.h>
#include <pvm3.h>
#include "machine.h"

int pvm2_machine_each(const char *pattern, pvm2_each each, void *with)
{
    struct pvmmboxinfo *classes = NULL;
    int i, k, count = 0, told = pvm_setopt(PvmAutoErr, 0);
    int status = pvm_getmboxinfo((char *)pattern, &count, &classes);

    pvm_setopt(PvmAutoErr, told);
    for (i = 0; status >= 0 && i < count; i++) {
        for (k = 0; k < classes[i].mi_nentries; k++) {
            struct pvm2_named named = {classes[i].mi_name, classes[i].mi_indices[k], classes[i].mi_owners[k],
                                       classes[i].mi_flags[k] & PvmMboxOverWritable};

            if (!each(&named, with))
                return 0;
        }
    }
    return status < 0 ? status : 0;
}

int pvm2_machine_route(int route)
{
    return pvm_setopt(PvmRoute, route == ROUTE_DIRECT ? PvmRouteDirect : PvmDontRoute);
}

void pvm2_machine_unroute(int before)
{
    if (before > 0)
        pvm_setopt(PvmRoute, before);
}

bool pvm2_machine_is_here(int tid)
{
    return pvm_tidtohost(tid) == pvm_tidtohost(pvm_mytid());
}

void pvm2_machine_export(const char *variable, const char *value)
{
    setenv(variable, value, 1);
    pvm_export((char *)variable);
}

void pvm2_machine_unexport(const char *variable)
{
    pvm_unexport((char *)variable);
    unsetenv(variable);
}

int pvm2_machine_at(int index)
{
    return (int)PvmMboxDirectIndex((unsigned)index);
}
