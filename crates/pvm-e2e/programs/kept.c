/* kept BYTES: puts so many bytes under a name that outlives this task. */
#include <pvm3.h>
#include <stdlib.h>

int main(int count, char **words) {
    int bytes = count > 1 ? atoi(words[1]) : 0, buffer, code;
    char *body = calloc(1, bytes + 1);
    if (!body || pvm_mytid() < 0) return 2;
    buffer = pvm_initsend(PvmDataRaw);
    pvm_pkbyte(body, bytes, 1);
    code = pvm_putinfo("kept", buffer, PvmMboxPersistent);
    pvm_exit();
    return code < 0;
}
