/* pvm_export and pvm_unexport: the list in PVM_EXPORT, and variables that go to children. */
#include "common.h"

static void child(void)
{
	static char *names[] = { "CF_A", "CF_B", "CF_C", "PVM_EXPORT" };
	int k;

	pvm_initsend(PvmDataDefault);
	for (k = 0; k < 4; k++)
		pvm_pkstr(getenv(names[k]) ? getenv(names[k]) : "(none)");
	pvm_send(pvm_parent(), 1);
	pvm_exit();
}

static void ask(void)
{
	int kid, k;
	char text[200];

	printf("PVM_EXPORT here %s, child:", getenv("PVM_EXPORT") ? getenv("PVM_EXPORT") : "(none)");
	spawn_self("child", 1, &kid);
	pvm_recv(kid, 1);
	for (k = 0; k < 4; k++) {
		pvm_upkstr(text);
		printf(" <%s>", text);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	if (*begin(argc, argv)) {
		child();
		return 0;
	}
	pvm_mytid();
	putenv("CF_A=value of a");
	putenv("CF_B=");
	ask();
	SHOW(pvm_export("CF_A"));
	ask();
	SHOW(pvm_export("CF_A"));
	SHOW(pvm_export("CF_B"));
	SHOW(pvm_export("CF_C"));
	ask();
	SHOW(pvm_unexport("CF_A"));
	ask();
	SHOW(pvm_unexport("CF_A"));
	SHOW(pvm_unexport("CF_NONE"));
	SHOW(pvm_unexport("CF_C"));
	ask();
	SHOW(pvm_unexport("CF_B"));
	ask();
	putenv("PVM_EXPORT=CF_B:CF_A");
	ask();
	SHOW(pvm_export(""));
	ask();
	pvm_exit();
	return 0;
}
