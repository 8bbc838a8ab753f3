/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* refused WHAT: the last process makes one wrong call, and the other ones wait (tests/refused.sh). */
#include "check.h"
#include "cps.h"
#include <limits.h>
#include <string.h>

#define IS(name) (strcmp(what, name) == 0)

static int block[16], data[16], me, all;
static int size = 64, eight = 8, number = 4, offset, one = 1, none = -1, beyond = 60, most = INT_MAX, many = 1024, nobody = 3;

static void blocks(const char *what)
{
    if (IS("declare-size"))
        acp_declare_block(block, &none, &one);
    if (IS("declare-number"))
        acp_declare_block(block, &size, &none);
    if (IS("declare-twice"))
        acp_declare_block(block, &size, &number);
    if (IS("process"))
        acp_send(&one, data, &eight, &none, &offset);
    if (IS("send-process"))
        acp_send(&nobody, data, &eight, &number, &offset);
    if (IS("send-size"))
        acp_send(&one, data, &none, &number, &offset);
    if (IS("send-offset"))
        acp_send(&one, data, &eight, &number, &none);
    if (IS("wait-block"))
        acp_wait_for_data(&one, &most);
    if (IS("wait-count"))
        acp_wait_for_data(&none, &number);
    if (IS("get-own"))
        acp_get(&me, data, &eight, &number, &beyond);
    if (IS("get-size"))
        acp_get(&one, data, &none, &number, &offset);
    if (IS("get-process"))
        acp_get(&none, data, &eight, &number, &offset);
}

static void others(const char *what)
{
    if (IS("subroutine"))
        acp_call(&one, &many, data, &eight, data, &size);
    if (IS("call-room"))
        acp_call(&one, &one, data, &eight, data, &none);
    if (IS("call-own"))
        acp_call(&me, &one, data, &eight, data, &size);
    if (IS("declare-null"))
        acp_declare_subroutine(NULL, &one);
    if (IS("sync"))
        acp_sync(&nobody, &one);
    if (IS("queue"))
        acp_wait_queue(&one, &none);
    if (IS("sleep"))
        acp_sleep(&none);
    if (IS("twice"))
        acp_init();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int who = ACP_ALL_PROCESSES, least = INT_MIN;
    if (IS("early"))
        acp_send(&one, data, &eight, &number, &offset);
    acp_init();
    acp_my_process(&me, &all);
    acp_declare_block(block, &size, &number);
    /* Whose negative is itself: it was taken for any other number. */
    if (IS("sync-number"))
        acp_sync(&who, me == all ? &least : &number);
    acp_sync(&who, &number);
    if (me == all) {
        blocks(what);
        others(what);
        fprintf(stderr, "%s is not refused\n", what);
        return 98;
    }
    acp_wait_for_data(&one, &number);
    return 97;
}
