/* Strides: packed and unpacked with gaps, for every type; gaps are left alone. */
#include "common.h"

#define TRY(type, pk, upk, per)                                                  \
	{                                                                        \
		type in[24], out[24];                                            \
		int k, bad = 0, touched = 0;                                     \
		for (k = 0; k < 24; k++) { in[k] = (type)(k + 1); out[k] = 99; } \
		pvm_initsend(encoding);                                          \
		printf("%s %s", #pk, code(pk(in, 4, 3)));                        \
		pvm_send(pvm_mytid(), 1);                                        \
		pvm_recv(-1, 1);                                                 \
		printf(" %s", code(upk(out, 4, 2)));                             \
		for (k = 0; k < 24; k++) {                                       \
			int item = k / per / 2, part = k % per;                  \
			if (k / per % 2 == 0 && item < 4)                        \
				bad += out[k] != in[item * 3 * per + part];      \
			else                                                     \
				touched += out[k] != 99;                         \
		}                                                                \
		printf(" wrong %d touched %d\n", bad, touched);                  \
	}

int main(int argc, char **argv)
{
	int encoding;
	int n[6];

	begin(argc, argv);
	pvm_mytid();
	for (encoding = 0; encoding < 2; encoding++) {
		printf("%s\n", encoding ? "raw" : "default");
		TRY(char, pvm_pkbyte, pvm_upkbyte, 1)
		TRY(short, pvm_pkshort, pvm_upkshort, 1)
		TRY(unsigned short, pvm_pkushort, pvm_upkushort, 1)
		TRY(int, pvm_pkint, pvm_upkint, 1)
		TRY(unsigned int, pvm_pkuint, pvm_upkuint, 1)
		TRY(long, pvm_pklong, pvm_upklong, 1)
		TRY(unsigned long, pvm_pkulong, pvm_upkulong, 1)
		TRY(float, pvm_pkfloat, pvm_upkfloat, 1)
		TRY(double, pvm_pkdouble, pvm_upkdouble, 1)
		TRY(float, pvm_pkcplx, pvm_upkcplx, 2)
		TRY(double, pvm_pkdcplx, pvm_upkdcplx, 2)
	}
	/* stride 0 repeats the first item, a negative stride walks back */
	for (encoding = 0; encoding < 2; encoding++) {
		int a[3], k;

		for (k = 0; k < 3; k++)
			a[k] = k + 1;
		pvm_initsend(encoding);
		SHOW(pvm_pkint(a, 2, 0));
		SHOW(pvm_pkint(a + 2, 3, -1));
		pvm_send(pvm_mytid(), 1);
		pvm_recv(-1, 1);
		SHOW(pvm_upkint(n, 5, 1));
		printf("%d %d %d %d %d\n", n[0], n[1], n[2], n[3], n[4]);
	}
	pvm_exit();
	return 0;
}
