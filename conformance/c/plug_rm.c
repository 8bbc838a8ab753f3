/*
 * A resource manager: what it is told when tasks of its host ask, what its answers do, and what it
 * may order. The examiner is the manager; those that ask are processes of their own.
 */
#include "plug.h"

static char *what;
static int manager;

/* An asker: does one call, and tells the manager what came of it. */
static void ask(void)
{
	char *names[3], *args[2];
	int i, n = -1, m = -1, cc, infos[3] = { 0, 0, 0 };
	struct pvmhostinfo *hosts = 0;
	struct pvmtaskinfo *tasks = 0;

	names[0] = "anna";
	names[1] = "berta sp=2";
	args[0] = "a b";
	args[1] = (char *)0;
	pvm_setopt(PvmOutputCode, 5);
	if (!strcmp(what, "config"))
		cc = pvm_config(&n, &m, &hosts);
	else if (!strcmp(what, "tasks"))
		cc = pvm_tasks(0x40000, &n, &tasks);
	else if (!strcmp(what, "spawn")) {
		args[0] = "kid";
		cc = pvm_spawn(my_path, args, PvmTaskHost, ".", 2, infos);
	} else if (!strcmp(what, "missing")) {
		cc = pvm_spawn("/no/such/program", args, 0, "", 1, infos);
	} else if (!strcmp(what, "add"))
		cc = pvm_addhosts(names, 2, infos);
	else if (!strcmp(what, "delete"))
		cc = pvm_delhosts(names, 2, infos);
	else if (!strcmp(what, "notify")) {
		infos[0] = manager;
		infos[1] = pvm_mytid();
		pvm_setcontext(77);
		cc = pvm_notify(PvmTaskExit, 9, 2, infos);
		pvm_recv(-1, 9);
		n = get_int();
		pvm_setcontext(0);
		infos[0] = infos[1] = 0;
	} else if (!strcmp(what, "hostadd"))
		cc = pvm_notify(PvmHostAdd, 9, -1, (int *)0);
	else if (!strcmp(what, "manager"))
		cc = pvm_reg_rm(&hosts);
	else if (!strcmp(what, "other"))
		cc = pvm_mstat(".") * 100 + pvm_pstat(pvm_mytid());
	else
		cc = -4711;
	pvm_initsend(PvmDataDefault);
	put_int(cc);
	put_int(n);
	put_int(m);
	pvm_pkint(infos, 3, 1);
	pvm_pkstr(hosts && n == 2 ? hosts[1].hi_name : "-");
	put_int(hosts && n == 2 ? hosts[1].hi_speed : 0);
	pvm_pkstr(tasks && n == 1 ? tasks[0].ti_a_out : "-");
	pvm_send(manager, 50);
}

static int asker, asker_pid;

/* Starts one; its enrolment is told. */
static void start(char *call)
{
	char text[20];

	printf("-- %s\n", call);
	sprintf(text, "%d", manager);
	setenv("MANAGER", text, 1);
	asker_pid = start_process("ask", call, (char **)0);
	pvm_recv(-1, SM_EXECACK);
	printf("SM_EXECACK: %d task; ", get_int());
	asker = get_int();
	printf("wid %s\n", wait_id(pvm_getrbuf()) ? "set" : "0");
}

/* The next message of the protocol; its fields are left to read. */
static int next(int tag)
{
	int bufid = pvm_recv(-1, tag);

	printf("%s: from %s, wid %s", tag_name(tag),
	    source(bufid) == asker ? "the asker" : source(bufid) == DAEMON ? "the daemon" : "another",
	    wait_id(bufid) ? "set" : "0");
	return wait_id(bufid);
}

static void end_line(void)
{
	printf("; %s\n", at_end() ? "no more" : "more");
}

