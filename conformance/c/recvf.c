/* pvm_recvf: a matching function of the program's own, its results and its arguments. */
#include "common.h"

static int mode, calls, want_tid, want_tag;

static int matcher(int id, int tid, int tag)
{
	int have, value = -1, keep;
	struct pvmminfo mi;

	calls++;
	want_tid = tid;
	want_tag = tag;
	pvm_bufinfo(id, (int *)0, &have, (int *)0);
	pvm_getminfo(id, &mi);
	if (mi.tag != have)
		return -77;
	switch (mode) {
	case 0: /* even tags only */
		return have % 2 == 0;
	case 1: /* the highest tag */
		return have + 1;
	case 2: /* nothing */
		return 0;
	case 3: /* an error */
		return -42;
	case 4: /* by content */
		keep = pvm_setrbuf(id);
		pvm_upkint(&value, 1, 1);
		pvm_setrbuf(keep);
		return value == 500;
	}
	return 1;
}

static void show(char *what, int cc)
{
	int tag = -1;

	if (cc > 0)
		pvm_bufinfo(cc, (int *)0, &tag, (int *)0);
	printf("%s: %s tag %d\n", what, handle(cc), tag);
}

int main(int argc, char **argv)
{
	int me, k;
	void *old;

	begin(argc, argv);
	me = pvm_mytid();
	for (k = 1; k <= 8; k++)
		send_int(me, k, k * 100);
	recv_int(me, 8); /* now all are in the queue */
	old = (void *)pvm_recvf(matcher);
	old = (void *)pvm_recvf(matcher);
	printf("then it is ours: %d\n", old == (void *)matcher);
	mode = 0;
	show("even", pvm_recv(-1, 77));
	printf("asked for tag %d from %d\n", want_tag, want_tid);
	mode = 1;
	show("highest", pvm_recv(me, -1));
	mode = 2;
	calls = 0;
	show("nothing", pvm_nrecv(-1, -1));
	printf("calls %d\n", calls);
	mode = 3;
	calls = 0;
	show("error", pvm_recv(-1, -1));
	printf("calls %d\n", calls);
	show("error in nrecv", pvm_nrecv(-1, -1));
	mode = 4;
	show("value 500", pvm_nrecv(-1, -1));
	mode = 0;
	show("probe even", pvm_probe(-1, -1));
	pvm_recvf((int (*)(int, int, int))0);
	for (k = 0; k < 5; k++)
		show("rest", pvm_nrecv(-1, -1));
	pvm_exit();
	return 0;
}
