/* PvmDataInPlace: data is read when it is sent, again for each send; several pieces; what it may not do. */
#include "common.h"

int main(int argc, char **argv)
{
	int me, n, got[4], a[4];
	double d[2], dgot[2];
	char text[8];

	begin(argc, argv);
	me = pvm_mytid();
	pvm_initsend(PvmDataInPlace);
	n = 1;
	pvm_pkint(&n, 1, 1);
	printf("length before %d\n", length_of(pvm_getsbuf()));
	n = 2;
	pvm_send(me, 1);
	n = 3;
	pvm_send(me, 2);
	n = 4;
	pvm_recv(me, 1);
	pvm_upkint(got, 1, 1);
	printf("first %d\n", got[0]);
	pvm_recv(me, 2);
	pvm_upkint(got, 1, 1);
	printf("second %d\n", got[0]);

	pvm_initsend(PvmDataInPlace);
	a[0] = 10; a[1] = 20; a[2] = 30; a[3] = 40;
	d[0] = 1.25; d[1] = -8;
	SHOW(pvm_pkint(a, 4, 1));
	SHOW(pvm_pkdouble(d, 2, 1));
	SHOW(pvm_pkbyte("bytes", 6, 1));
	SHOW(pvm_pkstr("text"));
	SHOW(pvm_pkint(a, 2, 2));
	SHOW(pvm_pkint(a, 1, 2));
	d[1] = 8;
	SHOW(pvm_send(me, 3));
	pvm_recv(me, 3);
	printf("length %d\n", length_of(pvm_getrbuf()));
	pvm_upkint(got, 4, 1);
	pvm_upkdouble(dgot, 2, 1);
	pvm_upkbyte(text, 6, 1);
	printf("%d %d %d %d %g %g %s\n", got[0], got[1], got[2], got[3], dgot[0], dgot[1], text);
	/* received with strides, although sent without */
	pvm_initsend(PvmDataInPlace);
	pvm_pkint(a, 2, 1);
	pvm_send(me, 4);
	pvm_recv(me, 4);
	memset(got, 0, sizeof got);
	SHOW(pvm_upkint(got, 2, 2));
	printf("%d %d %d\n", got[0], got[1], got[2]);
	pvm_exit();
	return 0;
}
