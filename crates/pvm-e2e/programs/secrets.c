/* secrets HOST WORD: sends WORD in every way that there is to a task on HOST: as argument, text, numbers of three kinds, by both
   routes, in a mailbox, in a group's name, as output, as traced environment. Whoever listens to the wire looks for it. */
#include "e2e.h"

static int numbers[8] = {1938472615, -1029384756, 1717171717, 1234567891, -1987654321, 1357913579, -1246812468, 2020202021};
static double reals[4] = {3.1415926535e87, -2.7182818284e-65, 1.6180339887e43, -1.4142135623e21};

static void pack(int encoding, char *word)
{
	CALL(pvm_initsend(encoding));
	if (encoding != PvmDataInPlace)
		CALL(pvm_pkstr(word));
	else
		CALL(pvm_pkbyte(word, (int)strlen(word) + 1, 1));
	CALL(pvm_pkint(numbers, 8, 1));
	CALL(pvm_pkdouble(reals, 4, 1));
}

static void unpack(int encoding, char *word)
{
	static char got[100];
	int ints[8];
	double doubles[4];
	if (encoding != PvmDataInPlace)
		CALL(pvm_upkstr(got));
	else
		CALL(pvm_upkbyte(got, (int)strlen(word) + 1, 1));
	CALL(pvm_upkint(ints, 8, 1));
	CALL(pvm_upkdouble(doubles, 4, 1));
	CHECK(strcmp(got, word) == 0);
	CHECK(memcmp(ints, numbers, sizeof ints) == 0);
	CHECK(memcmp(doubles, reals, sizeof doubles) == 0);
}

static void talk(int other, char *word)
{
	int route, i;
	for (route = PvmDontRoute; route <= PvmRouteDirect; route++) {
		CALL(pvm_setopt(PvmRoute, route));
		for (i = 0; i < 30; i++) {
			pack(encodings[i % 3], word);
			CALL(pvm_send(other, 5));
			CALL(pvm_recv(other, 5));
			unpack(encodings[i % 3], word);
		}
	}
}

static void in_common(char *word)
{
	char name[120];
	int index;
	sprintf(name, "group-%s", word);
	CALL(pvm_joingroup(name));
	CALL(pvm_barrier(name, 2));
	sprintf(name, "box-%s", word);
	if (pvm_parent() > 0) {
		pack(PvmDataDefault, word);
		CALL(pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault));
		send_int(pvm_parent(), 6, 0);
	} else {
		receive_int(-1, 6);
		index = CALL(pvm_recvinfo(name, 0, PvmMboxDefault));
		CALL(pvm_setrbuf(index));
		unpack(PvmDataDefault, word);
	}
	sprintf(name, "group-%s", word);
	CALL(pvm_barrier(name, 2));
}

int main(int argc, char **argv)
{
	char *args[3];
	int tid;
	if (pvm_parent() > 0) {
		printf("output of a task: %s\n", argv[2]);
		talk(pvm_parent(), argv[2]);
		in_common(argv[2]);
		pvm_exit();
		return 0;
	}
	args[0] = argv[1], args[1] = argv[2], args[2] = 0;
	CALL(pvm_catchout(stdout));
	CHECK(pvm_spawn(argv[0], args, PvmTaskHost, argv[1], 1, &tid) == 1);
	talk(tid, argv[2]);
	in_common(argv[2]);
	pvm_exit();
	printf("said\n");
	return 0;
}
