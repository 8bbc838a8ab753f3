/* pvm_reduce: the four operators for every type, a function of one's own, other roots, back to back. */
#include "common.h"

#define N 3
static char *group = "cf-red";

static void mine(int *type, void *x, void *y, int *num, int *info)
{
	int k;

	for (k = 0; k < *num; k++)
		((int *)x)[k] = (1 + ((int *)x)[k]) * (1 + ((int *)y)[k]) - 1; /* in any order */
	*info = *type == PVM_INT ? PvmOk : PvmBadParam;
}

static int inst, tag = 20;

#define ALL(type, name, what, format)                                                              \
	{                                                                                          \
		static void (*f[4])() = { PvmMax, PvmMin, PvmSum, PvmProduct };                    \
		static char *fname[4] = { "max", "min", "sum", "product" };                        \
		int op, k;                                                                         \
		for (op = 0; op < 4; op++) {                                                       \
			if (what == PVM_BYTE && op > 1) break; /* not for bytes */                 \
			type v[4];                                                                 \
			int cc;                                                                    \
			for (k = 0; k < 4; k++) v[k] = (type)((inst + 1) * (k + 1) % 7);           \
			cc = pvm_reduce(f[op], v, what == PVM_CPLX || what == PVM_DCPLX ? 2 : 4, what, tag++, group, 0); \
			if (inst == 0) {                                                           \
				printf("%s %s: %s", name, fname[op], code(cc));                    \
				if (cc >= 0) for (k = 0; k < 4; k++) printf(" " format, v[k]);     \
				printf("\n");                                                      \
			}                                                                          \
		}                                                                                  \
	}

static void work(void)
{
	int v[3], k, root, cc, sum = 0;

	ALL(char, "byte", PVM_BYTE, "%d")
	ALL(short, "short", PVM_SHORT, "%d")
	ALL(int, "int", PVM_INT, "%d")
	ALL(long, "long", PVM_LONG, "%ld")
	ALL(float, "float", PVM_FLOAT, "%g")
	ALL(double, "double", PVM_DOUBLE, "%g")
	ALL(float, "cplx", PVM_CPLX, "%g")
	ALL(double, "dcplx", PVM_DCPLX, "%g")
	ALL(unsigned short, "ushort", PVM_USHORT, "%u")
	ALL(unsigned int, "uint", PVM_UINT, "%u")
	ALL(unsigned long, "ulong", PVM_ULONG, "%lu")
	pvm_barrier(group, N);
	for (root = 0; root < N; root++) {
		for (k = 0; k < 3; k++)
			v[k] = 100 * inst + k;
		cc = pvm_reduce(PvmSum, v, 3, PVM_INT, 150, group, root);
		if (inst == root) {
			pvm_initsend(PvmDataDefault);
			pvm_pkint(&cc, 1, 1);
			pvm_pkint(v, 3, 1);
			pvm_send(pvm_gettid(group, 0), 160);
		}
		if (inst == 0) {
			pvm_recv(-1, 160);
			pvm_upkint(&cc, 1, 1);
			pvm_upkint(v, 3, 1);
			printf("root %d: %s %d %d %d\n", root, code(cc), v[0], v[1], v[2]);
		}
	}
	pvm_barrier(group, N);
	/* back to back without a barrier */
	for (k = 0; k < 20; k++) {
		v[0] = inst + k;
		pvm_reduce(PvmSum, v, 1, PVM_INT, 170, group, 0);
		sum += v[0];
	}
	if (inst == 0)
		printf("twenty in a row: %d\n", sum);
	pvm_barrier(group, N);
	v[0] = inst + 1;
	cc = pvm_reduce(mine, v, 1, PVM_INT, 180, group, 0);
	if (inst == 0)
		printf("own function: %s %d\n", code(cc), v[0]);
	pvm_barrier(group, N);
}

int main(int argc, char **argv)
{
	int kid, k, v[1];

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
	SHOW(pvm_reduce(PvmSum, v, 1, PVM_INT, 5, "cf-none", 0));
	inst = pvm_joingroup(group);
	SHOW(pvm_reduce(PvmSum, v, 1, PVM_INT, 5, group, 0));
	printf("alone: %d\n", v[0]);
	SHOW(pvm_reduce(PvmSum, v, 1, PVM_INT, 5, group, 7));
	SHOW(pvm_reduce(PvmSum, v, 1, 99, 5, group, 0));
	SHOW(pvm_reduce(PvmSum, v, -1, PVM_INT, 5, group, 0));
	SHOW(pvm_reduce(PvmSum, v, 0, PVM_INT, 5, group, 0));
	SHOW(pvm_reduce(PvmSum, (int *)0, 1, PVM_INT, 5, group, 0));
	SHOW(pvm_reduce(PvmSum, v, 1, PVM_INT, 5, "", 0));
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
