/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Run with -p4gm 1500000: so many bytes can be had, which was cut to whole MiB once, and not many more. */
#include "check.h"
#include "p4.h"
#include <string.h>

int main(int argc, char **argv)
{
    char *memory;
    p4_initenv(&argc, argv);
    memory = p4_shmalloc(1500000);
    CHECK(memory != NULL);
    memset(memory, 1, 1500000);
    p4_soft_errors(1);
    CHECK(p4_shmalloc(1000000) == NULL);
    p4_shfree(memory);
    p4_wait_for_end();
    printf("ok\n");
    return 0;
}
