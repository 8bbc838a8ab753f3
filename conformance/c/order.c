/* Order: messages of one sender arrive as sent, over encodings, sizes, psend, mcast and self sends. */
#include "common.h"

#define N 300

static void burst(int to, int with_mcast)
{
	static char bulk[40000];
	int k;

	for (k = 0; k < N; k++) {
		if (k % 5 == 4) {
			pvm_psend(to, k, (char *)&k, 1, PVM_INT);
			continue;
		}
		pvm_initsend(k % 5 % 3);
		pvm_pkint(&k, 1, 1);
		if (k % 10 == 0)
			pvm_pkbyte(bulk, sizeof bulk, 1);
		if (with_mcast && k % 7 == 0)
			pvm_mcast(&to, 1, k);
		else
			pvm_send(to, k);
	}
}

static void check(char *what, int from)
{
	int k, tag, value, wrong = 0;

	for (k = 0; k < N; k++) {
		pvm_recv(from, -1);
		pvm_bufinfo(pvm_getrbuf(), (int *)0, &tag, (int *)0);
		pvm_upkint(&value, 1, 1);
		wrong += tag != k || value != k;
	}
	printf("%s: %d messages, out of order %d\n", what, N, wrong);
}

int main(int argc, char **argv)
{
	int kid, k, next[3], kids[3], from, value, wrong = 0;

	if (*begin(argc, argv)) {
		burst(pvm_parent(), 1);
		pvm_exit();
		return 0;
	}
	pvm_mytid();
	burst(pvm_mytid(), 0);
	check("to myself", pvm_mytid());
	spawn_self("burst", 1, &kid);
	check("from a child", kid);
	/* All of it arrives although the child has long gone. */
	spawn_self("burst", 1, &kid);
	wait_gone(kid);
	check("from a child that is gone", kid);
	/* Several senders read with wildcards: each one's messages are in order. */
	spawn_self("burst", 3, kids);
	for (k = 0; k < 3; k++)
		next[k] = 0;
	for (k = 0; k < 3 * N; k++) {
		int j;

		pvm_recv(-1, -1);
		pvm_bufinfo(pvm_getrbuf(), (int *)0, (int *)0, &from);
		pvm_upkint(&value, 1, 1);
		for (j = 0; j < 3 && kids[j] != from; j++)
			;
		wrong += j == 3 || next[j]++ != value;
	}
	printf("from three at once: out of order %d\n", wrong);
	/* Reversed by tag */
	spawn_self("burst", 1, &kid);
	for (wrong = 0, k = N - 1; k >= 0; k--)
		wrong += recv_int(kid, k) != k;
	printf("read backwards by tag: wrong %d\n", wrong);
	pvm_exit();
	return 0;
}
