/* The worker of the kernel of 1993. */
#include <posybl.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int i, len, *buffer;

    (void)argv;
    out(lstring("Worker alive?"), lint(argc == 2 ? TRUE : FALSE));
    for (i = 0; i < 10; i++) {
        in(lstring("ping"), qlnint(&buffer, &len));
        out(lstring("pong"), lnint(buffer, len));
        free(buffer);
    }
    return 0;
}
