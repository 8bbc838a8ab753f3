/* withdrawals: says to the server of the space NAME, without end, that a request is withdrawn which
   it has never seen. Each time that is a step of the space. */
#include "e2e.h"

enum { CONTEXT = 0x7ec070b1, TO_SERVER = 0x40000000, WITHDRAW = 6, ENOUGH = 20000 };

int main(int argc, char **argv)
{
	unsigned char frame[18] = { WITHDRAW }, entry[12];
	char name[64];
	unsigned long long number = 1, said;
	int server;

	CHECK(argc == 2);
	CALL(pvm_mytid());
	/* An entry begins with the number of the space and its server. */
	snprintf(name, sizeof name, "neopvm.space:%s", argv[1]);
	CALL(pvm_setrbuf(CALL(pvm_recvinfo(name, 0, 0))));
	CALL(pvm_upkbyte((char *)entry, sizeof entry, 1));
	memcpy(frame + 2, entry, 8);
	server = entry[8] | entry[9] << 8 | entry[10] << 16 | entry[11] << 24;
	pvm_setcontext(CONTEXT);
	memcpy(frame + 10, &number, sizeof number);
	for (said = 0;; said++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte((char *)frame, sizeof frame, 1));
		CALL(pvm_send(server, TO_SERVER));
		if (said == ENOUGH)
			printf("begun\n");
	}
}
