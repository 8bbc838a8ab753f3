/* tokens N ROUNDS [PAUSE_US]: N tasks in a ring pass on a token; each tells at its end what it has sent
   and taken, which a trace of the run must have, too. */
#include "e2e.h"
#include "neopvm.h"

#define MOST 16

int main(int argc, char **argv)
{
	int me = CALL(pvm_mytid()), parent = pvm_parent();
	int n = argc > 1 ? atoi(argv[1]) : 3, rounds = argc > 2 ? atoi(argv[2]) : 100, pause = argc > 3 ? atoi(argv[3]) : 0;
	int tids[MOST], i, place = 0, value = 0, sent = 0, taken = 0;
	if (parent < 0) {
		if (n > 1)
			CHECK(CALL(pvm_spawn("tokens", argv + 1, 0, 0, n - 1, tids + 1)) == n - 1);
		tids[0] = me;
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(tids, n, 1));
		CALL(pvm_mcast(tids + 1, n - 1, 9));
		sent += n - 1;
	} else {
		CALL(pvm_recv(parent, 9));
		taken++;
		CALL(pvm_upkint(tids, n, 1));
	}
	while (tids[place] != me)
		place++;
	for (i = 0; i < rounds; i++) {
		if (place > 0) {
			value = receive_int(-1, 1);
			taken++;
		}
		if (pause)
			usleep(pause);
		send_int(tids[(place + 1) % n], 1, value + 1);
		sent++;
		if (place == 0) {
			value = receive_int(-1, 1);
			taken++;
			CHECK(neopvm_progress("rounds", i + 1, rounds) == 0);
		}
	}
	printf("sent %d taken %d\n", sent, taken);
	fflush(stdout);
	pvm_exit();
	return 0;
}
