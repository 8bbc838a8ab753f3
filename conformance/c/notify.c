/* pvm_notify: exit of tasks (by end, exit, kill, unenrolment), repeats, several, cancelling, hosts. */
#include "common.h"

static void child(char *role)
{
	pvm_mytid();
	send_int(pvm_parent(), 1, 0);
	rest_until_told();
	if (!strcmp(role, "exit"))
		pvm_exit();
	if (!strcmp(role, "abort"))
		kill(getpid(), SIGKILL);
	if (!strcmp(role, "linger")) {
		pvm_exit();
		sleep(2); /* unenrolled, but the process lives on */
	}
	exit(3);
}

/* Receives one notice and prints it. */
static void notice(char *what, int tag)
{
	int bytes, t, src, tid = -1;
	struct pvmminfo mi;

	pvm_recv(-1, tag);
	pvm_bufinfo(pvm_getrbuf(), &bytes, &t, &src);
	pvm_getminfo(pvm_getrbuf(), &mi);
	pvm_upkint(&tid, 1, 1);
	printf("%s: %s, %d bytes, tag %d, from pvmd %d, xdr %d, ctx %d\n", what, who(tid), bytes, t, src == (int)0x80000000,
		mi.enc == 0x10000000, mi.ctx);
}

/* Each one that is named by a cancel ends one request. */
static void named_twice(int me)
{
	int two[2], i, n = 0;

	two[0] = two[1] = me;
	SHOW(pvm_notify(PvmTaskExit, 66, 2, two));
	for (i = 0; i < 3; i++) {
		SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, 66, 1, two));
		usleep(50000);
		while (pvm_nrecv(-1, 66) > 0)
			n++;
		printf("notices after cancel %d: %d\n", i + 1, n);
	}
}

int main(int argc, char **argv)
{
	static char *kinds[] = { "return", "exit", "abort", "linger" };
	char *role;
	int k, kids[4], me, ctx;
	struct pvmhostinfo *hosts;
	struct timeval patience;
	int nhost;

	patience.tv_sec = 10; /* far more than it takes: the child has yet to end */
	patience.tv_usec = 0;
	if (*(role = begin(argc, argv))) {
		child(role);
		return 0;
	}
	me = pvm_mytid();
	who(me);
	for (k = 0; k < 4; k++) {
		spawn_self(kinds[k], 1, &kids[k]);
		who(kids[k]);
		recv_int(kids[k], 1);
	}
	for (k = 0; k < 4; k++) {
		SHOW(pvm_notify(PvmTaskExit, 10 + k, 1, &kids[k]));
		SHOW(pvm_nrecv(-1, 10 + k));
		tell_end(kids[k]);
		notice(kinds[k], 10 + k);
		printf("then pstat %s", code(pvm_pstat(kids[k])));
		printf(", send %s\n", code(pvm_send(kids[k], 1)));
	}
	/* already gone */
	SHOW(pvm_notify(PvmTaskExit, 20, 1, &kids[0]));
	notice("already gone", 20);
	/* killed by pvm_kill; asked for twice, with two tags, in a list */
	spawn_self("return", 3, kids);
	for (k = 0; k < 3; k++)
		recv_int(kids[k], 1);
	SHOW(pvm_notify(PvmTaskExit, 30, 3, kids));
	SHOW(pvm_notify(PvmTaskExit, 31, 1, kids));
	SHOW(pvm_notify(PvmTaskExit, 31, 1, kids));
	for (k = 0; k < 3; k++) {
		pvm_kill(kids[k]);
		notice("killed", 30);
	}
	notice("the same with another tag", 31);
	notice("asked for twice", 31);
	SHOW(pvm_nrecv(-1, 31));
	/* cancelled: the notice comes at once */
	spawn_self("return", 1, kids);
	recv_int(kids[0], 1);
	SHOW(pvm_notify(PvmTaskExit, 40, 1, kids));
	SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, 41, 1, kids));
	usleep(20000);
	SHOW(pvm_nrecv(-1, 40));
	SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, 40, 1, kids));
	notice("cancelled", 40);
	printf("and it lives: %s\n", code(pvm_pstat(kids[0])));
	SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, 40, 1, kids));
	usleep(20000);
	SHOW(pvm_nrecv(-1, 40));
	/* the context of the request */
	ctx = pvm_newcontext();
	pvm_setcontext(ctx);
	SHOW(pvm_notify(PvmTaskExit, 50, 1, kids));
	pvm_setcontext(0);
	tell_end(kids[0]); /* the child is in context 0 */
	usleep(50000);
	printf("in context 0: %s\n", handle(pvm_nrecv(-1, 50)));
	pvm_setcontext(ctx);
	printf("in the other: %s\n", handle(pvm_trecv(-1, 50, &patience)));
	pvm_setcontext(0);
	/* oneself, hosts */
	pvm_config(&nhost, (int *)0, &hosts);
	SHOW(pvm_notify(PvmTaskExit, 60, 1, &me));
	SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, 60, 1, &me));
	notice("oneself, cancelled", 60);
	k = hosts[0].hi_tid;
	SHOW(pvm_notify(PvmHostDelete, 61, 1, &k));
	usleep(10000);
	SHOW(pvm_nrecv(-1, 61));
	SHOW(pvm_notify(PvmHostDelete | PvmNotifyCancel, 61, 1, &k));
	pvm_recv(-1, 61);
	pvm_upkint(&nhost, 1, 1);
	printf("host notice names the host: %d\n", nhost == k);
	k = 0x900000;
	SHOW(pvm_notify(PvmHostDelete, 62, 1, &k));
	pvm_recv(-1, 62);
	pvm_upkint(&nhost, 1, 1);
	printf("unknown host is told at once: %d\n", nhost == k);
	SHOW(pvm_notify(PvmHostAdd, 63, 2, (int *)0));
	SHOW(pvm_notify(PvmHostAdd | PvmNotifyCancel, 63, 2, (int *)0));
	usleep(10000);
	k = pvm_nrecv(-1, 63);
	printf("cancelled HostAdd: %s, %d bytes\n", handle(k), k > 0 ? length_of(k) : 0);
	SHOW(pvm_notify(PvmRouteAdd, 64, -1, (int *)0));
	SHOW(pvm_notify(PvmRouteAdd, 64, 0, (int *)0));
	SHOW(pvm_notify(PvmRouteDelete, 64, 1, &me));
	pvm_recv(-1, 64);
	/* Where there is no route the end is told at once, also to who takes a request back that nobody made. */
	SHOW(pvm_notify(PvmRouteDelete | PvmNotifyCancel, 65, 1, &me));
	k = pvm_nrecv(-1, 65);
	printf("cancelled RouteDelete without a route: %s\n", handle(k));
	named_twice(me);
	pvm_exit();
	return 0;
}
