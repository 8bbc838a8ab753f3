/* Contexts: making, setting and freeing them; which messages a receive sees; what a child inherits. */
#include "common.h"

static void echo_context(void)
{
	int mine = pvm_getcontext();
	int first;

	/* The parent's message was sent in the context that this task has inherited. */
	first = recv_int(pvm_parent(), 1);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&mine, 1, 1);
	pvm_pkint(&first, 1, 1);
	pvm_send(pvm_parent(), 2);
	pvm_exit();
}

int main(int argc, char **argv)
{
	int me, a, b, child, inherited, first, k;

	if (*begin(argc, argv)) {
		echo_context();
		return 0;
	}
	me = pvm_mytid();
	SHOW(pvm_getcontext());
	a = pvm_newcontext();
	b = pvm_newcontext();
	printf("new contexts are positive and differ: %d, counted up: %d\n", a > 0 && b > 0 && a != b, b == a + 1);
	SHOW(pvm_getcontext());
	SHOW(pvm_setcontext(a));
	printf("set: %d\n", pvm_getcontext() == a);
	printf("setcontext returns the old one: %d\n", pvm_setcontext(b) == a);
	pvm_setcontext(0);
	SHOW(pvm_setcontext(4711));
	SHOW(pvm_setcontext(0));

	/* Messages of three contexts to myself, then read with wildcards in each. */
	for (k = 0; k < 6; k++) {
		pvm_setcontext(k % 3 == 0 ? 0 : k % 3 == 1 ? a : b);
		send_int(me, 10 + k, k);
	}
	pvm_setcontext(0);
	printf("in 0:");
	printf(" %d", recv_int(-1, -1));
	printf(" %d", recv_int(-1, -1));
	printf(" more %s\n", code(pvm_nrecv(-1, -1)));
	SHOW(pvm_probe(-1, 11));
	pvm_setcontext(b);
	printf("in b:");
	printf(" %d", recv_int(-1, -1));
	printf(" %d", recv_int(-1, -1));
	printf(" more %s\n", code(pvm_nrecv(-1, -1)));
	pvm_setcontext(a);
	printf("in a:");
	printf(" %d", recv_int(-1, 14));
	printf(" %d", recv_int(-1, -1));
	printf(" more %s\n", code(pvm_nrecv(-1, -1)));

	/* psend and precv */
	k = 5;
	pvm_psend(me, 3, (char *)&k, 1, PVM_INT);
	pvm_setcontext(0);
	SHOW(pvm_nrecv(-1, 3));
	pvm_setcontext(a);
	k = 0;
	SHOW(pvm_precv(-1, 3, (char *)&k, 1, PVM_INT, (int *)0, (int *)0, (int *)0));
	printf("psend value %d\n", k);

	/* a child inherits the context */
	spawn_self("echo", 1, &child);
	send_int(child, 1, 99);
	pvm_recv(child, 2);
	pvm_upkint(&inherited, 1, 1);
	pvm_upkint(&first, 1, 1);
	printf("child inherits: %d, received %d\n", inherited == a, first);
	pvm_setcontext(0);

	printf("freecontext(a) = %s\n", code(pvm_freecontext(a)));
	printf("freecontext(a) = %s\n", code(pvm_freecontext(a)));
	printf("freecontext(b) = %s\n", code(pvm_freecontext(b)));
	pvm_exit();
	return 0;
}
