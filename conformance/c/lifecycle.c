/* Enrolling, leaving and enrolling again; parent, siblings and flags of tasks as they see themselves. */
#include "common.h"

static void child(void)
{
	int *sibs, n, k, me = pvm_mytid(), myself = 0;

	n = pvm_siblings(&sibs);
	for (k = 0; k < n; k++)
		if (sibs[k] == me)
			myself = k;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&n, 1, 1);
	pvm_pkint(&myself, 1, 1);
	pvm_pkint(sibs, n, 1);
	pvm_send(pvm_parent(), 1);
	pvm_exit();
}

int main(int argc, char **argv)
{
	int a, b, c, k, n, which, kids[3], sibs[3], flags;

	if (*begin(argc, argv)) {
		child();
		return 0;
	}
	a = pvm_mytid();
	printf("again the same: %d\n", pvm_mytid() == a);
	SHOW(pvm_parent());
	SHOW(pvm_exit());
	SHOW(pvm_exit());
	b = pvm_mytid();
	printf("after pvm_exit a new one: %d\n", b > 0 && b != a);
	printf("the old one: %s", code(pvm_pstat(a)));
	printf(", the new one: %s\n", code(pvm_pstat(b)));
	c = pvm_initsend(PvmDataDefault);
	printf("buffers work: %s\n", handle(c));
	send_int(pvm_mytid(), 1, 5);
	printf("messages too: %d\n", recv_int(-1, 1));
	/* messages do not survive */
	send_int(b, 2, 6);
	pvm_exit();
	pvm_mytid();
	usleep(20000);
	SHOW(pvm_nrecv(-1, 2));

	spawn_self("child", 3, kids);
	printf("ids consecutive: %d %d\n", kids[1] - kids[0], kids[2] - kids[1]);
	for (k = 0; k < 3; k++) {
		pvm_recv(kids[k], 1);
		pvm_upkint(&n, 1, 1);
		pvm_upkint(&which, 1, 1);
		pvm_upkint(sibs, n, 1);
		printf("child %d: %d siblings, is number %d, same list %d\n", k, n, which, memcmp(sibs, kids, sizeof kids) == 0);
	}
	flags = PvmNoSpawnParent;
	{
		static char *args[] = { "child", (char *)0 };

		/* This child gets no parent; its message goes to tid PvmParentNotSet, that is nowhere. */
		SHOW(pvm_spawn(my_path, args, flags, "", 1, kids));
		wait_gone(kids[0]);
		SHOW(pvm_nrecv(-1, 1));
	}
	pvm_exit();
	return 0;
}
