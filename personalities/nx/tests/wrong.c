/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What should not be done: the call with an underscore gives -1, and then the plain one, `wrong WHAT`, ends the job. */
#include "check.h"
#include "nx.h"
#include <errno.h>
#include <string.h>

static char data[64];
static long info[8];

static void twins(void)
{
    long node = numnodes() + 1, value = 1;
    CHECK(_csend(1, data, 8, node, 0) == -1 && errno == EINVAL);
    CHECK(_csend(-1, data, 8, 0, 0) == -1);
    CHECK(_csend(1, data, -8, 0, 0) == -1);
    CHECK(_crecv(1, data, -8) == -1);
    CHECK(_crecvx(1, data, 8, node, 0, info) == -1);
    CHECK(_irecv(1, data, -1) == -1 && _isend(-5, data, 1, 0, 0) == -1);
    CHECK(_msgwait(12345) == -1 && _msgdone(12345) == -1 && _msgcancel(77) == -1);
    CHECK(_msgwait(-1000) == -1);
    long id = _irecv(1, data, 8);
    CHECK(_msgcancel(id) == 0 && _msgwait(id) == -1);
    CHECK(_gisum(&value, -1, &value) == -1);
    CHECK(_gcol(data, -1, data, 8, &value) == -1);
    CHECK(_csend(2, data, 64, mynode(), 0) == 0);
    CHECK(_crecv(2, data, 8) == -1 && errno == EMSGSIZE);
    CHECK(_load("file", -1, 0) == -1 && _waitall(-1, 0) == -1 && _killproc(9999, 0) == -1);
    CHECK(_killcube(9999, 0) == -1 && _waitcube() == -1);
    CHECK(_waitone(9999, 0, info, info, info) == -1 && _attachcube("cube") == 0 && _relcube("cube") == 0);
    CHECK(_gsendx(1, data, 8, &node, 1) == -1);
    CHECK(_getcube("a", "nonsense", "", 0) == -1 || numnodes() == 1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    twins();
    gsync();
    if (mynode() == numnodes() - 1) {
        if (strcmp(what, "node") == 0)
            csend(1, data, 8, 99, 0);
        if (strcmp(what, "spent") == 0)
            msgwait(12345);
        if (strcmp(what, "exit") == 0)
            return 5;
    }
    crecv(1, data, 8);
    return 98;
}
