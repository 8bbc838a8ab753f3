/* pvm_getopt and pvm_setopt: defaults, old values returned, limits. */
#include "common.h"

static struct { int number; char *name; } options[] = {
	{ PvmRoute, "PvmRoute" }, { PvmDebugMask, "PvmDebugMask" }, { PvmAutoErr, "PvmAutoErr" },
	{ PvmOutputTid, "PvmOutputTid" }, { PvmOutputCode, "PvmOutputCode" }, { PvmTraceTid, "PvmTraceTid" },
	{ PvmTraceCode, "PvmTraceCode" }, { PvmTraceBuffer, "PvmTraceBuffer" }, { PvmTraceOptions, "PvmTraceOptions" },
	{ PvmFragSize, "PvmFragSize" }, { PvmResvTids, "PvmResvTids" }, { PvmSelfOutputTid, "PvmSelfOutputTid" },
	{ PvmSelfOutputCode, "PvmSelfOutputCode" }, { PvmSelfTraceTid, "PvmSelfTraceTid" },
	{ PvmSelfTraceCode, "PvmSelfTraceCode" }, { PvmSelfTraceBuffer, "PvmSelfTraceBuffer" },
	{ PvmSelfTraceOptions, "PvmSelfTraceOptions" }, { PvmShowTids, "PvmShowTids" }, { PvmPollType, "PvmPollType" },
	{ PvmPollTime, "PvmPollTime" }, { PvmOutputContext, "PvmOutputContext" }, { PvmTraceContext, "PvmTraceContext" },
	{ PvmSelfOutputContext, "PvmSelfOutputContext" }, { PvmSelfTraceContext, "PvmSelfTraceContext" },
	{ PvmNoReset, "PvmNoReset" }
};
#define COUNT ((int)(sizeof options / sizeof options[0]))

/* Sets an option and prints what setopt returned and what getopt says after it. */
static void try(char *name, int number, int value)
{
	int cc = pvm_setopt(number, value);

	printf("setopt(%s, %d) = %s", name, value, code(cc));
	cc = pvm_getopt(number);
	printf(", now %s\n", cc > 0x40000 ? who(cc) : code(cc));
}
#define TRY(what, value) try(#what, what, value)

int main(int argc, char **argv)
{
	int k, me;

	begin(argc, argv);
	printf("before pvm_mytid, AutoErr %d Route %d\n", pvm_getopt(PvmAutoErr), pvm_getopt(PvmRoute));
	me = pvm_mytid();
	for (k = 0; k < COUNT; k++)
		printf("%2d %s = %s\n", options[k].number, options[k].name, code(pvm_getopt(options[k].number)));
	SHOW(pvm_getopt(0));
	SHOW(pvm_getopt(26));
	SHOW(pvm_getopt(-1));
	SHOW(pvm_setopt(26, 1));
	SHOW(pvm_setopt(-1, 1));
	TRY(PvmRoute, PvmDontRoute);
	TRY(PvmRoute, PvmRouteDirect);
	TRY(PvmRoute, 77);
	TRY(PvmRoute, 0);
	TRY(PvmRoute, PvmAllowDirect);
	TRY(PvmDebugMask, 0);
	TRY(PvmFragSize, 100);
	TRY(PvmFragSize, 8192);
	TRY(PvmFragSize, 2 * 1024 * 1024);
	TRY(PvmFragSize, 0);
	TRY(PvmFragSize, -5);
	TRY(PvmFragSize, 4080);
	TRY(PvmResvTids, 1);
	SHOW(pvm_initsend(PvmDataDefault) > 0);
	SHOW(pvm_send(me, -5));
	usleep(20000);
	SHOWID(pvm_nrecv(me, -5));
	SHOWID(pvm_nrecv(me, -1));
	TRY(PvmResvTids, 0);
	SHOW(pvm_send(me, -5));
	TRY(PvmShowTids, 0);
	TRY(PvmShowTids, 5);
	TRY(PvmShowTids, 1);
	TRY(PvmAutoErr, 5);
	TRY(PvmAutoErr, -1);
	TRY(PvmAutoErr, 0);
	TRY(PvmPollType, 1);
	TRY(PvmPollTime, 100);
	TRY(PvmOutputCode, 17);
	TRY(PvmOutputTid, 0);
	printf("OutputTid to self: %s", code(pvm_setopt(PvmOutputTid, me)));
	printf(", is self %d\n", pvm_getopt(PvmOutputTid) == me);
	TRY(PvmOutputTid, 12345);
	TRY(PvmOutputTid, -1);
	TRY(PvmOutputCode, 0);
	TRY(PvmTraceCode, 18);
	TRY(PvmTraceBuffer, 1000);
	TRY(PvmTraceBuffer, -1);
	TRY(PvmTraceOptions, PvmTraceFull);
	TRY(PvmTraceOptions, PvmTraceTime);
	TRY(PvmTraceOptions, PvmTraceCount);
	TRY(PvmTraceOptions, 9);
	TRY(PvmOutputContext, 3);
	TRY(PvmTraceContext, 4);
	TRY(PvmSelfOutputCode, 5);
	TRY(PvmSelfTraceCode, 6);
	TRY(PvmNoReset, 1);
	TRY(PvmNoReset, 0);
	pvm_setopt(PvmOutputTid, 0);
	pvm_exit();
	return 0;
}
