/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* barrier: a group of the machine for each name. A component that has met there stays a member
 * until it leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

#define GROUP "neopvm.pvm2.barrier."

struct joined {
    struct joined *next;
    char group[PVM2_CLASS_ROOM];
};

static struct joined *all;

static int join(const char *group)
{
    struct joined *joined = all;
    int32_t instance, status;

    while (joined && strcmp(joined->group, group))
        joined = joined->next;
    if (joined)
        return PvmOk;
    joined = malloc(sizeof *joined);
    if (!joined)
        return PvmNoMem;
    status = neopvm_join(group, &instance);
    if (status < 0) {
        free(joined);
        return pvm2_code(status);
    }
    strcpy(joined->group, group);
    joined->next = all;
    all = joined;
    return PvmOk;
}

int pvm2_barrier(const char *name, int count)
{
    char group[PVM2_CLASS_ROOM];
    int code = pvm2_check_name(name, PVM2_EVENT_MAX);

    if (code == PvmOk)
        code = pvm2_check_enrolled();
    if (code != PvmOk)
        return code;
    if (count < 1)
        return PvmBadParam;
    snprintf(group, sizeof group, GROUP "%s", name);
    code = join(group);
    return code == PvmOk ? pvm2_code(neopvm_barrier(group, count)) : code;
}

void pvm2_barriers_clear(void)
{
    while (all) {
        struct joined *joined = all;

        all = joined->next;
        if (pvm2_self.enrolled)
            neopvm_leave_group(joined->group);
        free(joined);
    }
}
