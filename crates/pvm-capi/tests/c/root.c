/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Prints where the library takes the system to be installed. Needs no machine. */
#include <stdio.h>

char *pvmgetroot(void);

int main(void)
{
    puts(pvmgetroot());
    return 0;
}