/* What the asker says, and its end. */
static void finish(void)
{
	int cc, n, m, infos[3], tid;
	char *host, *task;
	int speed;

	pvm_recv(asker, 50);
	cc = get_int();
	n = get_int();
	m = get_int();
	pvm_upkint(infos, 3, 1);
	host = get_text();
	speed = get_int();
	task = get_text();
	printf("the call: %s; %d %d; %s %s %s; %s %d %s\n", code(cc), n > 0x40000 ? 1 : n, m, infos[0] > 0 ? "id" : code(infos[0]),
	    infos[1] > 0 ? "id" : code(infos[1]), code(infos[2]), host, speed, task);
	status_of(asker_pid);
	next(SM_TASKX);
	tid = get_int();
	n = get_int();
	printf(": %s, status %x", tid == asker ? "the asker" : "another", n);
	get_int(), get_int(), get_int(), get_int();
	end_line();
}

static void put_host(int tid, char *name, char *arch, int speed)
{
	put_int(tid);
	pvm_pkstr(name);
	pvm_pkstr(arch);
	put_int(speed);
	put_int(0x408c41);
}

/* An order of a spawn for the daemon, as asked or nearly. */
static int order(int parent, char *file, int flags, int count, int argc, char **args, int six[6])
{
	static int wid = 100;
	int i;

	pvm_initsend(PvmDataDefault);
	put_int(parent);
	pvm_pkstr(file);
	put_int(flags);
	put_int(count);
	put_int(argc);
	for (i = 0; i < argc; i++)
		pvm_pkstr(args[i]);
	pvm_pkint(six, 6, 1);
	put_int(2);
	pvm_pkstr("PVMCTX=0x2a");
	pvm_pkstr("GIVEN=by the manager");
	put_int(0);
	put_int(count);
	send_with(++wid, DAEMON, SM_EXEC);
	return wid;
}

static void spawning(void)
{
	char *file, *where, *args[4];
	int i, wid, flags, count, argc, n, six[6], tids[2], mine;

	wid = next(SM_SPAWN);
	file = get_text();
	flags = get_int();
	where = get_text();
	count = get_int();
	argc = get_int();
	printf(": %s, flags %d, where '%s', %d of them, %d argument\n", strcmp(file, my_path) ? file : "ours", flags, where, count, argc);
	for (i = 0; i < argc && i < 4; i++)
		args[i] = get_text();
	pvm_upkint(six, 6, 1);
	printf("  output %s %d %d, trace %s %d %d\n", code(six[0]), six[1], six[2], code(six[3]), six[4], six[5]);
	n = get_int();
	for (i = 0; i < n; i++) {
		char *variable = get_text();
		printf("  %s\n", strncmp(variable, "PVMTMASK=", 9) ? variable : "PVMTMASK");
	}
	printf("  that is%s all\n", at_end() ? "" : " not");
	mine = order(asker, file, flags, count, argc, args, six);
	printf(" as our order is: %s\n", next(SM_EXECACK) == mine ? "yes" : "no");
	n = get_int();
	printf("  %d:", n);
	for (i = 0; i < n && i < 2; i++) {
		tids[i] = get_int();
		printf(" %s", tids[i] > 0 ? "id" : code(tids[i]));
	}
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(n);
	pvm_pkint(tids, n, 1);
	send_with(wid, asker, SM_SPAWN);
	finish();
	for (i = 0; i < n && i < 2 && tids[i] > 0; i++) {
		pvm_initsend(PvmDataDefault);
		put_int(manager);
		pvm_send(tids[i], 60);
		pvm_setcontext(42);
		pvm_recv(tids[i], 61);
		pvm_setcontext(0);
		flags = get_int();
		file = get_text();
		printf("a child: parent %s, GIVEN=%s, context %d\n", flags == asker ? "the asker" : code(flags), file, get_int());
		next(SM_TASKX);
		flags = get_int();
		printf(": %s, status %x\n", flags == tids[i] ? "the child" : "another", get_int());
	}
}

static void show_notify(void)
{
	printf(": kind %d,", get_int());
	printf(" context %d,", get_int());
	printf(" tag %d,", get_int());
	printf(" %d of them,", get_int());
}

