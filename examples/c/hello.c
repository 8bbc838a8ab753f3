/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* hello: a first PVM program. Starts one hello_other somewhere and prints its greeting. */
#include <stdio.h>
#include <string.h>
#include "pvm3.h"

enum { GREETING = 1 };

int main(int argc, char **argv)
{
    char other[4096] = "hello_other", greeting[256];
    char *slash = strrchr(argv[0], '/');
    int tid, from;

    (void)argc;
    printf("I am t%x\n", (unsigned)pvm_mytid());

    /* hello_other is in this folder. pvm_spawn would search a plain name in the spawn path. */
    if (slash && argv[0][0] == '/')
        snprintf(other, sizeof other, "%.*s/hello_other", (int)(slash - argv[0]), argv[0]);
    if (pvm_spawn(other, NULL, PvmTaskDefault, "", 1, &tid) != 1) {
        fprintf(stderr, "hello: cannot start %s, code %d\n", other, tid);
        pvm_exit();
        return 1;
    }

    pvm_recv(tid, GREETING);
    pvm_upkstr(greeting);
    pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &from);
    printf("from t%x: %s\n", (unsigned)from, greeting);
    pvm_exit();
    return 0;
}
