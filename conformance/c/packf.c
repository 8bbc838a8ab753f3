/* pvm_packf and pvm_unpackf: every conversion, counts, strides, modifiers, and bad formats. */
#include "common.h"

static void pass(void)
{
	printf(", %d bytes", length_of(pvm_getsbuf()));
	pvm_send(pvm_mytid(), 1);
	pvm_recv(-1, 1);
}

#define ODD(what, call)                                                       \
	{                                                                     \
		int cc = call;                                                \
		printf("%s: %s, %d bytes\n", what, code(cc), length_of(pvm_getsbuf())); \
	}

int main(int argc, char **argv)
{
	int encoding;

	begin(argc, argv);
	pvm_mytid();
	for (encoding = 0; encoding < 2; encoding++) {
		char c, bytes[8], text[32];
		short h, hs[4];
		unsigned short uh;
		int d, n, ds[8];
		unsigned int u;
		long l, ls[4];
		unsigned long ul;
		float f, fs[6];
		double lf, lfs[6];
		int back;

		printf("%s\n", encoding ? "raw" : "default");
		printf("values: %s", code(pvm_packf("%+ %c %d %f %s", encoding, 'x', 42, 1.5, "word")));
		pass();
		printf(", %s", code(pvm_unpackf("%c %d %f %s", &c, &d, &f, text)));
		printf(": %c %d %g %s\n", c, d, f, text);

		printf("modified: %s", code(pvm_packf("%+ %hd %hu %ud %ld %lud %lf", encoding, 3, 4, 5u, 6L, 7UL, 8.5)));
		pass();
		printf(", %s\n", code(pvm_unpackf("%hd %uhd %ud %ld %uld %lf", &h, &uh, &u, &l, &ul, &lf)));

		printf("hd uhd ud ld uld lf: %s", code(pvm_packf("%+%hd%uhd%ud%ld%uld%lf", encoding, 3, 4, 5u, 6L, 7UL, 8.5)));
		pass();
		h = 0; uh = 0; u = 0; l = 0; ul = 0; lf = 0;
		printf(", %s", code(pvm_unpackf("%hd%uhd%ud%ld%uld%lf", &h, &uh, &u, &l, &ul, &lf)));
		printf(": %d %d %u %ld %lu %g\n", h, uh, u, l, ul, lf);

		for (n = 0; n < 8; n++)
			ds[n] = n + 1;
		printf("counted: %s", code(pvm_packf("%+ %3d %2.3d %*d %*.*d", encoding, ds, ds, 2, ds, 2, 4, ds)));
		pass();
		memset(ds, 0, sizeof ds);
		printf(", %s", code(pvm_unpackf("%8d", ds)));
		for (n = 0; n < 8; n++)
			printf(" %d", ds[n]);
		printf(", %s\n", code(pvm_unpackf("%d", &n)));

		for (n = 0; n < 6; n++)
			lfs[n] = fs[n] = n + 0.5;
		printf("complex: %s", code(pvm_packf("%+ %2x %1.1x %2lx", encoding, fs, fs + 2, lfs)));
		pass();
		memset(fs, 0, sizeof fs);
		memset(lfs, 0, sizeof lfs);
		printf(", %s", code(pvm_unpackf("%3x %2lx", fs, lfs)));
		printf(" %g %g %g %g %g %g, %g %g %g %g\n", fs[0], fs[1], fs[2], fs[3], fs[4], fs[5], lfs[0], lfs[1], lfs[2], lfs[3]);

		hs[0] = 9; hs[1] = 8; ls[0] = 7; ls[1] = 6;
		printf("arrays: %s", code(pvm_packf("%+ %2hd %2ld %3c %1s", encoding, hs, ls, "abc", "str")));
		pass();
		memset(hs, 0, sizeof hs); memset(ls, 0, sizeof ls); memset(bytes, 0, sizeof bytes); memset(text, 0, sizeof text);
		printf(", %s", code(pvm_unpackf("%2hd %2ld %3c %s", hs, ls, bytes, text)));
		printf(": %d %d %ld %ld %s %s\n", hs[0], hs[1], ls[0], ls[1], bytes, text);

		n = 2;
		printf("count from list: %s", code(pvm_packf("%+ %d %*lf", encoding, n, n, lfs)));
		pass();
		back = 0;
		printf(", %s", code(pvm_unpackf("%d", &back)));
		printf(" %d, %s\n", back, code(pvm_unpackf("%*lf", back, lfs)));

		/* what is no conversion */
		ODD("empty format", pvm_packf(""))
		ODD("plain text", pvm_packf("%+ abc %d", encoding, 1))
		ODD("blanks", pvm_packf("%+   %d  ", encoding, 1))
		ODD("unknown q", pvm_packf("%+ %d %q %d", encoding, 1, 2, 3))
		ODD("cut off", pvm_packf("%+ %d %", encoding, 1))
		ODD("percent twice", pvm_packf("%+ %%", encoding))
		ODD("count 0", pvm_packf("%+ %0d", encoding, &n))
		ODD("count 1", pvm_packf("%+ %1d", encoding, &n))
		ODD("count -1", pvm_packf("%+ %*d", encoding, -1, &n))
		ODD("stride 0", pvm_packf("%+ %2.0d", encoding, &n))
		ODD("bad encoding", pvm_packf("%+ %d", 99, 1))
		ODD("+ second", pvm_packf("%d %+ %d", 1, encoding, 2))
		ODD("+ alone", pvm_packf("%+", encoding))
		ODD("hc", pvm_packf("%+ %hc", encoding, 1))
		ODD("ls", pvm_packf("%+ %ls", encoding, "x"))
		ODD("hld", pvm_packf("%+ %hld", encoding, 1L))
		ODD("uf", pvm_packf("%+ %uf", encoding, 1.0))
		ODD("u alone", pvm_packf("%+ %u", encoding, 1))
		ODD("x as value", pvm_packf("%+ %x", encoding, fs))
	}
	pvm_setsbuf(0);
	printf("no buffer %s\n", code(pvm_packf("%d", 1)));
	pvm_setrbuf(0);
	{
		int d;

		printf("no receive buffer %s\n", code(pvm_unpackf("%d", &d)));
		pvm_packf("%+", PvmDataDefault);
		pvm_send(pvm_mytid(), 1);
		pvm_recv(-1, 1);
		printf("empty message %s\n", code(pvm_unpackf("%d", &d)));
		printf("unpackf %%+ %s\n", code(pvm_unpackf("%+", 0)));
		ODD("in place", pvm_packf("%+ %1d", PvmDataInPlace, &d))
		ODD("string in place", pvm_packf("%s", "x"))
		ODD("string in place at once", pvm_packf("%+ %s", PvmDataInPlace, "x"))
		SHOW(pvm_pkstr("x"));
	}
	pvm_exit();
	return 0;
}
