/* looks NAME COUNT: asks COUNT times for the first tuples of the space NAME, and reads no answer. */
#include "e2e.h"

enum { CONTEXT = 0x7ec070b1, TO_SERVER = 0x40000000, LOOK = 5 };

int main(int argc, char **argv)
{
	unsigned char frame[26] = { LOOK }, entry[12];
	char name[64];
	unsigned long long number, tuples = 1000, count;
	int server;

	CHECK(argc == 3);
	count = atoi(argv[2]);
	CALL(pvm_mytid());
	/* An entry begins with the number of the space and its server. */
	snprintf(name, sizeof name, "neopvm.space:%s", argv[1]);
	CALL(pvm_setrbuf(CALL(pvm_recvinfo(name, 0, 0))));
	CALL(pvm_upkbyte((char *)entry, sizeof entry, 1));
	memcpy(frame + 10, entry, 8);
	server = entry[8] | entry[9] << 8 | entry[10] << 16 | entry[11] << 24;
	pvm_setcontext(CONTEXT);
	memcpy(frame + 18, &tuples, sizeof tuples);
	for (number = 1; number <= count; number++) {
		memcpy(frame + 2, &number, sizeof number);
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte((char *)frame, sizeof frame, 1));
		CALL(pvm_send(server, TO_SERVER));
	}
	printf("said\n");
	fflush(stdout);
	for (;;)
		pause();
}
