/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* claim.c - the tuples that a process of eval has taken come back if it dies (ntsnet -claim).
 * All its claims end with its next out, which puts the tuple in the same step: so the space
 * always has either the tuples that were taken or the result. */
#include "linda.h"
#include <stdlib.h>

/* True if this process has a claim. Its threads use one another's. */
static int claimed;

int linda_claims(void)
{
    return linda_is_child() && getenv(LINDA_CLAIM);
}

void linda_note_claim(void)
{
    __atomic_store_n(&claimed, 1, __ATOMIC_RELEASE);
}

int32_t linda_settle(neotuple tuple)
{
    if (__atomic_exchange_n(&claimed, 0, __ATOMIC_ACQ_REL))
        return neotuple_done_all(linda_space(), &tuple, tuple ? 1 : 0);
    return tuple ? neotuple_out(linda_space(), tuple, NEOTUPLE_FOREVER, NULL) : 0;
}
