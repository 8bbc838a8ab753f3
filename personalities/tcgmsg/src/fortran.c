/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The spelling of Fortran: lower case with an underscore, INTEGERs by address, hidden lengths of texts behind. */
#include "calls.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#define TEXT_MAX 4096

/*
 * Where INTEGER has 8 bytes here and 4 in the program, the other half of an argument is whatever lies behind it. No
 * argument of these calls is so large.
 */
static long number(const char *call, const integer *argument)
{
    long value = (long)*argument;
    if (sizeof(integer) == 8 && (value > INT32_MAX || value < INT32_MIN) && (value >> 32) != 0)
        job_fatal(1,
                  "%s: an argument of %ld, or %ld in 4 bytes: the program's INTEGER has 4 bytes, and this library's 8; "
                  "link -ltcg4, or compile with -fdefault-integer-8",
                  call, value, (long)(int32_t)value);
    return value;
}

#define NUMBER(argument) number(__func__, argument)

/* An INTEGER of 4 bytes does not hold every result. */
static integer fit(const char *call, long value)
{
    if (value != (long)(integer)value)
        job_fatal(1, "%s: %ld is more than an INTEGER of %d bytes holds", call, value, (int)sizeof(integer));
    return (integer)value;
}

/* A COMMON block of one INTEGER in programs that include our headers. The linker tells the dynamic loader of it, with its
 * size, because this library asks for it; in a program without our headers, or linked statically, nothing is known. */
extern char neopvm_tcgmsg_integer_[] __attribute__((weak));

static void check_width(const char *call)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info found;
    if (neopvm_tcgmsg_integer_ == NULL || !dladdr1(neopvm_tcgmsg_integer_, &found, (void **)&symbol, RTLD_DL_SYMENT))
        return;
    if (symbol == NULL || found.dli_saddr != neopvm_tcgmsg_integer_ || symbol->st_size == sizeof(integer))
        return;
    job_fatal(1, "%s: the program's INTEGER has %d bytes, and this library's %d; %s", call, (int)symbol->st_size,
              (int)sizeof(integer),
              sizeof(integer) == 8 ? "link -ltcg4, or compile with -fdefault-integer-8"
                                   : "link -ltcgmsg, or compile without -fdefault-integer-8");
}

static void begin(const char *call)
{
    call_begin(call);
    check_width(call);
}

EXPORTED void pbeginf_(void)
{
    begin("PBEGINF");
}

EXPORTED void pbginf_(void)
{
    begin("PBGINF");
}

EXPORTED void pend_(void)
{
    call_end();
}

EXPORTED integer nnodes_(void)
{
    return (integer)call_nnodes();
}

EXPORTED integer nodeid_(void)
{
    return (integer)call_nodeid();
}

EXPORTED integer tcgready_(void)
{
    return (integer)call_ready();
}

EXPORTED void parerr_(const integer *code)
{
    call_parerr((long)*code);
}

EXPORTED void snd_(const integer *type, const void *data, const integer *bytes, const integer *node,
                   const integer *sync)
{
    call_snd(NUMBER(type), data, (long)*bytes, NUMBER(node), NUMBER(sync));
}

EXPORTED void rcv_(const integer *type, void *data, const integer *room, integer *length, const integer *node,
                   integer *from, const integer *sync)
{
    long bytes, source;
    call_rcv(NUMBER(type), data, (long)*room, &bytes, NUMBER(node), &source, NUMBER(sync));
    *length = (integer)bytes;
    *from = (integer)source;
}

EXPORTED integer probe_(const integer *type, const integer *node)
{
    return (integer)call_probe(NUMBER(type), NUMBER(node));
}

EXPORTED void waitcom_(const integer *node)
{
    (void)node;
    call_waitcom();
}

EXPORTED void brdcst_(const integer *type, void *data, const integer *bytes, const integer *root)
{
    call_brdcst(NUMBER(type), data, (long)*bytes, NUMBER(root));
}

EXPORTED void synch_(const integer *type)
{
    call_synch(NUMBER(type));
}

EXPORTED void dgop_(const integer *type, double *x, const integer *count, const char *operation)
{
    call_gop("DGOP", NUMBER(type), JOB_DOUBLE, x, NUMBER(count), operation);
}

EXPORTED void igop_(const integer *type, integer *x, const integer *count, const char *operation)
{
    call_gop("IGOP", NUMBER(type), sizeof(integer) == 4 ? JOB_INT : JOB_LONG, x, NUMBER(count), operation);
}

EXPORTED integer nxtval_(const integer *mproc)
{
    return fit("NXTVAL", call_nxtval(NUMBER(mproc)));
}

EXPORTED void pfcopy_(const integer *type, const integer *node, const char *file, size_t length)
{
    char name[TEXT_MAX];
    call_pfcopy(NUMBER(type), NUMBER(node), job_fortran_text(file, length, name, sizeof name));
}

EXPORTED integer mtime_(void)
{
    return (integer)call_mtime();
}

EXPORTED double tcgtime_(void)
{
    return call_time();
}

EXPORTED void stats_(void)
{
    call_stats();
}

EXPORTED void llog_(void)
{
    call_llog();
}

EXPORTED void setdbg_(const integer *on)
{
    call_setdbg((long)*on);
}

EXPORTED void niceftn_(const integer *increment)
{
    call_nice(NUMBER(increment));
}

EXPORTED integer mitob_(const integer *count)
{
    return fit("MITOB", call_to_bytes("MITOB", NUMBER(count), sizeof(integer)));
}

EXPORTED integer mdtob_(const integer *count)
{
    return fit("MDTOB", call_to_bytes("MDTOB", NUMBER(count), sizeof(double)));
}

EXPORTED integer mitod_(const integer *count)
{
    return fit("MITOD", call_fits("MITOD", NUMBER(count), sizeof(integer), sizeof(double)));
}

EXPORTED integer mdtoi_(const integer *count)
{
    return fit("MDTOI", call_fits("MDTOI", NUMBER(count), sizeof(double), sizeof(integer)));
}

EXPORTED double drand48_(void)
{
    return drand48();
}

EXPORTED void srand48_(const integer *seed)
{
    srand48((long)*seed);
}

/* Events are not recorded: pvm_settmask and the probe points see more of a program. */
EXPORTED void evon_(void)
{
}

EXPORTED void evoff_(void)
{
}

EXPORTED void evbgin_(const char *text, size_t length)
{
    (void)text, (void)length;
}

EXPORTED void evend_(const char *text, size_t length)
{
    (void)text, (void)length;
}

EXPORTED void event_(const char *text, size_t length)
{
    (void)text, (void)length;
}
