/* Groups: joining and leaving, instance numbers and their reuse, looking up, what outsiders may ask. */
#include "common.h"

static char *group = "cf-group";

/* Joins, reports the instance, leaves or ends when told. */
static void member(char *how)
{
	int inst;

	pvm_mytid();
	inst = pvm_joingroup(group);
	send_int(pvm_parent(), 1, inst);
	for (;;) {
		int tag, cc = 0;

		pvm_recv(pvm_parent(), -1);
		pvm_bufinfo(pvm_getrbuf(), (int *)0, &tag, (int *)0);
		if (tag == 2)
			cc = pvm_lvgroup(group);
		else if (tag == 3)
			cc = pvm_joingroup(group);
		else
			break;
		send_int(pvm_parent(), 1, cc);
	}
	if (!strcmp(how, "exit"))
		pvm_exit();
	if (!strcmp(how, "die"))
		kill(getpid(), SIGKILL);
}

static int order(int kid, int tag)
{
	send_int(kid, tag, 0);
	return recv_int(kid, 1);
}

static void show(int n)
{
	int k;

	printf("  size %s:", code(pvm_gsize(group)));
	for (k = 0; k < n; k++)
		printf(" %s", code(pvm_gettid(group, k)) [0] == 'P' ? code(pvm_gettid(group, k)) : who(pvm_gettid(group, k)));
	printf("\n");
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int kids[3], k, me, other;

	if (*role) {
		member(role);
		return 0;
	}
	who(me = pvm_mytid());
	SHOW(pvm_gsize(group));
	SHOW(pvm_gettid(group, 0));
	SHOW(pvm_getinst(group, me));
	SHOW(pvm_lvgroup(group));
	SHOW(pvm_barrier(group, 1));
	SHOW(pvm_joingroup(""));
	SHOW(pvm_joingroup((char *)0));
	SHOW(pvm_joingroup(group));
	SHOW(pvm_joingroup(group));
	SHOW(pvm_joingroup("another one"));
	SHOW(pvm_getinst("another one", me));
	SHOW(pvm_gsize("another one"));
	spawn_self("exit", 2, kids);
	spawn_self("die", 1, kids + 2);
	for (k = 0; k < 3; k++) {
		who(kids[k]);
		/* the first two join in any order: ask by instance */
	}
	{
		int a = recv_int(kids[0], 1), b = recv_int(kids[1], 1), c = recv_int(kids[2], 1);

		printf("instances 1 to 3 given: %d\n", a + b + c == 6 && a * b * c == 6);
		/* from here on by instance */
		other = 0;
		for (k = 1; k <= 3; k++)
			other += pvm_getinst(group, pvm_gettid(group, k)) == k;
		printf("getinst and gettid agree: %d\n", other);
	}
	/* leave and come back in a fixed order, so that instances are known */
	for (k = 0; k < 3; k++)
		SHOW(order(kids[k], 2));
	SHOW(pvm_gsize(group));
	for (k = 0; k < 3; k++)
		SHOW(order(kids[k], 3));
	show(5);
	SHOW(pvm_gettid(group, 4));
	SHOW(pvm_gettid(group, -1));
	SHOW(pvm_getinst(group, 0x40fff));
	SHOW(pvm_getinst(group, 0));
	SHOW(order(kids[0], 2));
	show(4);
	SHOW(pvm_gettid(group, 1));
	SHOW(pvm_getinst(group, kids[0]));
	SHOW(order(kids[0], 2));
	SHOW(order(kids[1], 2));
	SHOW(order(kids[1], 3)); /* the lowest free number */
	show(4);
	SHOW(order(kids[0], 3));
	show(4);
	SHOW(pvm_lvgroup(group));
	SHOW(pvm_lvgroup(group));
	show(4);
	SHOW(pvm_joingroup(group));
	/* pvm_exit and death take one out */
	send_int(kids[0], 9, 0);
	wait_gone(kids[0]);
	for (k = 0; k < 1000 && pvm_gsize(group) != 3; k++)
		usleep(10000);
	printf("after an exit\n");
	show(4);
	send_int(kids[2], 9, 0);
	wait_gone(kids[2]);
	for (k = 0; k < 1000 && pvm_gsize(group) != 2; k++)
		usleep(10000);
	printf("after a death\n");
	show(4);
	SHOW(pvm_lvgroup(group));
	SHOW(order(kids[1], 2));
	SHOW(pvm_gsize(group));
	SHOW(order(kids[1], 3));
	send_int(kids[1], 9, 0);
	pvm_exit();
	return 0;
}
