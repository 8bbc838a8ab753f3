/* A host goes and comes again: pvm_delhosts, pvm_addhosts, HostDelete, HostAdd and TaskExit, what is left of its tasks. */
#include "common.h"

static void child(void)
{
	pvm_mytid();
	send_int(pvm_parent(), 1, 0);
	rest_until_told();
	pvm_exit();
}

static int start_on(char *host)
{
	char *args[2];
	int tid = 0;

	args[0] = "child";
	args[1] = (char *)0;
	printf("spawn on %s = %s\n", host, code(pvm_spawn(my_path, args, PvmTaskHost, host, 1, &tid)));
	if (tid > 0)
		recv_int(tid, 1);
	else
		printf("tid %s\n", code(tid));
	return tid;
}

/* The original's table needs a moment after hosts have gone. */
static void show_hosts(void)
{
	struct pvmhostinfo *h;
	int n = -1, a = -1, k;

	sleep(1);
	SHOW(pvm_config(&n, &a, &h));
	printf("hosts %d formats %d:", n, a);
	for (k = 0; k < n; k++)
		printf(" %s=%x", h[k].hi_name, h[k].hi_tid);
	printf("\n");
}

static void notice(int tag, char *what)
{
	struct timeval limit;
	int n = 0, value, id, src;

	limit.tv_sec = 10;
	limit.tv_usec = 0;
	id = pvm_trecv(-1, tag, &limit);
	if (id <= 0) {
		printf("%s: none\n", what);
		return;
	}
	pvm_bufinfo(id, &n, (int *)0, &src);
	printf("%s: %d bytes:", what, n);
	for (n /= 4; n > 0; n--) {
		pvm_upkint(&value, 1, 1);
		printf(" %x", value & 0xfffff ? value & 0xfffff : value);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	char *one[1], *three[3], *self[1];
	int infos[3], there, here, dtid;

	if (*begin(argc, argv)) {
		child();
		return 0;
	}
	pvm_mytid();
	one[0] = "h3";
	self[0] = "h1";
	three[0] = "h2", three[1] = "h3", three[2] = "no-such-host";
	show_hosts();
	SHOW(pvm_mstat("h3"));
	SHOW(pvm_mstat("no-such-host"));
	SHOW(pvm_addhosts(one, 1, infos));
	printf("infos %s\n", code(infos[0]));
	SHOW(pvm_addhosts(self, 1, infos));
	printf("infos %s\n", code(infos[0]));
	there = start_on("h3");
	here = start_on("h2");
	dtid = pvm_tidtohost(there);
	SHOW(pvm_notify(PvmTaskExit, 10, 1, &there));
	SHOW(pvm_notify(PvmHostDelete, 11, 1, &dtid));
	SHOW(pvm_notify(PvmHostAdd, 12, -1, (int *)0));
	SHOW(pvm_delhosts(one, 1, infos));
	printf("infos %s\n", code(infos[0]));
	notice(11, "host");
	notice(10, "task is T");
	SHOW(pvm_mstat("h3"));
	SHOW(pvm_pstat(there));
	SHOW(pvm_pstat(here));
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_send(there, 1));
	SHOW(pvm_kill(there));
	SHOW(pvm_delhosts(one, 1, infos));
	printf("infos %s\n", code(infos[0]));
	SHOW(pvm_delhosts(self, 1, infos));
	printf("infos %s\n", code(infos[0]));
	start_on("h3");
	show_hosts();
	SHOW(pvm_addhosts(three, 3, infos));
	printf("infos %s %s %s\n", code(infos[0]), handle(infos[1]), code(infos[2]));
	notice(12, "host added");
	show_hosts();
	SHOW(pvm_mstat("h3"));
	there = start_on("h3");
	SHOW(pvm_pstat(there));
	tell_end(there);
	wait_gone(there);
	tell_end(here);
	wait_gone(here);
	SHOW(pvm_delhosts(three, 3, infos));
	printf("infos %s %s %s\n", code(infos[0]), code(infos[1]), code(infos[2]));
	show_hosts();
	pvm_exit();
	return 0;
}
