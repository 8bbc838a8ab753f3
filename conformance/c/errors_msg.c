/* Odd input to the calls that send and receive: the table of results. */
#include "common.h"

int main(int argc, char **argv)
{
	int me, list[3], n = 1, len, tag, src;
	double d[2];
	struct timeval tv;

	begin(argc, argv);
	me = pvm_mytid();
	pvm_setsbuf(0);
	SHOW(pvm_send(me, 1));
	SHOW(pvm_mcast(&me, 1, 1));
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&n, 1, 1);
	SHOW(pvm_send(me, -1));
	SHOW(pvm_send(0, 1));
	SHOW(pvm_send(-1, 1));
	SHOW(pvm_send((int)0x80040000, 1));
	SHOW(pvm_send(0x40000, 1));
	SHOW(pvm_send(0x80000, 1));
	SHOW(pvm_send(0x40fff, 1));
	SHOW(pvm_send(0x5000001, 1));
	SHOW(pvm_send(me, 0x7fffffff));
	SHOWID(pvm_recv(me, 0x7fffffff));
	SHOW(pvm_send(me, 0));
	SHOWID(pvm_recv(me, 0));

	SHOW(pvm_mcast(&me, 0, 1));
	SHOW(pvm_mcast(&me, -1, 1));
	SHOW(pvm_mcast(&me, 1, 1));
	SHOW(pvm_nrecv(-1, 1));
	SHOW(pvm_mcast(&me, 1, -1));
	list[0] = 0;
	list[1] = me;
	SHOW(pvm_mcast(list, 2, 1));
	list[0] = -1;
	SHOW(pvm_mcast(list, 1, 1));
	list[0] = 0x40fff;
	SHOW(pvm_mcast(list, 1, 1));

	SHOW(pvm_nrecv(-5, 1));
	SHOW(pvm_nrecv(-1, -7));
	SHOW(pvm_nrecv(0x40fff, 1));
	SHOW(pvm_probe(-5, 1));
	SHOW(pvm_probe(-1, -7));
	SHOW(pvm_probe(-1, 1));
	tv.tv_sec = 0; tv.tv_usec = 0;
	SHOW(pvm_trecv(-1, 1, &tv));
	tv.tv_sec = 0; tv.tv_usec = 20000;
	SHOW(pvm_trecv(-1, 1, &tv));
	SHOW(pvm_trecv(-5, 1, &tv));
	tv.tv_sec = -1; tv.tv_usec = 0;
	SHOW(pvm_trecv(-1, 1, &tv));
	tv.tv_sec = 0; tv.tv_usec = -1;
	SHOW(pvm_trecv(-1, 1, &tv));
	tv.tv_sec = 0; tv.tv_usec = 1000001;
	SHOW(pvm_trecv(-1, 1, &tv));
	SHOW(pvm_getrbuf());

	SHOW(pvm_psend(me, -1, (char *)&n, 1, PVM_INT));
	SHOW(pvm_psend(me, 1, "text", 4, PVM_STR));
	SHOW(pvm_psend(me, 1, (char *)&n, 1, 99));
	SHOW(pvm_psend(me, 1, (char *)&n, 1, -1));
	SHOW(pvm_psend(0, 1, (char *)&n, 1, PVM_INT));
	SHOW(pvm_psend(-1, 1, (char *)&n, 1, PVM_INT));
	SHOW(pvm_psend((int)0x80040000, 1, (char *)&n, 1, PVM_INT));
	SHOW(pvm_psend(0x40fff, 1, (char *)&n, 1, PVM_INT));
	SHOW(pvm_psend(me, 8, (char *)&n, 0, PVM_INT));
	SHOW(pvm_precv(me, 8, (char *)&n, 0, PVM_INT, &src, &tag, &len));
	printf("tag %d len %d\n", tag, len);
	SHOW(pvm_psend(me, 9, (char *)&n, -1, PVM_INT));
	SHOW(pvm_precv(-1, 1, (char *)&n, 1, 99, &src, &tag, &len));
	SHOW(pvm_precv(-1, 1, (char *)&n, 1, PVM_STR, &src, &tag, &len));
	d[0] = d[1] = 0.5;
	SHOW(pvm_psend(me, 2, (char *)d, 2, PVM_DOUBLE));
	d[0] = d[1] = 0.25;
	SHOW(pvm_precv(me, 2, (char *)d, 1, PVM_DOUBLE, &src, &tag, &len));
	printf("precv of less: %g %g, tag %d len %d from self %d\n", d[0], d[1], tag, len, src == me);
	SHOW(pvm_psend(me, 3, (char *)d, 1, PVM_DOUBLE));
	SHOW(pvm_precv(me, 3, (char *)d, 2, PVM_DOUBLE, (int *)0, (int *)0, (int *)0));
	pvm_exit();
	return 0;
}
