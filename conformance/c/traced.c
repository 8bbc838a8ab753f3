/* What a tracer is told, event by event: tasks that come and go, calls, events of a program's own, masks set from outside. */
#include "common.h"
#include "pvmtev.h"
#include "pvmproto.h"

#define TRACES 666
#define LINES 200

extern struct Pvmtevdid pvmtevdidlist[];
extern struct Pvmtevinfo pvmtevinfo[];

static int names[3 * (TEV_MAX + 1)][20], types[3 * (TEV_MAX + 1)][20], known[3 * (TEV_MAX + 1)];
static int ended;
/* Daemon and tasks are heard of in any order: each is shown by itself. */
static char lines[LINES][300];
static int sources[LINES], nlines;

static char *value(int did, int type)
{
	static char text[8][100];
	static int turn;
	char word[1000];
	char *slash;
	int number, count, i;
	long address;

	turn = (turn + 1) % 8;
	strcpy(text[turn], "?");
	if (type & TEV_DATA_ARRAY) {
		pvm_upkint(&count, 1, 1);
		sprintf(text[turn], "[%d]", count);
		for (i = 0; i < count; i++)
			pvm_upkint(&number, 1, 1);
	} else if (type == TEV_DATA_STRING) {
		pvm_upkstr(word);
		slash = strrchr(word, '/');
		sprintf(text[turn], "\"%.80s\"", slash ? strtok(slash + 1, ".") : word);
	} else if (type == TEV_DATA_LONG) {
		pvm_upklong(&address, 1, 1);
		strcpy(text[turn], "address");
	} else {
		pvm_upkint(&number, 1, 1);
		if (did == TEV_DID_TS || did == TEV_DID_TU)
			sprintf(text[turn], number >= 0 ? "time" : "%d", number);
		else if (did == TEV_DID_MB || did == TEV_DID_MSB || did == TEV_DID_MRB || did == TEV_DID_MHI)
			strcpy(text[turn], handle(number));
		else if (did == TEV_DID_RCX || did == TEV_DID_MCX)
			sprintf(text[turn], "%d", number);
		else
			strcpy(text[turn], number >= 0x40000 && number < 0x80000 ? who(number) : code(number));
	}
	return text[turn];
}

static void event(int mark, int source)
{
	int number, did, type, slot, k = 0, own = 0;
	char name[100], *line = lines[nlines], *text;

	pvm_upkint(&number, 1, 1);
	slot = 3 * (number & 0xfff) + (number & TEV_EVENT_ENTRY ? 0 : number & TEV_EVENT_EXIT ? 1 : 2);
	if (mark == TEV_MARK_EVENT_DESC)
		pvm_upkstr(name);
	/* The original's own handlers are told of, too, and so perhaps described first. */
	sprintf(line, "%s%s%s:", pvmtevinfo[number & 0xfff].name, slot % 3 == 0 ? " begins" : slot % 3 == 1 ? " ends" : "",
	    (number & 0xfff) == TEV_MHF_INVOKE ? "" : mark == TEV_MARK_EVENT_DESC ? " described" : " again");
	for (;;) {
		if (mark == TEV_MARK_EVENT_DESC) {
			pvm_upkint(&did, 1, 1);
			if (did == TEV_MARK_EVENT_DESC_END)
				break;
			pvm_upkint(&type, 1, 1);
			names[slot][k] = did;
			types[slot][k] = type;
			known[slot] = k + 1;
		} else if (k == known[slot])
			break;
		text = value(names[slot][k], types[slot][k]);
		if (names[slot][k] == TEV_DID_RCX && atoi(text) == SYSCTX_TC)
			own = 1;
		sprintf(line + strlen(line), " %s=%s", pvmtevdidlist[names[slot][k]].did, text);
		k++;
	}
	if (mark == TEV_MARK_EVENT_RECORD) {
		pvm_upkint(&did, 1, 1);
		if (did != TEV_MARK_EVENT_RECORD_END)
			strcat(line, " and no end");
	}
	ended += (number & 0xfff) == TEV_ENDTASK;
	if (!own && nlines < LINES - 1)
		sources[nlines++] = source;
}

static void table(void)
{
	int number, count = 0;
	char name[100], meaning[400];

	while (pvm_upkint(&number, 1, 1) == 0 && number != TEV_MARK_DATA_ID_END) {
		pvm_upkstr(name);
		pvm_upkstr(meaning);
		if (number != count || strcmp(name, pvmtevdidlist[number].did))
			printf("datum %d is called %s\n", number, name);
		count++;
	}
	sprintf(lines[nlines], "table of %d data", count);
}

static void own_event(int first)
{
	int item;

	sprintf(lines[nlines], "the program's own: %d", first);
	while (pvm_upkint(&item, 1, 1) == 0)
		sprintf(lines[nlines] + strlen(lines[nlines]), " %d", item);
}

/* All events of one source, if there are any. */
static void print_of(int source)
{
	int i, any = 0;

	for (i = 0; i < nlines; i++)
		if (sources[i] == source) {
			if (!any++)
				printf("from %s:\n", source ? who(source) : "the daemon");
			printf("  %s\n", lines[i]);
		}
}

