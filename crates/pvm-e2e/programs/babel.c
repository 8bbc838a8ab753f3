/* babel: a C task talks to a Fortran and a C++ one. */
#include "e2e.h"

int main(void)
{
	char *names[] = {"babel_f", "babel_cc"}, name[100];
	double numbers[100], back[100];
	int i, k, tid[2], n = 100;
	CALL(pvm_mytid());
	for (k = 0; k < 2; k++)
		tid[k] = spawn_one(names[k], 0, 0, 0);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < n; i++)
			numbers[i] = i + 0.25 * k;
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&n, 1, 1));
		CALL(pvm_pkdouble(numbers, n, 1));
		CALL(pvm_pkbyte("from C", 6, 1)); /* As Fortran packs its STRING. */
		CALL(pvm_pkint(&tid[1 - k], 1, 1));
		CALL(pvm_send(tid[k], 1));
	}
	for (k = 0; k < 2; k++) {
		CALL(pvm_recv(tid[k], 2));
		CALL(pvm_upkdouble(back, n, 1));
		memset(name, 0, sizeof name);
		CALL(pvm_upkbyte(name, k ? 11 : 15, 1));
		for (i = 0; i < n; i++)
			CHECK(back[i] == 2 * (i + 0.25 * k));
		printf("%s\n", name);
	}
	CALL(pvm_joingroup("babel"));
	CALL(pvm_barrier("babel", 3));
	printf("all three at the barrier\n");
	pvm_exit();
	return 0;
}
