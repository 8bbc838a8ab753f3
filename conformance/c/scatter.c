/* pvm_scatter and pvm_gather: every type, other roots, errors. */
#include "common.h"

#define N 3
static char *group = "cf-sca";
static int inst;

#define BOTH(type, name, what, per)                                                              \
	{                                                                                        \
		type all[N * 2 * per], part[2 * per], back[N * 2 * per];                         \
		int k, a, b, bad = 0;                                                            \
		for (k = 0; k < N * 2 * per; k++) { all[k] = (type)(k + 1); back[k] = 0; }       \
		a = pvm_scatter(part, all, 2, what, 10, group, 0);                               \
		for (k = 0; k < 2 * per; k++) {                                                  \
			bad += part[k] != (type)(inst * 2 * per + k + 1);                        \
			part[k] = part[k] + 1;                                                   \
		}                                                                                \
		b = pvm_gather(back, part, 2, what, 11, group, 0);                               \
		for (k = 0; inst == 0 && k < N * 2 * per; k++)                                   \
			bad += back[k] != (type)(k + 2);                                         \
		report(name, a, b, bad);                                                         \
	}

/* The root prints what all saw. */
static void report(char *name, int a, int b, int bad)
{
	int k, x, y, z;

	pvm_initsend(PvmDataDefault);
	pvm_pkint(&a, 1, 1);
	pvm_pkint(&b, 1, 1);
	pvm_pkint(&bad, 1, 1);
	pvm_send(pvm_gettid(group, 0), 90);
	if (inst)
		return;
	printf("%s:", name);
	for (k = 0; k < N; k++) {
		pvm_recv(pvm_gettid(group, k), 90);
		pvm_upkint(&x, 1, 1);
		pvm_upkint(&y, 1, 1);
		pvm_upkint(&z, 1, 1);
		printf("  %s %s wrong %d", code(x), code(y), z);
	}
	printf("\n");
}

static void work(void)
{
	int root, k, part[1], all[N];

	BOTH(char, "byte", PVM_BYTE, 1)
	BOTH(short, "short", PVM_SHORT, 1)
	BOTH(int, "int", PVM_INT, 1)
	BOTH(long, "long", PVM_LONG, 1)
	BOTH(float, "float", PVM_FLOAT, 1)
	BOTH(double, "double", PVM_DOUBLE, 1)
	BOTH(float, "cplx", PVM_CPLX, 2)
	BOTH(double, "dcplx", PVM_DCPLX, 2)
	BOTH(unsigned short, "ushort", PVM_USHORT, 1)
	BOTH(unsigned int, "uint", PVM_UINT, 1)
	BOTH(unsigned long, "ulong", PVM_ULONG, 1)
	for (root = 0; root < N; root++) {
		int a, b, bad;

		for (k = 0; k < N; k++)
			all[k] = 10 * root + k;
		part[0] = -1;
		a = pvm_scatter(part, inst == root ? all : (int *)0, 1, PVM_INT, 20, group, root);
		bad = part[0] != 10 * root + inst;
		b = pvm_gather(inst == root ? all : (int *)0, part, 1, PVM_INT, 21, group, root);
		for (k = 0; k < N && inst == root; k++)
			bad += all[k] != 10 * root + k;
		report("root", a, b, bad);
	}
	pvm_barrier(group, N);
}

int main(int argc, char **argv)
{
	int kid, k, v[4], w[4];

	if (*begin(argc, argv)) {
		pvm_mytid();
		inst = pvm_joingroup(group);
		send_int(pvm_parent(), 1, inst);
		recv_int(pvm_parent(), 2);
		work();
		pvm_exit();
		return 0;
	}
	pvm_mytid();
	v[0] = 5;
	SHOW(pvm_scatter(w, v, 1, PVM_INT, 5, "cf-none", 0));
	SHOW(pvm_gather(w, v, 1, PVM_INT, 5, "cf-none", 0));
	inst = pvm_joingroup(group);
	w[0] = 0;
	SHOW(pvm_scatter(w, v, 1, PVM_INT, 5, group, 0));
	printf("alone: %d\n", w[0]);
	w[0] = 0;
	SHOW(pvm_gather(w, v, 1, PVM_INT, 5, group, 0));
	printf("alone: %d\n", w[0]);
	SHOW(pvm_scatter(w, v, 1, PVM_INT, 5, group, 7));
	SHOW(pvm_gather(w, v, 1, PVM_INT, 5, group, 7));
	SHOW(pvm_scatter(w, v, 1, 99, 5, group, 0));
	SHOW(pvm_gather(w, v, 1, 99, 5, group, 0));
	SHOW(pvm_scatter(w, v, -1, PVM_INT, 5, group, 0));
	SHOW(pvm_gather(w, v, -1, PVM_INT, 5, group, 0));
	SHOW(pvm_scatter(w, v, 0, PVM_INT, 5, group, 0));
	SHOW(pvm_gather(w, v, 0, PVM_INT, 5, group, 0));
	SHOW(pvm_scatter((int *)0, v, 1, PVM_INT, 5, group, 0));
	SHOW(pvm_gather((int *)0, v, 1, PVM_INT, 5, group, 0));
	SHOW(pvm_scatter(w, v, 1, PVM_INT, 5, "", 0));
	for (k = 0; k < N - 1; k++) {
		spawn_self("member", 1, &kid);
		recv_int(kid, 1);
	}
	for (k = 1; k < N; k++)
		send_int(pvm_gettid(group, k), 2, 0);
	work();
	SHOW(pvm_nrecv(-1, -1));
	pvm_exit();
	return 0;
}
