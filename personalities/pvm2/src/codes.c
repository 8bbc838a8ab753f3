/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The codes of PVM 2.4, and the checks that most calls begin with. */
#include <string.h>
#include "pvm2.h"

struct pvm2_self pvm2_self;

size_t pvm2_item_bytes(int32_t type)
{
    static const unsigned char bytes[] = {
        [NEOPVM_BYTE] = 1, [NEOPVM_SHORT] = 2, [NEOPVM_INT] = 4, [NEOPVM_FLOAT] = 4, [NEOPVM_COMPLEX] = 8,
        [NEOPVM_DOUBLE] = 8, [NEOPVM_DOUBLE_COMPLEX] = 16, [NEOPVM_LONG] = sizeof(long),
    };

    return bytes[type];
}

int pvm2_code(int32_t status)
{
    static const signed char codes[][2] = {
        {NEOPVM_BAD_PARAMETER, PvmBadParam}, {-3, PvmMismatch}, {NEOPVM_TOO_LARGE, PvmNoMem}, {NEOPVM_END, PvmNoData},
        {-6, PvmNoHost}, {-7, PvmNoFile}, {NEOPVM_NO_MEMORY, PvmNoMem}, {NEOPVM_NO_BUFFER, PvmNoMsg},
        {-20, PvmNoComp}, {-21, PvmNoComp}, {NEOPVM_HOST_FAILED, PvmNoComp}, {NEOPVM_NO_ROOM, PvmNoMem},
        {NEOPVM_NO_TASK, PvmNoComp}, {NEOPVM_NOT_FOUND, PvmNoComp},
    };
    size_t i;

    if (status >= 0)
        return status;
    for (i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i][0] == status)
            return codes[i][1];
    }
    return PvmSysErr;
}

int pvm2_check_name(const char *name, size_t longest)
{
    if (!name || !name[0])
        return PvmBadParam;
    return strnlen(name, longest + 1) > longest ? PvmTooLong : PvmOk;
}

int pvm2_check_enrolled(void)
{
    return pvm2_self.enrolled ? PvmOk : PvmNoComp;
}

int pvm2_reach_machine(void)
{
    int32_t tid, parent;

    return pvm2_self.enrolled ? PvmOk : pvm2_code(neopvm_enrol(&tid, &parent));
}
