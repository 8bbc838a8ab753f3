/* A message to a task of another host, sent while the daemon is kept from looking at its lane. Its sender ends behind it:
 * who asked for that is told behind the message. */
#include "e2e.h"

enum { READY = 1, NUMBER, GONE };

static char *in_home(const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s", getenv("HOME"), name);
	return path;
}

static void receiver(int sender)
{
	int tag = 0;

	CALL(pvm_notify(PvmTaskExit, GONE, 1, &sender));
	send_int(sender, READY, 0);
	CALL(pvm_bufinfo(CALL(pvm_recv(-1, -1)), 0, &tag, 0));
	CHECK(tag == NUMBER);
	CALL(pvm_recv(-1, GONE));
	write_file(in_home("come"), 1);
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *host;
	int hosts = 0, tid = 0;

	CALL(pvm_mytid());
	if (pvm_parent() > 0) {
		receiver(pvm_parent());
	} else {
		CALL(pvm_config(&hosts, 0, &host));
		CHECK(hosts == 2 && argc == 1);
		CHECK(pvm_spawn(argv[0], 0, PvmTaskHost, host[1].hi_name, 1, &tid) == 1);
		receive_int(tid, READY);
		write_file(in_home("ready"), 1);
		await_file(in_home("go"));
		send_int(tid, NUMBER, 77);
		printf("sent\n");
	}
	pvm_exit();
	return 0;
}
