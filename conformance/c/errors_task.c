/* Odd input to the calls on tasks, hosts and notices: the table of results. */
#include "common.h"

#define SPAWN(file, flag, where, n)                                                        \
	{                                                                                  \
		int ids[4], got, k;                                                        \
		for (k = 0; k < 4; k++) ids[k] = 77;                                       \
		got = pvm_spawn(file, (char **)0, flag, where, n, ids);                    \
		printf("spawn(%s, %s, \"%s\", %s) = %s:", #file, #flag, where, #n, code(got)); \
		for (k = 0; k < 3; k++) printf(" %s", ids[k] == 77 ? "untouched" : handle(ids[k]));  \
		printf("\n");                                                              \
	}

int main(int argc, char **argv)
{
	int list[2], info[2], n, nhost, narch;
	struct pvmhostinfo *hosts;
	struct pvmtaskinfo *tasks;
	char *names[2];

	begin(argc, argv);
	pvm_mytid();
	SPAWN("no-such-program", PvmTaskDefault, "", 1)
	SPAWN("no-such-program", PvmTaskDefault, "", 3)
	SPAWN("/no/such/program", PvmTaskDefault, "", 1)
	SPAWN("/etc/passwd", PvmTaskDefault, "", 1)
	SPAWN("/tmp", PvmTaskDefault, "", 1)
	SPAWN("/bin/true", PvmTaskDefault, "", 0)
	SPAWN("/bin/true", PvmTaskDefault, "", -1)
	SPAWN("/bin/true", PvmTaskHost, "no-such-host", 1)
	SPAWN("/bin/true", PvmTaskHost, "no-such-host", 2)
	SPAWN("/bin/true", PvmTaskHost, "", 1)
	SPAWN("/bin/true", PvmTaskHost, ".", 1)
	SPAWN("/bin/true", PvmTaskArch, "NOARCH", 1)
	SPAWN("/bin/true", PvmTaskArch, "LINUX64", 2)
	SPAWN("/bin/true", PvmTaskArch, "", 1)
	SPAWN("/bin/true", PvmTaskHost + PvmHostCompl, ".", 1)
	SPAWN("/bin/true", PvmTaskHost + PvmHostCompl, "no-such-host", 1)
	SPAWN("/bin/true", 4096, "", 1)
	SPAWN("", PvmTaskDefault, "", 1)
	printf("spawn without a list of ids = %s\n",
		code(pvm_spawn("/bin/true", (char **)0, PvmTaskDefault, (char *)0, 1, (int *)0)));

	SHOW(pvm_kill(0));
	SHOW(pvm_kill(-1));
	SHOW(pvm_kill((int)0x80040000));
	SHOW(pvm_kill(0x40000));
	SHOW(pvm_kill(0x40fff));
	SHOW(pvm_sendsig(0, 15));
	SHOW(pvm_sendsig(-1, 15));
	SHOW(pvm_sendsig((int)0x80040000, 15));
	SHOW(pvm_sendsig(0x40fff, 15));
	SHOW(pvm_sendsig(0x40fff, -1));
	SHOW(pvm_pstat(pvm_mytid()));
	SHOW(pvm_pstat(0));
	SHOW(pvm_pstat(-1));
	SHOW(pvm_pstat((int)0x80040000));
	SHOW(pvm_pstat(0x40000));
	SHOW(pvm_pstat(0x40fff));
	SHOW(pvm_pstat(0x80001));
	SHOW(pvm_mstat("no-such-host"));
	SHOW(pvm_mstat("."));
	SHOW(pvm_mstat(""));

	names[0] = "no-such-host.invalid";
	info[0] = info[1] = 77;
	SHOW(pvm_addhosts(names, 0, info));
	SHOW(pvm_addhosts(names, -1, info));
	SHOW(pvm_delhosts(names, 0, info));
	SHOW(pvm_delhosts(names, -1, info));
	SHOW(pvm_delhosts(names, 1, info));
	printf("info %s\n", code(info[0]));
	SHOW(pvm_delhosts(names, 1, (int *)0));
	SHOW(pvm_config(&nhost, &narch, &hosts));
	names[0] = hosts[0].hi_name;
	SHOW(pvm_delhosts(names, 1, info));
	printf("info %s\n", code(info[0]));
	SHOW(pvm_config((int *)0, (int *)0, (struct pvmhostinfo **)0));
	SHOW(pvm_start_pvmd(0, (char **)0, 0));

	list[0] = 0x40fff;
	list[1] = 0;
	SHOW(pvm_notify(99, 1, 1, list));
	SHOW(pvm_notify(0, 1, 1, list));
	SHOW(pvm_notify(PvmTaskExit, -1, 1, list));
	SHOW(pvm_notify(PvmTaskExit, 1, 0, list));
	SHOW(pvm_notify(PvmTaskExit, 1, -1, list));
	SHOW(pvm_notify(PvmTaskExit, 1, 2, list));
	list[0] = -1;
	SHOW(pvm_notify(PvmTaskExit, 1, 1, list));
	list[0] = (int)0x80040000;
	SHOW(pvm_notify(PvmTaskExit, 1, 1, list));
	SHOW(pvm_notify(PvmHostAdd, 1, 1, (int *)0));
	SHOW(pvm_notify(PvmHostAdd, 1, 0, (int *)0));
	SHOW(pvm_notify(PvmHostAdd, 1, -1, (int *)0));

	n = 77;
	SHOW(pvm_tasks(0x40fff, &n, &tasks));
	printf("n %d\n", n);
	SHOW(pvm_tasks(0x80000, &n, &tasks));
	SHOW(pvm_tasks(-1, &n, &tasks));
	SHOW(pvm_tasks(0, (int *)0, (struct pvmtaskinfo **)0));
	printf("tidtohost %x %x %x\n", pvm_tidtohost(0x40001), pvm_tidtohost(0), pvm_tidtohost(-1));
	SHOW(pvm_archcode("NOARCH"));
	SHOW(pvm_archcode(""));
	SHOW(pvm_parent());
	{
		int *sibs;

		SHOW(pvm_siblings(&sibs));
		printf("myself %d\n", sibs[0] == pvm_mytid());
	}
	SHOW(pvm_delmhf(4711));
	SHOW(pvm_delmhf(-1));
	SHOW(pvm_freecontext(4711));
	SHOW(pvm_freecontext(-1));
	pvm_exit();
	return 0;
}
