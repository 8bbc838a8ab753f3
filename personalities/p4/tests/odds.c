/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Time, names, debug output, event logs, arguments and buffers. The program prints the arguments that are left. */
#include "check.h"
#include "p4.h"

int main(int argc, char **argv)
{
    int i, begin;
    unsigned long stamp;
    double seconds;
    ALOG_MASTER(0, ALOG_TRUNCATE);
    ALOG_SETUP(1, ALOG_WRAP);
    ALOG_DEFINE(1, "name", "form");
    ALOG_SETDIR("/tmp");
    ALOG_STATUS(0);
    ALOG_ENABLE;
    ALOG_LOG(0, 1, 2, "text");
    ALOG_DISABLE;
    ALOG_OUTPUT;
    p4_initenv(&argc, argv);
    CHECK(argv[argc] == NULL);
    begin = p4_clock();
    stamp = p4_ustimer();
    seconds = p4_usclock();
    CHECK(begin >= 0 && p4_clock() >= begin);
    CHECK(stamp < p4_usrollover() && p4_usclock() >= seconds);
    CHECK(p4_version() != NULL && strlen(p4_machine_type()) > 0);
    CHECK(p4_get_dbg_level() == 3);
    p4_dprintf("dprintf %d\n", 1);
    p4_dprintfl(3, "dprintfl %d\n", 3);
    p4_dprintfl(4, "too fine %d\n", 4);
    p4_set_dbg_level(4);
    p4_dprintfl(4, "dprintfl %d\n", 4);
    p4_msg_free(p4_msg_alloc(100));
    p4_set_avail_buff(0, 32);
    p4_print_avail_buffs();
    for (i = 1; i < argc; i++)
        printf("argument %s\n", argv[i]);
    p4_create_procgroup();
    p4_wait_for_end();
    printf("ok\n");
    return 0;
}
