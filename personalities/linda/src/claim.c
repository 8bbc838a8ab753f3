/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * claim.c - what a process of eval has taken comes back if it dies (ntsnet -claim). Its claims end with its next out,
 * which puts the result in the same step: so a task that was taken is in the space until its result is.
 */
#include "linda.h"
#include <stdlib.h>

static neotuple *claims;
static size_t count, room;

int linda_claims(void)
{
    return linda_is_child() && getenv(LINDA_CLAIM);
}

void linda_note_claim(neotuple claimed)
{
    if (count == room) {
        room = room ? room * 2 : 16;
        claims = realloc(claims, room * sizeof *claims);
        if (!claims)
            linda_die("no memory for %zu claims", room);
    }
    claims[count++] = claimed;
}

int32_t linda_settle(neotuple tuple)
{
    int32_t status = 0;
    size_t i;

    /* All but the first end before the tuple is there: if this process dies in between, the first one comes back. */
    for (i = count; i-- > 1 && status == 0;)
        status = neotuple_done(linda_space(), claims[i], NULL, 0);
    if (status == 0 && count > 0)
        status = neotuple_done(linda_space(), claims[0], &tuple, tuple ? 1 : 0);
    else if (status == 0 && tuple)
        status = neotuple_out(linda_space(), tuple, NEOTUPLE_FOREVER, NULL);
    for (i = 0; i < count; i++)
        neotuple_free(claims[i]);
    count = 0;
    return status;
}
