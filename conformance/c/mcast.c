/* pvm_mcast: to several tasks, never to oneself, duplicates, tags, buffer kept. */
#include "common.h"

static void listener(void)
{
	int n = 0, tag, value, sum = 0;

	do {
		pvm_recv(pvm_parent(), -1);
		pvm_bufinfo(pvm_getrbuf(), (int *)0, &tag, (int *)0);
		pvm_upkint(&value, 1, 1);
		n++;
		sum = sum * 10 + value;
	} while (tag != 99);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&n, 1, 1);
	pvm_pkint(&sum, 1, 1);
	pvm_send(pvm_parent(), 1);
	pvm_exit();
}

/* Whether the buffer remembers the tag. */
static void odd_receivers(int me)
{
	static int ids[] = { 5, 0x3ffff, 0x40000, 0x7fffffff };
	int list[2], i, tag;

	for (i = 0; i < 4; i++) {
		list[0] = me;
		list[1] = ids[i];
		pvm_initsend(PvmDataDefault);
		printf("to %x: %s", (unsigned)ids[i], code(pvm_mcast(list, 2, 7)));
		pvm_bufinfo(pvm_getsbuf(), (int *)0, &tag, (int *)0);
		printf(" tag %d\n", tag);
	}
	pvm_initsend(PvmDataDefault);
	printf("to itself: %s", code(pvm_mcast(&me, 1, 7)));
	pvm_bufinfo(pvm_getsbuf(), (int *)0, &tag, (int *)0);
	printf(" tag %d\n", tag);
}

int main(int argc, char **argv)
{
	int kids[3], list[5], me, k, n, value;

	if (*begin(argc, argv)) {
		listener();
		return 0;
	}
	me = pvm_mytid();
	spawn_self("listener", 3, kids);
	list[0] = me;
	for (k = 0; k < 3; k++)
		list[k + 1] = kids[k];

	value = 1;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_mcast(list, 4, 5));
	SHOW(pvm_nrecv(me, 5));
	printf("buffer kept: %d bytes\n", length_of(pvm_getsbuf()));
	printf("list unchanged: %d\n", list[0] == me && list[1] == kids[0] && list[3] == kids[2]);

	value = 2;
	pvm_initsend(PvmDataRaw);
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_mcast(kids, 2, 6));
	value = 3;
	pvm_initsend(PvmDataInPlace);
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_mcast(kids, 3, 7));
	list[0] = kids[0];
	list[1] = kids[0];
	list[2] = kids[1];
	value = 4;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_mcast(list, 3, 8));
	value = 9;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_mcast(kids, 3, 99));
	for (k = 0; k < 3; k++) {
		pvm_recv(kids[k], 1);
		pvm_upkint(&n, 1, 1);
		pvm_upkint(&value, 1, 1);
		printf("child %d got %d messages: %d\n", k + 1, n, value);
	}
	odd_receivers(me);
	pvm_exit();
	return 0;
}
