/* pvm_freezegroup: making a group static, calls on it, and what leaving does. */
#include "common.h"

#define N 3
static char *group = "cf-frz";
static int inst;

static int work(void)
{
	int cc, v[1];

	cc = pvm_freezegroup(group, N);
	v[0] = inst + 1;
	pvm_reduce(PvmSum, v, 1, PVM_INT, 5, group, 0);
	pvm_barrier(group, N);
	if (inst == 0)
		printf("sum %d, gettid(2) known %d, getinst(self) %d, size %d\n", v[0], pvm_gettid(group, 2) > 0,
			pvm_getinst(group, pvm_mytid()), pvm_gsize(group));
	return cc;
}

int main(int argc, char **argv)
{
	int kid, k, kids[N];

	if (*begin(argc, argv)) {
		pvm_mytid();
		inst = pvm_joingroup(group);
		send_int(pvm_parent(), 1, inst);
		recv_int(pvm_parent(), 2);
		send_int(pvm_parent(), 3, work());
		recv_int(pvm_parent(), 4);
		send_int(pvm_parent(), 5, pvm_lvgroup(group));
		pvm_exit();
		return 0;
	}
	pvm_mytid();
	SHOW(pvm_freezegroup("cf-none", 1));
	inst = pvm_joingroup(group);
	for (k = 0; k < N - 1; k++) {
		spawn_self("member", 1, &kid);
		recv_int(kid, 1);
		kids[k] = kid;
	}
	for (k = 1; k < N; k++)
		send_int(kids[k - 1], 2, 0);
	printf("freezegroup %s\n", code(work()));
	for (k = 1; k < N; k++)
		printf("freezegroup %s\n", code(recv_int(kids[k - 1], 3)));
	SHOW(pvm_freezegroup(group, N));
	SHOW(pvm_joingroup(group));
	send_int(kids[1], 4, 0);
	printf("lvgroup %s\n", code(recv_int(kids[1], 5)));
	SHOW(pvm_gsize(group));
	send_int(kids[0], 4, 0);
	printf("lvgroup %s\n", code(recv_int(kids[0], 5)));
	SHOW(pvm_lvgroup(group));
	SHOW(pvm_gsize(group));
	pvm_exit();
	return 0;
}
