/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The calls for Fortran: the C name with an f before it, as gfortran calls it (lower case, an underscore, the lengths of texts
 * at the end). All arguments are by reference and the last one is the result. A text ends at its first NUL, else at its
 * last character that is not blank.
 */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

#define FORTRAN_CALL PVM2_CALL void

/* Nothing that Fortran gives as a name is longer; more is told as too long by the call itself. */
#define TEXT_ROOM 4200

static size_t used_length(const char *text, size_t length)
{
    size_t used = strnlen(text, length);

    while (used == length && length > 0 && text[length - 1] == ' ')
        used = --length;
    return used;
}

/* A text of Fortran as one of C. */
static char *text_of(char *room, const char *text, size_t length)
{
    size_t used = used_length(text, length);

    if (used >= TEXT_ROOM)
        used = TEXT_ROOM - 1;
    memcpy(room, text, used);
    room[used] = 0;
    return room;
}

/* A text of C in a variable of Fortran, padded with blanks. */
static void text_to(char *room, size_t length, const char *text)
{
    size_t used = strlen(text);

    if (used > length)
        used = length;
    memcpy(room, text, used);
    memset(room + used, ' ', length - used);
}

FORTRAN_CALL fenroll_(const char *name, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_enroll(text_of(room, name, length));
}

FORTRAN_CALL fleave_(int *info)
{
    *info = pvm2_leave();
}

FORTRAN_CALL fwhoami_(char *name, int *instance, int *info, size_t length)
{
    char room[PVM2_NAME_MAX + 1];

    *info = pvm2_whoami(room, instance);
    if (*info == PvmOk)
        text_to(name, length, room);
}

FORTRAN_CALL finitiate_(const char *file, const char *arch, int *info, size_t length, size_t arch_length)
{
    char room[TEXT_ROOM], arch_room[TEXT_ROOM];

    *info = pvm2_initiate(text_of(room, file, length), text_of(arch_room, arch, arch_length));
}

FORTRAN_CALL finitiatem_(const char *file, const char *host, int *info, size_t length, size_t host_length)
{
    char room[TEXT_ROOM], host_room[TEXT_ROOM];

    *info = pvm2_initiate_on(text_of(room, file, length), text_of(host_room, host, host_length));
}

FORTRAN_CALL fterminate_(const char *name, const int *instance, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_terminate(text_of(room, name, length), *instance);
}

FORTRAN_CALL fstatus_(const char *name, const int *instance, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_status(text_of(room, name, length), *instance);
}

FORTRAN_CALL fpstatus_(int *hosts, int *formats, int *info)
{
    *info = pvm2_pstatus(hosts, formats);
}

FORTRAN_CALL finitsend_(int *info)
{
    *info = pvm2_initsend();
}

FORTRAN_CALL fputnint_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_INT, items, *count);
}

FORTRAN_CALL fputnshort_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_SHORT, items, *count);
}

FORTRAN_CALL fputnfloat_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_FLOAT, items, *count);
}

FORTRAN_CALL fputndfloat_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_DOUBLE, items, *count);
}

FORTRAN_CALL fputncplx_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_COMPLEX, items, *count);
}

FORTRAN_CALL fputndcplx_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_DOUBLE_COMPLEX, items, *count);
}

FORTRAN_CALL fputnlong_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_LONG, items, *count);
}

FORTRAN_CALL fputbytes_(const void *items, const int *count, int *info)
{
    *info = pvm2_put(NEOPVM_BYTE, items, *count);
}

FORTRAN_CALL fgetnint_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_INT, items, *count);
}

FORTRAN_CALL fgetnshort_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_SHORT, items, *count);
}

FORTRAN_CALL fgetnfloat_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_FLOAT, items, *count);
}

FORTRAN_CALL fgetndfloat_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_DOUBLE, items, *count);
}

FORTRAN_CALL fgetncplx_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_COMPLEX, items, *count);
}

FORTRAN_CALL fgetndcplx_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_DOUBLE_COMPLEX, items, *count);
}

FORTRAN_CALL fgetnlong_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_LONG, items, *count);
}

FORTRAN_CALL fgetbytes_(void *items, const int *count, int *info)
{
    *info = pvm2_get(NEOPVM_BYTE, items, *count);
}

FORTRAN_CALL fputstring_(const char *text, int *info, size_t length)
{
    *info = pvm2_put_text(text, used_length(text, length));
}

FORTRAN_CALL fgetstring_(char *text, int *info, size_t length)
{
    size_t found = 0;

    *info = pvm2_get_text(text, length, &found);
    if (*info == PvmOk && found < length)
        memset(text + found, ' ', length - found);
}

FORTRAN_CALL fsnd_(const char *name, const int *instance, const int *type, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_send(text_of(room, name, length), *instance, *type, ROUTE_DAEMONS);
}

FORTRAN_CALL fvsnd_(const char *name, const int *instance, const int *type, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_send(text_of(room, name, length), *instance, *type, ROUTE_DIRECT);
}

FORTRAN_CALL frcv_(const int *type, int *info)
{
    *info = pvm2_receive(1, type);
}

FORTRAN_CALL fvrcv_(const int *type, int *info)
{
    *info = pvm2_receive(1, type);
}

FORTRAN_CALL frcvmulti_(const int *count, const int *types, int *info)
{
    *info = pvm2_receive(*count, types);
}

FORTRAN_CALL fvrcvmulti_(const int *count, const int *types, int *info)
{
    *info = pvm2_receive(*count, types);
}

FORTRAN_CALL fprobe_(const int *type, int *info)
{
    *info = pvm2_probe(1, type);
}

FORTRAN_CALL fprobemulti_(const int *count, const int *types, int *info)
{
    *info = pvm2_probe(*count, types);
}

FORTRAN_CALL frcvinfo_(int *bytes, int *type, char *name, int *instance, int *info, size_t length)
{
    char room[PVM2_NAME_MAX + 1];

    *info = pvm2_rcvinfo(bytes, type, room, instance);
    if (*info == PvmOk)
        text_to(name, length, room);
}

FORTRAN_CALL fbarrier_(const char *name, const int *count, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_barrier(text_of(room, name, length), *count);
}

FORTRAN_CALL fready_(const char *event, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_ready(text_of(room, event, length));
}

FORTRAN_CALL fwaituntil_(const char *event, int *info, size_t length)
{
    char room[TEXT_ROOM];

    *info = pvm2_waituntil(text_of(room, event, length));
}
