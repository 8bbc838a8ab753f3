/* pingpong ROUNDS: two tasks, the second made by fork before either enrols, send 8 bytes to and fro; at
   the end a message with a text that a trace of the system calls would show. */
#include "e2e.h"

static void send_text(int to)
{
	char text[2000];
	int i;
	for (i = 0; i < (int)sizeof text; i++)
		text[i] = "PAYLOAD-"[i % 8];
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkbyte(text, sizeof text, 1));
	CALL(pvm_send(to, 2));
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), i, way[2], peer;
	long value;
	double start;
	CHECK(pipe(way) == 0);
	if (fork() == 0) {
		CALL(pvm_mytid());
		CHECK(read(way[0], &peer, sizeof peer) == sizeof peer);
		send_int(peer, 1, 0);
		for (i = 0; i < rounds; i++) {
			CALL(pvm_recv(peer, 1));
			CALL(pvm_upklong(&value, 1, 1));
			CHECK(value == i);
			CALL(pvm_initsend(PvmDataRaw));
			CALL(pvm_pklong(&value, 1, 1));
			CALL(pvm_send(peer, 1));
		}
		for (i = 0; i < 100; i++) {
			CALL(pvm_recv(peer, 2));
			send_text(peer);
		}
		pvm_exit();
		return 0;
	}
	i = CALL(pvm_mytid());
	CHECK(write(way[1], &i, sizeof i) == sizeof i);
	CALL(pvm_recv(-1, 1));
	CALL(pvm_bufinfo(pvm_getrbuf(), 0, 0, &peer));
	start = now();
	for (i = 0; i < rounds; i++) {
		value = i;
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pklong(&value, 1, 1));
		CALL(pvm_send(peer, 1));
		CALL(pvm_recv(peer, 1));
		CALL(pvm_upklong(&value, 1, 1));
		CHECK(value == i);
	}
	printf("one way %.3f us\n", (now() - start) / rounds / 2 * 1e6);
	for (i = 0; i < 100; i++) {
		send_text(peer);
		CALL(pvm_recv(peer, 2));
	}
	pvm_exit();
	wait(0);
	return 0;
}