/* Collects what comes until so many tasks have ended, then shows it by source. */
static void collect(int tasks)
{
	int bytes, tag, source, mark, i, j;

	for (ended = nlines = 0; ended < tasks;) {
		pvm_bufinfo(pvm_recv(-1, TRACES), &bytes, &tag, &source);
		source = source < 0 ? 0 : source;
		while (pvm_upkint(&mark, 1, 1) == 0)
			if (mark == TEV_MARK_EVENT_DESC || mark == TEV_MARK_EVENT_RECORD)
				event(mark, source);
			else {
				if (mark == TEV_MARK_DATA_ID)
					table();
				else if (mark == TEV_MARK_EVENT_BUFFER || mark == TEV_MARK_EVENT_BUFFER_END)
					sprintf(lines[nlines], "collected %s", mark == TEV_MARK_EVENT_BUFFER ? "from here" : "to here");
				else
					own_event(mark);
				sources[nlines++] = source;
			}
	}
	/* A daemon and a task tell by different ways, so whose first event comes first is open. */
	print_of(0);
	for (i = 0; i < nlines; i++) {
		for (j = 0; j < i && sources[j] != sources[i]; j++)
			;
		if (j == i && sources[i])
			print_of(sources[i]);
	}
}

static int nothing(int message UNUSED)
{
	return 0;
}

/* A file by which a task tells that it has its handler: a message would be traced. */
static char *begun(void)
{
	static char path[1000];

	sprintf(path, "%.900s/traced-begun", getenv("HOME") ? getenv("HOME") : "/tmp");
	return path;
}

static void calls(void)
{
	int i = 5, self = pvm_mytid(), context = pvm_getcontext(), handler;
	char text[20];

	pvm_parent();
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&i, 1, 1);
	pvm_packf("%d %s", 7, "abc");
	pvm_packf("%+ %d", PvmDataDefault, 8);
	pvm_send(self, 1);
	pvm_recv(-1, 1);
	pvm_unpackf("%d", &i);
	pvm_unpackf("%s", text);
	handler = pvm_addmhf(-1, 5, context, nothing);
	fclose(fopen(begun(), "w"));
	pvm_recv(-1, 6);
	pvm_delmhf(handler);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&i, 1, 1);
	pvm_send(PVM_TRACE_TID, PVM_TRACE_CODE);
	pvm_bufinfo(pvm_getsbuf(), &i, &handler, &self);
	pvm_nrecv(-1, 99);
	pvm_send(PVM_TRACE_TID, 5);
}

static void set(char *mask, int *events)
{
	TEV_MASK_INIT(mask);
	for (; *events >= 0; events++)
		TEV_MASK_SET(mask, *events);
	pvm_settmask(PvmTaskChild, mask);
}

int main(int argc, char **argv)
{
	static int many[] = { TEV_MYTID, TEV_PARENT, TEV_INITSEND, TEV_PKINT, TEV_PACKF, TEV_SEND, TEV_RECV, TEV_UNPACKF, TEV_ADDMHF,
		TEV_DELMHF, TEV_MHF_INVOKE, TEV_BUFINFO, TEV_NRECV, TEV_EXIT, TEV_USER_DEFINED, -1 };
	static int few[] = { TEV_INITSEND, TEV_EXIT, -1 }, none[] = { -1 };
	char *role = begin(argc, argv);
	Pvmtmask mask;
	int kid, context;

	if (!strcmp(role, "calls")) {
		calls();
		pvm_exit();
		return 7;
	}
	if (!strcmp(role, "quiet")) {
		pvm_mytid();
		pvm_recv(-1, 6);
		pvm_initsend(PvmDataDefault);
		pvm_exit();
		return 0;
	}
	if (!strcmp(role, "rest")) {
		pvm_mytid();
		rest_until_told();
	}
	who(pvm_mytid());
	pvm_initsend(PvmDataDefault);
	printf("nobody traces: %s\n", code(pvm_send(PVM_TRACE_TID, PVM_TRACE_CODE)));
	pvm_setopt(PvmTraceTid, pvm_mytid());
	pvm_setopt(PvmTraceCode, TRACES);
	pvm_setopt(PvmTraceOptions, PvmTraceFull);
	set(mask, many);
	unlink(begun());
	spawn_self("calls", 1, &kid);
	who(kid);
	for (context = 0; context < 2000 && access(begun(), F_OK); context++)
		usleep(10000);
	usleep(100000);
	send_int(kid, 5, 1);
	send_int(kid, 6, 1);
	collect(1);

	printf("a task that is killed, and one whose program is not there:\n");
	set(mask, none);
	spawn_self("rest", 1, &kid);
	who(kid);
	pvm_sendsig(kid, SIGKILL);
	pvm_spawn("no-such-program", (char **)0, PvmTaskDefault, "", 1, &context);
	collect(1);

	printf("a mask that another task sets:\n");
	spawn_self("quiet", 1, &kid);
	who(kid);
	usleep(300000);
	set(mask, few);
	pvm_setopt(PvmResvTids, 1);
	pvm_initsend(PvmDataDefault);
	pvm_pkstr(mask);
	context = pvm_setcontext(SYSCTX_TC);
	SHOW(pvm_send(kid, TC_SETTMASK));
	pvm_setcontext(context);
	pvm_setopt(PvmResvTids, 0);
	send_int(kid, 6, 1);
	collect(1);
	pvm_exit();
	return 0;
}
