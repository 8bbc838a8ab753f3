/* full: a send that finds no credit sleeps between its tries, however many messages arrive meanwhile: they are taken in, and neither
   they nor what its host answers make the next wait end at once. */
#include "e2e.h"
#include "neopvm.h"
#include "pvmtev.h"

#define BIG 1000000
#define COUNT 60
#define MESSAGES 60
#define ROOM 60000

static struct neopvm_record records[ROOM];
static char big[BIG];

static void talker(int parent)
{
	int to, i;
	while ((to = receive_int(parent, 1)) > 0) {
		for (i = 0; i < MESSAGES; i++) {
			/* Rarer than the sender tries again by itself. */
			pause_ms(23);
			send_int(to, 5, i);
		}
		send_int(parent, 2, 0);
	}
}

/* Waits that were over before anything can have come; all of them where there were too few to tell. */
static int in_vain(void)
{
	uint64_t count = 0, dropped = 1, i;
	int found = 0, waits = 0;
	CHECK(neopvm_read_records(pvm_mytid(), records, ROOM, &count, &dropped) == 0 && dropped == 0);
	for (i = 0; i < count; i++)
		if (records[i].kind == NEOPVM_RECORD_WAIT && records[i].call == TEV_SEND) {
			found += records[i].length_ns < 2000;
			waits++;
		}
	printf("waits %d\n", waits);
	return waits < MESSAGES ? MESSAGES : found;
}

static void sender(int parent)
{
	int i, vain;
	while (receive_int(parent, 1) > 0) {
		CHECK(neopvm_set_probes(pvm_mytid(), 1) == 0);
		for (i = 0; i < COUNT; i++) {
			CALL(pvm_initsend(PvmDataRaw));
			CALL(pvm_pkbyte(big, BIG, 1));
			CALL(pvm_send(parent, 3));
		}
		CHECK(neopvm_set_probes(pvm_mytid(), 0) == 0);
		vain = in_vain();
		for (i = 0; i < MESSAGES; i++)
			CHECK(receive_int(-1, 5) == i);
		printf("in vain %d\n", vain);
		send_int(parent, 2, vain);
	}
}

int main(int argc, char **argv)
{
	char *args[] = {"sender", 0};
	int parent, tids[2], tries = 0, vain, i;
	setenv("PVM_SPILL", "block", 1);
	parent = pvm_parent();
	if (parent > 0) {
		if (strcmp(argv[1], "sender") == 0)
			sender(parent);
		else
			talker(parent);
		pvm_exit();
		return 0;
	}
	CALL(pvm_mytid());
	CHECK(pvm_spawn("full", args, PvmTaskDefault, "", 1, tids) == 1);
	args[0] = "talker";
	CHECK(pvm_spawn("full", args, PvmTaskDefault, "", 1, tids + 1) == 1);
	/* On a busy computer a message may come while the sender wants a processor, and then its next wait ends at once, rightly.
	   What the test is about ends a wait at once for each message, always. */
	do {
		CHECK(tries++ < 20);
		send_int(tids[0], 1, 1);
		send_int(tids[1], 1, tids[0]);
		/* The sender is full long before. */
		receive_int(tids[1], 2);
		for (i = 0; i < COUNT; i++)
			CALL(pvm_recv(tids[0], 3));
		vain = receive_int(tids[0], 2);
		printf("of %d messages %d made a wait end at once\n", MESSAGES, vain);
	} while (vain >= MESSAGES / 2);
	for (i = 0; i < 2; i++)
		send_int(tids[i], 1, 0);
	pvm_exit();
	return 0;
}
