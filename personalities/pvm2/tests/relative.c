/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* initiate starts ./relative, which the caller's folder has and the daemon's has not; a program started by hand got
 * PvmNoFile. */
#include <pvmuser.h>
#include "check.h"

int main(int argc, char **argv)
{
    int instance = enroll("relative"), number = 7;

    (void)argc;
    CHECK(instance >= 0);
    if (instance > 0) {
        CHECK_IS(initsend(), PvmOk);
        CHECK_IS(putnint(&number, 1), PvmOk);
        CHECK_IS(snd("relative", 0, 3), PvmOk);
        return leave();
    }
    CHECK(argv[0][0] == '.');
    CHECK_IS(initiate(argv[0], NULL), 1);
    CHECK_IS(initiate("./nowhere/relative", NULL), PvmNoFile);
    CHECK_IS(rcv(3), 3);
    return leave();
}
