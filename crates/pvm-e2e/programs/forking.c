/* forking: the child of a fork is not enrolled, may enrol and is another task, and the parent goes on. */
#include "e2e.h"

static void echo(void)
{
	int parent = CALL(pvm_parent()), i;
	while ((i = receive_int(parent, 1)) >= 0)
		send_int(parent, 2, i);
	pvm_exit();
}

static void talk(int peer, int rounds)
{
	int i;
	for (i = 0; i < rounds; i++) {
		send_int(peer, 1, i);
		CHECK(receive_int(peer, 2) == i);
	}
}

int main(int argc, char **argv)
{
	int me, peer, status, child, i;
	if (argc > 1) {
		echo();
		return 0;
	}
	me = CALL(pvm_mytid());
	peer = spawn_one("forking", "echo", 0, 0);
	talk(peer, 100);
	/* One that only ends, and one that ends by exit() with its handlers. */
	for (i = 0; i < 2; i++) {
		if ((child = fork()) == 0) {
			if (i)
				exit(0);
			_exit(0);
		}
		talk(peer, 100);
		CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
	/* One that enrols in the middle of a message of its parent's. */
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&me, 1, 1));
	if ((child = fork()) == 0) {
		int mine, i;
		mine = CALL(pvm_mytid());
		CHECK(mine != me && mine > 0);
		for (i = 0; i < 500; i++)
			send_numbered(me, 5, i);
		CHECK(receive_int(me, 6) == mine);
		pvm_exit();
		exit(0);
	}
	CALL(pvm_pkint(&peer, 1, 1));
	CALL(pvm_send(me, 4)); /* To itself: still the parent's own message. */
	talk(peer, 500);
	for (i = 0; i < 500; i++)
		receive_numbered(-1, 5, i);
	{
		int bytes, tag, from, got[2];
		CALL(pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &from));
		CHECK(from != me && from != peer);
		send_int(from, 6, from);
		CALL(pvm_recv(me, 4));
		CALL(pvm_upkint(got, 2, 1));
		CHECK(got[0] == me && got[1] == peer);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	talk(peer, 500);
	/* A child that lives on while its parent ends: the parent's end is told all the same. */
	if ((child = fork()) == 0) {
		pause_ms(3000);
		_exit(0);
	}
	send_int(peer, 1, -1);
	CHECK(pvm_mytid() == me);
	_exit(0);
}
