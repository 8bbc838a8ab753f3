/* The length that pvm_bufinfo reports, for each type and encoding, before and after sending. */
#include "common.h"

static int encoding;

static void line(char *what)
{
	int before, after;

	before = length_of(pvm_getsbuf());
	pvm_send(pvm_mytid(), 1);
	pvm_recv(-1, 1);
	after = length_of(pvm_getrbuf());
	printf("%-24s %4d %4d\n", what, before, after);
	pvm_initsend(encoding);
}

int main(int argc, char **argv)
{
	static char b[9] = "12345678";
	static short s[4];
	static int i[4];
	static long l[4];
	static float f[8];
	static double d[8];
	static char *title[] = { "default", "raw", "in place" };

	begin(argc, argv);
	pvm_mytid();
	for (encoding = 0; encoding < 3; encoding++) {
		printf("%s: type, length before and after sending\n", title[encoding]);
		pvm_initsend(encoding);
		line("nothing");
		pvm_pkbyte(b, 5, 1);                             line("byte 5");
		pvm_pkbyte(b, 1, 1); pvm_pkbyte(b, 1, 1);        line("byte 1, byte 1");
		pvm_pkbyte(b, 4, 1);                             line("byte 4");
		pvm_pkshort(s, 3, 1);                            line("short 3");
		pvm_pkushort((unsigned short *)s, 3, 1);         line("ushort 3");
		pvm_pkint(i, 3, 1);                              line("int 3");
		pvm_pkuint((unsigned *)i, 3, 1);                 line("uint 3");
		pvm_pklong(l, 3, 1);                             line("long 3");
		pvm_pkulong((unsigned long *)l, 3, 1);           line("ulong 3");
		pvm_pkfloat(f, 3, 1);                            line("float 3");
		pvm_pkdouble(d, 3, 1);                           line("double 3");
		pvm_pkcplx(f, 3, 1);                             line("cplx 3");
		pvm_pkdcplx(d, 3, 1);                            line("dcplx 3");
		pvm_pkint(i, 0, 1);                              line("int 0");
		if (encoding != PvmDataInPlace) {
			pvm_pkstr("hello");                      line("str hello");
			pvm_pkstr("");                           line("str empty");
			pvm_pkstr("abc");                        line("str abc");
			pvm_pkint(i, 2, 2);                      line("int 2 stride 2");
			pvm_pkbyte(b, 2, 2);                     line("byte 2 stride 2");
			pvm_pkbyte(b, 1, 1); pvm_pkint(i, 1, 1); line("byte 1, int 1");
			pvm_pkdouble(d, 1, 1); pvm_pkstr("x");   line("double, str x");
		}
	}
	printf("psend: ");
	pvm_psend(pvm_mytid(), 1, (char *)l, 3, PVM_LONG);
	pvm_recv(-1, 1);
	printf("%d\n", length_of(pvm_getrbuf()));
	pvm_exit();
	return 0;
}
