/* Answers a message of every type of pvm3.h with each value one larger, in the encoding of argument 1. */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) do { int try = (call); if (try < 0) { fprintf(stderr, #call " = %d\n", try); exit(1); } } while (0)

int main(int argc, char **argv)
{
	int parent = pvm_parent(), i, ints[2];
	char bytes[3], text[64];
	short shorts[2];
	unsigned int uint;
	long longs[2];
	float real, complex[2];
	double reals[2], dcomplex[2];

	TRY(pvm_recv(parent, 5));
	TRY(pvm_upkbyte(bytes, 3, 1));
	TRY(pvm_upkshort(shorts, 2, 1));
	TRY(pvm_upkint(ints, 2, 1));
	TRY(pvm_upkuint(&uint, 1, 1));
	TRY(pvm_upklong(longs, 2, 1));
	TRY(pvm_upkfloat(&real, 1, 1));
	TRY(pvm_upkdouble(reals, 2, 1));
	TRY(pvm_upkcplx(complex, 1, 1));
	TRY(pvm_upkdcplx(dcomplex, 1, 1));
	TRY(pvm_upkstr(text));

	for (i = 0; i < 3; i++)
		bytes[i]++;
	for (i = 0; i < 2; i++) {
		shorts[i]++, ints[i]++, longs[i]++, reals[i]++;
	}
	uint++, real++, complex[0]++, dcomplex[0]++;
	strcat(text, "!");

	TRY(pvm_initsend(argc > 1 && strcmp(argv[1], "raw") == 0 ? PvmDataRaw : PvmDataDefault));
	TRY(pvm_pkbyte(bytes, 3, 1));
	TRY(pvm_pkshort(shorts, 2, 1));
	TRY(pvm_pkint(ints, 2, 1));
	TRY(pvm_pkuint(&uint, 1, 1));
	TRY(pvm_pklong(longs, 2, 1));
	TRY(pvm_pkfloat(&real, 1, 1));
	TRY(pvm_pkdouble(reals, 2, 1));
	TRY(pvm_pkcplx(complex, 1, 1));
	TRY(pvm_pkdcplx(dcomplex, 1, 1));
	TRY(pvm_pkstr(text));
	TRY(pvm_send(parent, 6));
	pvm_exit();
	return 0;
}
