/*
 * A hoster: what it is told when hosts are added, and what its answers do. It is a process of its own, on h1; it starts the
 * daemons by ssh with the command that it is told.
 */
#include "plug.h"

static char mode[40];
static int examiner;

/* The first line that a command on another host writes. */
static void run_there(char *login, char *command, char *line, int size)
{
	int ends[2], pid, fd;
	FILE *from;

	*line = 0;
	if (pipe(ends) != 0)
		return;
	if ((pid = fork()) == 0) {
		dup2(ends[1], 1);
		dup2(open("/dev/null", O_RDONLY), 0);
		for (fd = 3; fd < 256; fd++)
			close(fd);
		execlp("ssh", "ssh", login, command, (char *)0);
		_exit(99);
	}
	close(ends[1]);
	from = fdopen(ends[0], "r");
	if (fgets(line, size, from) && strchr(line, '\n'))
		*strchr(line, '\n') = 0;
	fclose(from);
	waitpid(pid, (int *)0, 0);
}

static void serve(int bufid)
{
	int i, n, number, tids[8], wid = wait_id(bufid), count;
	char *logins[8], *commands[8], line[8][4000];

	n = get_int();
	printf("  SM_STHOST: from %s, %d of them\n", source(bufid) == DAEMON ? "the daemon" : "another", n);
	for (i = 0; i < n && i < 8; i++) {
		tids[i] = get_int();
		printf("   %s, so '%s',", pvm_tidtohost(tids[i]) == tids[i] && tids[i] > 0x40000 ? "a host's id" : "some number", get_text());
		logins[i] = get_text();
		commands[i] = get_text();
		get_text();
		printf(" login '%s', command %s, machine '%s'\n", logins[i], *commands[i] ? "given" : "missing", strcmp(get_text(), "") ? "set" : "");
	}
	printf("  that is%s all\n", at_end() ? "" : " not");
	fflush(stdout);
	for (i = 0; i < n && i < 8; i++) {
		strcpy(line[i], mode);
		if (!strcmp(mode, "good") || (!strcmp(mode, "one") && i == 1))
			run_there(logins[i], commands[i], line[i], 4000);
		else if (!strcmp(mode, "one"))
			strcpy(line[i], "PvmDSysErr");
	}
	if (!strcmp(mode, "die"))
		exit(0);
	count = !strcmp(mode, "more") ? n + 1 : n;
	pvm_initsend(!strcmp(mode, "raw") ? PvmDataRaw : PvmDataDefault);
	put_int(count);
	for (i = n - 1; i >= 0; i--) {
		number = !strcmp(mode, "unknown") ? 0xfff0000 : tids[i];
		put_int(number);
		pvm_pkstr(line[i]);
	}
	/* Nobody waits for these two. */
	send_with(wid + 1000, DAEMON, SM_STHOSTACK);
	send_with(wid, DAEMON, SM_ADDACK);
	send_with(wid, !strcmp(mode, "good") ? (int)0x80040000 : DAEMON, SM_STHOSTACK);
}

static void hoster(void)
{
	int bufid;

	pvm_setopt(PvmResvTids, 1);
	send_int(examiner, 30, pvm_reg_hoster());
	while ((bufid = pvm_recv(-1, -1)) > 0) {
		struct pvmminfo info;
		pvm_getminfo(bufid, &info);
		if (info.tag == SM_STHOST)
			serve(bufid);
		else {
			strcpy(mode, get_text());
			send_int(examiner, 31, 0);
			if (!strcmp(mode, "quit"))
				return;
		}
	}
}

static int hoster_tid, hoster_pid;

static void start_hoster(void)
{
	char text[20];

	sprintf(text, "%d", pvm_mytid());
	setenv("EXAMINER", text, 1);
	hoster_pid = start_process("hoster", (char *)0, (char **)0);
	pvm_recv(-1, 30);
	hoster_tid = source(pvm_getrbuf());
	printf("registered: %s\n", code(get_int()));
}

static void try(char *how, char *first, char *second)
{
	char *names[2];
	int infos[2] = { 0, 0 }, cc;

	printf("-- %s: %s, %s\n", how, first, second);
	if (hoster_tid) {
		pvm_initsend(PvmDataDefault);
		pvm_pkstr(how);
		pvm_send(hoster_tid, 30);
		pvm_recv(hoster_tid, 31);
	}
	names[0] = first;
	names[1] = second;
	cc = pvm_addhosts(names, 2, infos);
	printf("pvm_addhosts: %s; %s %s\n", code(cc), infos[0] > 0 ? "id" : code(infos[0]), infos[1] > 0 ? "id" : code(infos[1]));
}

static void show_hosts(void)
{
	struct pvmhostinfo *hosts;
	int n = 0, i, number;

	sleep(1);
	pvm_config(&n, (int *)0, &hosts);
	/* Their order is that of their answers. */
	printf("%d hosts:", n);
	for (number = 1; number <= 3; number++)
		for (i = 0; i < n; i++)
			if (hosts[i].hi_name[1] - '0' == number)
				printf(" %s", hosts[i].hi_name);
	printf("\n");
}

static void delete_both(void)
{
	char *names[2];
	int infos[2];

	names[0] = "h2";
	names[1] = "h3";
	pvm_delhosts(names, 2, infos);
	printf("deleted: %s %s\n", code(infos[0]), code(infos[1]));
	show_hosts();
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv), *args[2];
	int tid;

	if (!strcmp(role, "hoster")) {
		examiner = atoi(getenv("EXAMINER"));
		pvm_mytid();
		hoster();
		pvm_exit();
		return 0;
	}
	if (!strcmp(role, "there")) {
		send_int(pvm_parent(), 40, pvm_reg_hoster());
		pvm_exit();
		return 0;
	}
	alarm(60);
	pvm_mytid();
	args[0] = "there";
	args[1] = (char *)0;
	pvm_spawn(my_path, args, PvmTaskHost, "h2", 1, &tid);
	printf("on another host: %s\n", code(recv_int(tid, 40)));
	wait_gone(tid);
	delete_both();
	start_hoster();
	try("PvmCantStart", "h2", "h3 so=pw lo=root");
	try("PvmDupHost", "h2", "h1");
	try("PvmNoHost", "h2", "h3");
	try("PvmDSysErr", "h2", "h3");
	try("PvmWhatever", "h2", "h3");
	try("PvmOk", "h2", "h3");
	try("some text", "h2", "h3");
	try("unknown", "h2", "h3");
	try("more", "h2", "h3");
	try("raw", "h2", "h3");
	show_hosts();
	try("one", "h2", "h3");
	show_hosts();
	delete_both();
	try("good", "h2", "h3");
	show_hosts();
	delete_both();
	try("die", "h2", "h3");
	waitpid(hoster_pid, (int *)0, 0);
	hoster_tid = 0;
	try("without a hoster", "h2", "h3");
	show_hosts();
	pvm_exit();
	return 0;
}
