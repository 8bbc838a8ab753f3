/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of pvmuser.h. Each says where its work is done; none is called from within the library. */
#include <string.h>
#include "pvm2.h"

PVM2_CALL int enroll(char *name)
{
    return pvm2_enroll(name);
}

PVM2_CALL int leave(void)
{
    return pvm2_leave();
}

PVM2_CALL int whoami(char *name, int *instance)
{
    return pvm2_whoami(name, instance);
}

PVM2_CALL int initiate(char *file, char *arch)
{
    return pvm2_initiate(file, arch);
}

PVM2_CALL int initiateM(char *file, char *host)
{
    return pvm2_initiate_on(file, host);
}

PVM2_CALL int initiatem(char *file, char *host)
{
    return pvm2_initiate_on(file, host);
}

PVM2_CALL int terminate(char *name, int instance)
{
    return pvm2_terminate(name, instance);
}

PVM2_CALL int status(char *name, int instance)
{
    return pvm2_status(name, instance);
}

PVM2_CALL int pstatus(int *hosts, int *formats)
{
    return pvm2_pstatus(hosts, formats);
}

PVM2_CALL int initsend(void)
{
    return pvm2_initsend();
}

PVM2_CALL int putnint(int *items, int count)
{
    return pvm2_put(NEOPVM_INT, items, count);
}

PVM2_CALL int putnshort(short *items, int count)
{
    return pvm2_put(NEOPVM_SHORT, items, count);
}

PVM2_CALL int putnlong(long *items, int count)
{
    return pvm2_put(NEOPVM_LONG, items, count);
}

PVM2_CALL int putnfloat(float *items, int count)
{
    return pvm2_put(NEOPVM_FLOAT, items, count);
}

PVM2_CALL int putndfloat(double *items, int count)
{
    return pvm2_put(NEOPVM_DOUBLE, items, count);
}

PVM2_CALL int putncplx(float *items, int count)
{
    return pvm2_put(NEOPVM_COMPLEX, items, count);
}

PVM2_CALL int putndcplx(double *items, int count)
{
    return pvm2_put(NEOPVM_DOUBLE_COMPLEX, items, count);
}

PVM2_CALL int putbytes(char *items, int count)
{
    return pvm2_put(NEOPVM_BYTE, items, count);
}

PVM2_CALL int putstring(char *text)
{
    return pvm2_put_text(text, text ? strlen(text) : 0);
}

PVM2_CALL int getnint(int *items, int count)
{
    return pvm2_get(NEOPVM_INT, items, count);
}

PVM2_CALL int getnshort(short *items, int count)
{
    return pvm2_get(NEOPVM_SHORT, items, count);
}

PVM2_CALL int getnlong(long *items, int count)
{
    return pvm2_get(NEOPVM_LONG, items, count);
}

PVM2_CALL int getnfloat(float *items, int count)
{
    return pvm2_get(NEOPVM_FLOAT, items, count);
}

PVM2_CALL int getndfloat(double *items, int count)
{
    return pvm2_get(NEOPVM_DOUBLE, items, count);
}

PVM2_CALL int getncplx(float *items, int count)
{
    return pvm2_get(NEOPVM_COMPLEX, items, count);
}

PVM2_CALL int getndcplx(double *items, int count)
{
    return pvm2_get(NEOPVM_DOUBLE_COMPLEX, items, count);
}

PVM2_CALL int getbytes(char *items, int count)
{
    return pvm2_get(NEOPVM_BYTE, items, count);
}

PVM2_CALL int getstring(char *text)
{
    size_t length = 0;
    int code = pvm2_get_text(text, SIZE_MAX, &length);

    if (code == PvmOk)
        text[length] = 0;
    return code;
}

PVM2_CALL int snd(char *name, int instance, int type)
{
    return pvm2_send(name, instance, type, ROUTE_DAEMONS);
}

PVM2_CALL int vsnd(char *name, int instance, int type)
{
    return pvm2_send(name, instance, type, ROUTE_DIRECT);
}

PVM2_CALL int rcv(int type)
{
    return pvm2_receive(1, &type);
}

PVM2_CALL int vrcv(int type)
{
    return pvm2_receive(1, &type);
}

PVM2_CALL int rcvmulti(int count, int *types)
{
    return pvm2_receive(count, types);
}

PVM2_CALL int vrcvmulti(int count, int *types)
{
    return pvm2_receive(count, types);
}

PVM2_CALL int probe(int type)
{
    return pvm2_probe(1, &type);
}

PVM2_CALL int probemulti(int count, int *types)
{
    return pvm2_probe(count, types);
}

PVM2_CALL int rcvinfo(int *bytes, int *type, char *name, int *instance)
{
    return pvm2_rcvinfo(bytes, type, name, instance);
}

PVM2_CALL int barrier(char *name, int count)
{
    return pvm2_barrier(name, count);
}

PVM2_CALL int ready(char *event)
{
    return pvm2_ready(event);
}

PVM2_CALL int waituntil(char *event)
{
    return pvm2_waituntil(event);
}
