/* Numbers that are nobody's: where the original takes them, and what it says of them. */
#include "common.h"

static int ready(int me)
{
	/* A message to oneself goes through the daemon, behind what it has sent before. */
	send_int(me, 9999, 1);
	return pvm_recv(me, 9999);
}

static void show_notices(int me)
{
	int b, tag, src, who_is;

	ready(me);
	while ((b = pvm_nrecv(-1, -1)) > 0) {
		pvm_bufinfo(b, (int *)0, &tag, &src);
		who_is = -77;
		printf("notice %d from %x:", tag, src == me ? 0 : src);
		while (pvm_upkint(&who_is, 1, 1) == 0)
			printf(" %x", who_is == me ? 0x12345 : who_is);
		printf("\n");
	}
}

static int notify(int what, int tag, int tid)
{
	return pvm_notify(what, tag, 1, &tid);
}

static int mcast(int tid, int tag)
{
	return pvm_mcast(&tid, 1, tag);
}

static void reserved(int me)
{
	SHOW(pvm_setopt(PvmResvTids, 1));
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_send(0, 1));
	SHOW(pvm_send(-1, 1));
	SHOW(pvm_send(1, 1));
	SHOW(pvm_send(0x40000, 1));
	SHOW(pvm_send(0x7fffffff, 1));
	SHOW(pvm_send(0x40000001, 1));
	SHOW(mcast(0, 1));
	SHOW(mcast(-1, 1));
	SHOW(mcast(0x40000, 1));
	SHOW(mcast(0x7fffffff, 1));
	SHOW(pvm_psend(0, 1, (char *)&me, 1, PVM_INT));
	SHOW(pvm_psend(-1, 1, (char *)&me, 1, PVM_INT));
	SHOW(pvm_setopt(PvmResvTids, 0));
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_send(0x40000001, 1));
	SHOW(pvm_send(0x3fffffff, 1));
	SHOW(pvm_send(0x3ffff, 1));
	SHOW(pvm_kill(0x3ffff));
	SHOW(pvm_kill(0x40000001));
	SHOW(pvm_pstat(0x3ffff));
	SHOW(pvm_pstat(0x40000001));
}

static void notices(int me)
{
	SHOW(notify(PvmHostDelete, 60, 0));
	SHOW(notify(PvmHostDelete, 61, -1));
	SHOW(notify(PvmHostDelete, 62, 1));
	SHOW(notify(PvmHostDelete, 63, 0x3ffff));
	SHOW(notify(PvmHostDelete, 64, 0x7fffffff));
	SHOW(notify(PvmHostDelete, 65, (int)0x80000000));
	SHOW(notify(PvmHostDelete, 66, 0x3ffc0000));
	SHOW(notify(PvmHostDelete, 67, 0x40000));
	SHOW(notify(PvmHostDelete, 68, (int)0x80040000));
	SHOW(notify(PvmHostDelete, 69, me));
	SHOW(notify(PvmTaskExit, 70, 1));
	SHOW(notify(PvmTaskExit, 71, 0x3ffff));
	SHOW(notify(PvmTaskExit, 72, 0x40fff));
	SHOW(notify(PvmTaskExit, 73, 0x40000001));
	show_notices(me);
	SHOW(notify(PvmHostDelete | PvmNotifyCancel, 67, 0x40000));
	SHOW(notify(PvmHostDelete | PvmNotifyCancel, 68, (int)0x80040000));
	SHOW(notify(PvmHostDelete | PvmNotifyCancel, 69, 0x40000));
	show_notices(me);
}

static void routes(int me)
{
	SHOW(notify(PvmRouteDelete, 80, me));
	show_notices(me);
	SHOW(notify(PvmRouteDelete, 81, 0x40fff));
	show_notices(me);
	SHOW(notify(PvmRouteDelete, 82, 1));
	show_notices(me);
}

static void hosts(void)
{
	struct pvmtaskinfo *tasks;
	int n;

	SHOW(pvm_tasks((int)0x80040000, &n, &tasks));
	printf("this task is there %d\n", n > 0);
	SHOW(pvm_tasks((int)0xc0040000, &n, &tasks));
	SHOW(pvm_tasks((int)0x80000000, &n, &tasks));
	SHOW(pvm_tasks(0x40000001, &n, &tasks));
	printf("%d of them\n", n);
	SHOW(pvm_tasks(pvm_mytid() | 0x40000000, &n, &tasks));
	printf("%d of them\n", n);
	n = -5;
	SHOW(pvm_tasks(1, &n, &tasks));
	printf("%d of them\n", n);
	SHOW(pvm_tasks(0x3ffff, &n, &tasks));
	SHOW(pvm_hostsync(1, (struct timeval *)0, (struct timeval *)0));
}

static int handler(int id)
{
	return 0;
}

static int try_handler(int src, int tag, int context)
{
	int number = pvm_addmhf(src, tag, context, handler);

	if (number >= 0)
		pvm_delmhf(number);
	return number < 0 ? number : 0;
}

static void handlers(int me)
{
	SHOW(try_handler(-1, -1, -1));
	SHOW(try_handler(me, -1, -1));
	SHOW(try_handler(-2, -1, -1));
	SHOW(try_handler(-1, -1, 0x7ffff));
	SHOW(try_handler(-1, -1, 0x7fffe));
	SHOW(try_handler(-1, -1, 0));
	SHOW(try_handler(-1, 5, -1));
	SHOW(try_handler(-1, -2, -1));
}

/* The number that the next member will have. */
static void instances(void)
{
	int kids[2], k;

	SHOW(pvm_joingroup("odd"));
	SHOW(pvm_getinst("odd", -1));
	SHOW(pvm_getinst("odd", -2));
	for (k = 0; k < 2; k++) {
		spawn_self("member", 1, &kids[k]);
		printf("member %d\n", recv_int(kids[k], 1));
		SHOW(pvm_getinst("odd", -1));
	}
	tell_end(kids[0]);
	recv_int(kids[0], 1);
	SHOW(pvm_getinst("odd", -1));
	SHOW(pvm_joingroup("odd"));
	SHOW(pvm_lvgroup("odd"));
	SHOW(pvm_getinst("odd", -1));
	tell_end(kids[1]);
	recv_int(kids[1], 1);
	wait_gone(kids[0]);
	wait_gone(kids[1]);
}

static void member(void)
{
	send_int(pvm_parent(), 1, pvm_joingroup("odd"));
	rest_until_told();
	send_int(pvm_parent(), 1, pvm_lvgroup("odd"));
}

/* In context -1 a receive sees all of them. */
static void every_context(int me)
{
	int b, k;

	for (k = 0; k < 3; k++) {
		pvm_setcontext(100 + k);
		send_int(me, k, k);
	}
	ready(me);
	pvm_setcontext(-1);
	for (k = 2; k >= 0; k--)
		printf("tag %d: %d\n", k, recv_int(-1, k));
	SHOWID(pvm_nrecv(-1, -1));
	pvm_setcontext(0);
	SHOW(pvm_freecontext(0) > 0);
	SHOW(pvm_freecontext(pvm_freecontext(0)));
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int me = pvm_mytid();

	if (!strcmp(role, "member"))
		member();
	else {
		reserved(me);
		notices(me);
		routes(me);
		hosts();
		handlers(me);
		instances();
		every_context(me);
	}
	pvm_exit();
	return 0;
}
