/* pvm_config, pvm_tasks, pvm_pstat, pvm_mstat, pvm_tidtohost, pvm_archcode, pvm_getfds, pvm_hostsync ... */
#include "common.h"
#include <poll.h>

static void child(void)
{
	pvm_mytid();
	send_int(pvm_parent(), 1, 0);
	rest_until_told();
	pvm_exit();
}

static void show(char *what, int where)
{
	struct pvmtaskinfo *t;
	int n = -1, k, cc;

	cc = pvm_tasks(where, &n, &t);
	printf("tasks %s: %s, %d\n", what, code(cc), n);
	for (k = 0; k < n && cc >= 0; k++)
		printf("  %s parent %s host ok %d flags %d name <%s> pid %d\n", who(t[k].ti_tid), who(t[k].ti_ptid),
			t[k].ti_host == pvm_tidtohost(t[k].ti_tid), t[k].ti_flag,
			strcmp(t[k].ti_a_out, my_path) ? t[k].ti_a_out : "this program", t[k].ti_pid > 0);
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *h;
	int n = -1, a = -1, me, kids[2], k, *fds;
	char name[300];
	struct timeval clk, delta, now;
	struct pollfd p;

	if (*begin(argc, argv)) {
		child();
		return 0;
	}
	who(me = pvm_mytid());
	SHOW(pvm_config(&n, &a, &h));
	printf("hosts %d formats %d\n", n, a);
	gethostname(name, sizeof name);
	printf("name is this host's %d, arch %s, speed %d, tid is mine %d, dsig is archcode %d\n", !strncmp(h[0].hi_name, name, strlen(h[0].hi_name)),
		h[0].hi_arch, h[0].hi_speed, h[0].hi_tid == pvm_tidtohost(me), h[0].hi_dsig == pvm_archcode("LINUX64"));
	printf("archcode %x\n", pvm_archcode("LINUX64"));
	SHOW(pvm_mstat(h[0].hi_name));
	SHOW(pvm_pstat(me));
	spawn_self("child", 2, kids);
	for (k = 0; k < 2; k++) {
		who(kids[k]);
		recv_int(kids[k], 1);
	}
	SHOW(pvm_pstat(kids[0]));
	show("all", 0);
	show("of the host", h[0].hi_tid);
	show("mine", me);
	show("child", kids[1]);
	tell_end(kids[0]);
	wait_gone(kids[0]);
	show("after one has gone", 0);
	tell_end(kids[1]);
	wait_gone(kids[1]);
	{
		static char *args[] = { "20", (char *)0 };

		pvm_spawn("/bin/sleep", args, PvmTaskDefault, "", 1, kids);
		show("not enrolled", kids[0]);
		pvm_kill(kids[0]);
		wait_gone(kids[0]);
	}
	/* the descriptors become readable when a message comes */
	n = pvm_getfds(&fds);
	printf("descriptors %d\n", n > 0);
	spawn_self("child", 1, kids);
	p.fd = fds[0];
	p.events = POLLIN;
	p.revents = 0;
	if (pvm_nrecv(-1, 1) <= 0) {
		k = poll(&p, 1, 10000);
		printf("readable %d\n", k);
		recv_int(kids[0], 1);
	} else
		printf("readable 1\n");
	tell_end(kids[0]);
	wait_gone(kids[0]);

	SHOW(pvm_hostsync(pvm_tidtohost(me), &clk, &delta));
	gettimeofday(&now, (struct timezone *)0);
	printf("clock near %d, delta small %d\n", labs((long)(now.tv_sec - clk.tv_sec)) < 3, labs((long)delta.tv_sec) <= 1);
	SHOW(pvm_hostsync(pvm_tidtohost(me), (struct timeval *)0, (struct timeval *)0));
	SHOW(pvm_hostsync(0x900000, &clk, &delta));
	pvm_exit();
	return 0;
}
