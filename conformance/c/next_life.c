/* Options of output and tracing that follow one another, and what is left of them after pvm_exit and pvm_mytid. */
#include "common.h"

static int me;

static int get(int option)
{
	int value = pvm_getopt(option);

	return value == me ? 12345 : value;
}

static void all(char *what)
{
	printf("%s: output %d %d %d trace %d %d %d %d %d, self output %d %d %d trace %d %d %d %d %d\n", what, get(PvmOutputTid),
		get(PvmOutputCode), get(PvmOutputContext), get(PvmTraceTid), get(PvmTraceCode), get(PvmTraceContext),
		get(PvmTraceBuffer), get(PvmTraceOptions), get(PvmSelfOutputTid), get(PvmSelfOutputCode), get(PvmSelfOutputContext),
		get(PvmSelfTraceTid), get(PvmSelfTraceCode), get(PvmSelfTraceContext), get(PvmSelfTraceBuffer), get(PvmSelfTraceOptions));
}

static void set(char *name, int option, int value)
{
	int cc = pvm_setopt(option, value);

	printf("%s to %s = %s\n", name, value == me ? "self" : code(value), cc == me ? "self" : code(cc));
}
#define SET(option, value) set(#option, option, value)

int main(int argc, char **argv)
{
	begin(argc, argv);
	me = pvm_mytid();
	SET(PvmTraceContext, 5);
	SET(PvmOutputContext, 6);
	SET(PvmSelfTraceTid, me);
	all("traced");
	SET(PvmSelfTraceCode, 7);
	SET(PvmSelfTraceBuffer, 100);
	SET(PvmSelfTraceOptions, 2);
	all("how");
	SET(PvmTraceContext, 5);
	SET(PvmSelfTraceTid, 0);
	all("not traced");
	SET(PvmSelfTraceTid, -1);
	SET(PvmSelfTraceCode, 9);
	all("traced by -1");
	SET(PvmSelfTraceTid, 0);
	SET(PvmSelfOutputTid, 0x7f0001);
	SET(PvmSelfOutputCode, 8);
	all("output");
	SET(PvmSelfOutputTid, -1);
	SET(PvmSelfOutputCode, 9);
	all("output to -1");
	SET(PvmSelfOutputTid, 0);
	SET(PvmTraceBuffer, 9);
	SET(PvmFragSize, 1000);
	SET(PvmRoute, PvmDontRoute);
	SET(PvmResvTids, 1);
	SET(PvmShowTids, 0);
	SHOW(pvm_setcontext(5));
	SHOW(pvm_exit());
	me = pvm_mytid();
	SHOW(pvm_getcontext());
	SHOW(pvm_getopt(PvmFragSize));
	SHOW(pvm_getopt(PvmRoute));
	SHOW(pvm_getopt(PvmResvTids));
	SHOW(pvm_getopt(PvmShowTids));
	SHOW(pvm_getopt(PvmTraceBuffer));
	SHOW(pvm_getopt(PvmSelfTraceCode));
	pvm_exit();
	return 0;
}
