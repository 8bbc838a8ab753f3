/* Message buffers: which are current, how the calls move them about, and what becomes of them. */
#include "common.h"

int main(int argc, char **argv)
{
	int a, b, c, me, n, tag, src;

	begin(argc, argv);
	SHOW(pvm_getsbuf());
	SHOW(pvm_getrbuf());
	me = pvm_mytid();
	who(me);

	a = pvm_initsend(PvmDataDefault);
	printf("initsend is current: %d\n", a > 0 && a == pvm_getsbuf());
	b = pvm_initsend(PvmDataRaw);
	printf("second initsend is current: %d\n", b > 0 && b == pvm_getsbuf());
	c = pvm_mkbuf(PvmDataDefault);
	printf("mkbuf changes nothing: %d, is another: %d\n", pvm_getsbuf() == b, c > 0 && c != b);
	printf("setsbuf returns the old one: %d\n", pvm_setsbuf(c) == b);
	printf("now current: %d\n", pvm_getsbuf() == c);
	printf("setsbuf(0) returns the old one: %d\n", pvm_setsbuf(0) == c);
	SHOW(pvm_getsbuf());
	SHOW(pvm_setsbuf(0));
	SHOW(pvm_setsbuf(b));
	SHOW(pvm_freebuf(b));
	SHOW(pvm_getsbuf());
	SHOW(pvm_freebuf(b));
	printf("bufinfo of a freed one: %s\n", code(pvm_bufinfo(b, &n, &tag, &src)));

	n = tag = src = -77;
	SHOW(pvm_bufinfo(c, &n, &tag, &src));
	printf("fresh: bytes %d tag %d src %s\n", n, tag, who(src));
	SHOW(pvm_bufinfo(c, (int *)0, (int *)0, (int *)0));

	/* One buffer as send and receive buffer. */
	pvm_setsbuf(c);
	pvm_pkint(&me, 1, 1);
	SHOW(pvm_setrbuf(c));
	printf("getsbuf is 0: %d, getrbuf is it: %d\n", pvm_getsbuf() == 0, pvm_getrbuf() == c);
	n = 0;
	SHOW(pvm_upkint(&n, 1, 1));
	printf("the same value: %d\n", n == me);
	SHOW(pvm_setsbuf(c));
	printf("getrbuf is 0: %d, getsbuf is it: %d\n", pvm_getrbuf() == 0, pvm_getsbuf() == c);
	SHOW(pvm_freebuf(c));

	/* A receive frees the buffer before it, unless it was saved. */
	pvm_initsend(PvmDataDefault);
	pvm_send(me, 1);
	pvm_send(me, 2);
	pvm_send(me, 3);
	a = pvm_recv(-1, 1);
	printf("recv gives the current one: %d\n", a == pvm_getrbuf());
	b = pvm_setrbuf(0);
	printf("saved: %d\n", a == b);
	c = pvm_recv(-1, 2);
	printf("another id: %d\n", c > 0 && c != b);
	pvm_recv(-1, 3);
	printf("the saved one lives: %s\n", code(pvm_bufinfo(b, &n, &tag, &src)));
	printf("tag %d bytes %d src %s\n", tag, n, who(src));
	SHOW(pvm_freebuf(b));

	/* A receive that finds nothing releases the current one. */
	SHOW(pvm_nrecv(-1, 4));
	SHOW(pvm_getrbuf());

	/* A buffer can be sent again and again, and packed further in between. */
	a = pvm_initsend(PvmDataDefault);
	n = 7;
	pvm_pkint(&n, 1, 1);
	pvm_send(me, 5);
	pvm_pkint(&n, 1, 1);
	pvm_send(me, 5);
	pvm_recv(me, 5);
	printf("first is %d bytes\n", length_of(pvm_getrbuf()));
	pvm_recv(me, 5);
	printf("second is %d bytes\n", length_of(pvm_getrbuf()));

	/* Reading moves on; setting the buffer again does not start over. */
	a = pvm_getrbuf();
	pvm_upkint(&n, 1, 1);
	pvm_upkint(&n, 1, 1);
	SHOW(pvm_upkint(&n, 1, 1));
	pvm_setrbuf(0);
	pvm_setrbuf(a);
	SHOW(pvm_upkint(&n, 1, 1));
	pvm_exit();
	return 0;
}
