/* Messages are untyped: what one reads as is free, within the rules of the encoding. */
#include "common.h"

static int pass(void)
{
	pvm_send(pvm_mytid(), 1);
	pvm_recv(-1, 1);
	return length_of(pvm_getrbuf());
}

int main(int argc, char **argv)
{
	int encoding;

	begin(argc, argv);
	pvm_mytid();
	for (encoding = 0; encoding < 2; encoding++) {
		int i[4], k;
		short s[4];
		long l[4];
		unsigned long ul[4];
		float f[4];
		double d[2];
		char b[32];
		unsigned char *ub = (unsigned char *)b;

		printf("%s\n", encoding ? "raw" : "default");

		pvm_initsend(encoding);
		f[0] = 1.0; f[1] = -2.5; f[2] = 0.0;
		pvm_pkfloat(f, 3, 1);
		printf("float 3 as int 3 (%d bytes):", pass());
		pvm_upkint(i, 3, 1);
		printf(" %08x %08x %08x\n", i[0], i[1], i[2]);

		pvm_initsend(encoding);
		d[0] = 3.0;
		pvm_pkdouble(d, 1, 1);
		printf("double as int 2 (%d):", pass());
		i[0] = i[1] = 0;
		printf(" %s", code(pvm_upkint(i, 2, 1)));
		printf(" %08x %08x\n", i[0], i[1]);

		pvm_initsend(encoding);
		i[0] = 0x01020304; i[1] = -2;
		pvm_pkint(i, 2, 1);
		printf("int 2 as byte 8 (%d):", pass());
		memset(b, 0, sizeof b);
		printf(" %s", code(pvm_upkbyte(b, 8, 1)));
		for (k = 0; k < 8; k++)
			printf(" %02x", ub[k]);
		printf("\n");

		pvm_initsend(encoding);
		s[0] = 5; s[1] = -6;
		pvm_pkshort(s, 2, 1);
		printf("short 2 as int (%d):", pass());
		i[0] = i[1] = 0;
		printf(" %s", code(pvm_upkint(i, 1, 1)));
		printf(" %08x", i[0]);
		printf(" %s", code(pvm_upkint(i + 1, 1, 1)));
		printf(" %08x\n", i[1]);

		pvm_initsend(encoding);
		i[0] = 70000; i[1] = -3;
		pvm_pkint(i, 2, 1);
		printf("int 2 as short 2 (%d):", pass());
		s[0] = s[1] = 0;
		printf(" %s", code(pvm_upkshort(s, 2, 1)));
		printf(" %d %d\n", s[0], s[1]);

		pvm_initsend(encoding);
		l[0] = 123456; l[1] = 7;
		pvm_pklong(l, 2, 1);
		printf("long 2 as int 2 (%d):", pass());
		printf(" %s", code(pvm_upkint(i, 2, 1)));
		printf(" %d %d\n", i[0], i[1]);

		pvm_initsend(encoding);
		i[0] = 11; i[1] = 12;
		pvm_pkint(i, 2, 1);
		printf("int 2 as long 1 (%d):", pass());
		printf(" %s", code(pvm_upklong(l, 1, 1)));
		printf(" %ld\n", l[0]);

		pvm_initsend(encoding);
		l[0] = -5; l[1] = 0x123456789aL;
		pvm_pklong(l, 2, 1);
		printf("long -5 and 0x123456789a (%d):", pass());
		l[0] = l[1] = 0;
		pvm_upklong(l, 2, 1);
		printf(" %lx %lx\n", l[0], l[1]);

		pvm_initsend(encoding);
		ul[0] = ~0UL;
		pvm_pkulong(ul, 1, 1);
		printf("ulong max (%d):", pass());
		pvm_upkulong(ul, 1, 1);
		printf(" %lx\n", ul[0]);

		pvm_initsend(encoding);
		pvm_pkbyte("abcde", 5, 1);
		printf("byte 5 as 3 and 2 (%d):", pass());
		memset(b, '.', sizeof b);
		printf(" %s", code(pvm_upkbyte(b, 3, 1)));
		printf(" %s", code(pvm_upkbyte(b + 3, 2, 1)));
		printf(" ");
		for (k = 0; k < (encoding ? 5 : 4); k++) /* in default encoding the fifth is padding */
			printf("%c", b[k]);
		printf(" then %s\n", code(pvm_upkbyte(b, 1, 1)));

		pvm_initsend(encoding);
		pvm_pkbyte("a", 1, 1);
		pvm_pkbyte("b", 1, 1);
		printf("byte 1 twice as byte 2 (%d):", pass());
		memset(b, '.', sizeof b);
		printf(" %s", code(pvm_upkbyte(b, 2, 1)));
		printf(" %02x\n", ub[0]); /* in default encoding the second is padding */

		pvm_initsend(encoding);
		pvm_pkstr("hello");
		printf("str as int and byte 6 (%d):", pass());
		memset(b, 0, sizeof b);
		printf(" %s", code(pvm_upkint(i, 1, 1)));
		printf(" %s", code(pvm_upkbyte(b, 6, 1)));
		printf(" %d %s\n", i[0], b);

		pvm_initsend(encoding);
		i[0] = 4;
		pvm_pkint(i, 1, 1);
		pvm_pkbyte("abc", 4, 1);
		printf("int 4 and byte 4 as str (%d):", pass());
		printf(" %s", code(pvm_upkstr(b)));
		printf(" %s\n", b);

		pvm_initsend(encoding);
		i[0] = 400;
		pvm_pkint(i, 1, 1);
		printf("int 400 as str (%d):", pass());
		printf(" %s\n", code(pvm_upkstr(b)));

		/* After a failed read the position stands where it was, or not. */
		pvm_initsend(encoding);
		for (k = 0; k < 3; k++)
			i[k] = k + 1;
		pvm_pkint(i, 3, 1);
		pass();
		memset(i, 0, sizeof i);
		printf("int 4 of 3: %s", code(pvm_upkint(i, 4, 1)));
		printf(" got %d %d %d", i[0], i[1], i[2]);
		printf(" then int 1: %s", code(pvm_upkint(i, 1, 1)));
		printf(" %d\n", i[0]);
	}
	pvm_exit();
	return 0;
}
