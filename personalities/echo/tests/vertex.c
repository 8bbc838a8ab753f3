/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of Vertex, on any number of nodes. */
#include <vertex.h>
#include "../../pvm2/tests/check.h"

int main(void)
{
    int me, process, host, dimension, i, from, type, value, flag = 7, big[2] = {0, 0};

    whoami(&me, &process, &host, &dimension);
    whoami(NULL, NULL, NULL, NULL);
    CHECK(me >= 0 && me < host && 1 << dimension >= host && (dimension == 0 || 1 << (dimension - 1) < host));
    CHECK_IS(nwrite(&me, sizeof me, VERTEX_ALL, 3, &flag), 0);
    CHECK_IS(flag, 0);
    for (i = 1; i < host; i++) {
        from = type = -1;
        CHECK_IS(nread(&value, sizeof value, &from, &type, &flag), sizeof value);
        CHECK(value == from && type == 3 && from != me);
    }
    CHECK_IS(nwrite(&me, sizeof me, me, 4, NULL), 0); /* to oneself */
    from = -1;
    type = 4;
    CHECK_SOON(ntest(&from, &type) == sizeof me);
    CHECK_IS(from, me);
    CHECK_IS(nread(&value, sizeof value, &from, &type, NULL), sizeof value);
    CHECK_IS(ntest(&from, &type), -1);
    CHECK_IS(nwrite(NULL, 0, me, 5, &flag), 0);
    type = 5;
    CHECK_IS(nread(NULL, 0, &from, &type, &flag), 0);
    CHECK_IS(nwrite(big, sizeof big, me, 6, &flag), 0);
    type = 6;
    CHECK_IS(nread(&value, sizeof value, &from, &type, &flag), -1); /* longer than the room */
    CHECK_IS(nwrite(&me, sizeof me, host, 1, &flag), -1);
    CHECK_IS(nwrite(&me, sizeof me, -1, 1, &flag), -1);
    CHECK_IS(nwrite(&me, sizeof me, me, -1, &flag), -1);
    CHECK_IS(nwrite(&me, -1, me, 1, &flag), -1);
    CHECK_IS(nwrite(NULL, 4, me, 1, &flag), -1);
    CHECK_IS(nread(&value, -1, &from, &type, &flag), -1);
    CHECK_IS(nread(&value, 4, NULL, &type, &flag), -1);
    CHECK_IS(ntest(NULL, &type), -1);
    return 0;
}
