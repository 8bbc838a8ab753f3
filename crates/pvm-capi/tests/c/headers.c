/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every header, in the dialect that the test asks for. A program calls as old programs call. */
#include <stdio.h>

#include "pvm3.h"
#include "pvmproto.h"
#include "pvmsdpro.h"
#include "pvmtev.h"
#include "pvmtrc.h"
#ifdef WITH_HANDLES
#include "neopvm.h"
#endif

#ifdef __cplusplus
static char name[] = "group";
#else
static char *name = "group";
#endif

static int on_message(int buffer)
{
    return buffer;
}

int main(void)
{
    Pvmtmask mask;
    struct pvmminfo info;
    int numbers[2];

    TEV_MASK_INIT(mask)
    TEV_MASK_SET(mask, TEV_SEND);
    info.len = TEV_MASK_CHECK(mask, TEV_SEND) ? 0 : 1;
    numbers[0] = PvmMboxDirectIndexOf(PvmMboxDirectIndex(5u)) == 5 ? 0 : 1;
    numbers[1] = pvm_packf("%+", PvmDataDefault) != PvmOk;
    if (info.len + numbers[0] + numbers[1] != 0)
        return 1;
    if (pvm_barrier(name, 0) >= 0 || pvm_addmhf(-1, 1, 0, on_message) >= 0)
        return 2;
    return pvm_catchout(stdout) >= 0;
}
