/* streamed: a task sends for ever what nobody asks for. A look for something else, of each kind, ends nevertheless. */
#include "e2e.h"

#define WANTED 3

static void stream(int parent)
{
	int number;
	for (number = 0; pvm_parent() > 0; number++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkint(&number, 1, 1));
		CALL(pvm_send(parent, 2));
	}
}

int main(int argc, char **argv)
{
	int parent = pvm_parent(), child, i;
	struct timeval limit = {0, 1000};
	(void)argc, (void)argv;
	if (parent > 0) {
		stream(parent);
		return 0;
	}
	CALL(pvm_mytid());
	CALL(pvm_spawn("streamed", 0, PvmTaskDefault, "", 1, &child));
	CALL(pvm_recv(child, 2));
	for (i = 0; i < 3; i++) {
		CHECK(pvm_nrecv(-1, WANTED) == 0);
		CHECK(pvm_probe(-1, WANTED) == 0);
		CHECK(pvm_trecv(-1, WANTED, &limit) == 0);
	}
	CALL(pvm_kill(child));
	pvm_exit();
	return 0;
}