static void kid(void)
{
	int to;

	pvm_setcontext(0);
	pvm_recv(-1, 60);
	to = get_int();
	pvm_setcontext(42);
	pvm_initsend(PvmDataDefault);
	put_int(pvm_parent());
	pvm_pkstr(getenv("GIVEN") ? getenv("GIVEN") : "nothing");
	put_int(pvm_getcontext());
	pvm_send(to, 61);
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	struct pvmhostinfo *host = 0;
	struct pvmmboxinfo *boxes;
	int i, wid, n;

	if (!strcmp(role, "ask")) {
		what = argv[2];
		manager = atoi(getenv("MANAGER"));
		pvm_mytid();
		ask();
		pvm_exit();
		return 0;
	}
	if (!strcmp(role, "kid")) {
		kid();
		pvm_exit();
		return 5;
	}
	manager = pvm_mytid();
	pvm_setopt(PvmResvTids, 1);
	SHOW(pvm_reg_rm(&host));
	printf("host %s\n", host && host->hi_tid == pvm_tidtohost(manager) ? "is ours" : "is another");
	printf("flags %x\n", flags_of(manager));
	pvm_getmboxinfo("###_PVM_RM_###", &n, &boxes);
	printf("%d class, owner %s, flags %x\n", n, boxes->mi_owners[0] == manager ? "me" : "another", boxes->mi_flags[0]);

	start("config");
	wid = next(SM_CONFIG);
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(2);
	put_int(1);
	put_host(0x40000, "first", "ARCH", 7);
	put_host(0xfc0000, "second", "ARCH", 8);
	send_with(wid, asker, SM_CONFIG);
	finish();

	start("tasks");
	wid = next(SM_TASK);
	printf(": of %x", get_int());
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(0);
	put_int(0x40099);
	put_int(0x40001);
	put_int(0x40000);
	put_int(6);
	pvm_pkstr("program");
	put_int(4711);
	send_with(wid, asker, SM_TASK);
	finish();

	start("spawn");
	spawning();
	start("missing");
	spawning();

	start("add");
	wid = next(SM_ADDHOST);
	n = get_int();
	printf(": %d", n);
	for (i = 0; i < n; i++)
		printf(" '%s'", get_text());
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(2);
	put_int(0);
	put_host(0xc0000, "anna", "ARCH", 1000);
	put_host(PvmNoHost, "", "", 0);
	send_with(wid, asker, SM_ADDHOST);
	finish();

	start("delete");
	wid = next(SM_DELHOST);
	n = get_int();
	printf(": %d", n);
	for (i = 0; i < n; i++)
		printf(" '%s'", get_text());
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(2);
	put_int(0);
	put_int(PvmNoHost);
	send_with(wid, asker, SM_DELHOST);
	finish();

	start("notify");
	next(SM_NOTIFY);
	show_notify();
	i = get_int();
	printf(" %s and", i == manager ? "me" : "another");
	printf(" %s", get_int() == asker ? "the asker" : "another");
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(manager);
	pvm_setcontext(77);
	pvm_send(asker, 9);
	pvm_setcontext(0);
	finish();

	start("hostadd");
	next(SM_NOTIFY);
	show_notify();
	end_line();
	finish();

	start("manager");
	wid = next(SM_SCHED);
	end_line();
	pvm_initsend(PvmDataDefault);
	put_int(PvmDenied);
	send_with(wid, asker, SM_SCHED);
	finish();

	start("other");
	finish();

	printf("-- again\n");
	printf("pvm_reg_rm(&host) = %s\n", pvm_reg_rm(&host) == manager ? "me" : "another");
	pvm_getmboxinfo("###_PVM_RM_###", &n, &boxes);
	printf("flags %x, %d class, %d entry\n", flags_of(manager), n, n ? boxes->mi_nentries : 0);
	SHOW(pvm_exit());
	return 0;
}
