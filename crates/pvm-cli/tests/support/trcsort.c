/* Loaded in front of Debian's trcsort (pvm-dev 3.4.6), which opens each of its temporary files twice and demands both
   times that there is none: so it sorts no file at all, the original's included. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>

static int again(const char *name, const char *path, int flags, int mode)
{
	int (*next)(const char *, int, int) = (int (*)(const char *, int, int))dlsym(RTLD_NEXT, name);
	flags &= ~O_EXCL;
	if (flags & O_APPEND)
		flags &= ~O_TRUNC;
	return next(path, flags, mode);
}

#define OPEN(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list more; \
		int mode; \
		va_start(more, flags); \
		mode = va_arg(more, int); \
		va_end(more); \
		return again(#name, path, flags, mode); \
	}

OPEN(open)
OPEN(open64)
