/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Results in words. */
#include "state.h"

static const char *const texts[] = {
    "no such rank",
    "a message type must not be negative",
    "the message is longer than the room for it",
    "the handle is spent, or was never given",
    "too many receives are posted",
    "the other ranks are not known yet: the first call of the interface is missing",
    "the keeper refuses", /* its reason is told instead */
    "a process that is alone waits for a message that nobody can send",
    "the ranks do not agree on how much data they have",
    "this process has left the machine by pvm_exit, and is no rank any more",
    "a rank that this call waits for has ended",
};

const char *job_text(int result)
{
    int at = JOB_BAD_RANK - result;
    if (result == JOB_REFUSED)
        return job_reason();
    if (at >= 0 && at < (int)(sizeof texts / sizeof *texts))
        return texts[at];
    return result == JOB_NONE ? "nothing has come" : neopvm_text(result);
}
