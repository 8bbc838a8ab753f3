/* Names that the original's library exports without a manual: what they do. */
#include "common.h"

extern int pvmchkuid(), pvmendtask(), pvmbailout(), pvmbeatask(), pvmsettaskname(), pvmcrcappend();
extern int pvm_fd_add(), pvm_fd_delete(), pvm_tc_noop(), pvm_tc_settmask(), pvm_tc_settrace(), pvm_tc_settrcbuf();
extern int pvm_tc_settrcopt(), pvm_tc_siblings(), pvm_gettmask();

static char mask[64], all_zero[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

/* A message that is the receive buffer. */
static int message(char *letters, int n, int *ints)
{
	int b = pvm_mkbuf(PvmDataDefault);

	pvm_setsbuf(b);
	if (letters && n <= 2)
		pvm_pkstr(letters);
	if (n)
		pvm_pkint(ints, n > 6 ? 6 : n, 1);
	if (letters && n > 2) {
		pvm_pkstr(letters);
		pvm_pkint(ints + 6, n - 6, 1);
	}
	pvm_setsbuf(0);
	pvm_setrbuf(b);
	return b;
}

static void options(int me)
{
	printf("self to me %d ctx %d tag %d buffer %d options %d, ", pvm_getopt(PvmSelfTraceTid) == me, pvm_getopt(PvmSelfTraceContext),
		pvm_getopt(PvmSelfTraceCode), pvm_getopt(PvmSelfTraceBuffer), pvm_getopt(PvmSelfTraceOptions));
	printf("children to me %d ctx %d tag %d buffer %d options %d\n", pvm_getopt(PvmTraceTid) == me, pvm_getopt(PvmTraceContext),
		pvm_getopt(PvmTraceCode), pvm_getopt(PvmTraceBuffer), pvm_getopt(PvmTraceOptions));
	printf("output %d %d %d, of children %d %d %d\n", pvm_getopt(PvmSelfOutputTid), pvm_getopt(PvmSelfOutputContext),
		pvm_getopt(PvmSelfOutputCode), pvm_getopt(PvmOutputTid), pvm_getopt(PvmOutputContext), pvm_getopt(PvmOutputCode));
	pvm_gettmask(PvmTaskSelf, mask);
	printf("mask %s, ", mask);
	pvm_gettmask(PvmTaskChild, mask);
	printf("of children %s\n", mask);
}

static void orders(int me)
{
	int b, v[8], *list;

	b = message((char *)0, 0, v);
	SHOW(pvm_tc_noop(b));
	SHOW(pvm_getrbuf());
	SHOW(pvm_freebuf(b));
	SHOW(pvm_tc_noop(-1));
	SHOW(pvm_tc_noop(4711));
	all_zero[1] = 'A';
	v[0] = me;
	v[1] = 3;
	v[2] = 44;
	v[3] = 0;
	v[4] = 77;
	v[5] = 78;
	v[6] = 11;
	v[7] = 2;
	SHOW(pvm_tc_settrace(message(all_zero, 8, v)));
	options(me);
	all_zero[1] = 'B';
	SHOW(pvm_tc_settmask(message(all_zero, 0, v)));
	options(me);
	SHOW(pvm_tc_settmask(message("short", 0, v)));
	options(me);
	v[0] = 55;
	SHOW(pvm_tc_settrcbuf(message((char *)0, 1, v)));
	v[0] = 1;
	SHOW(pvm_tc_settrcopt(message((char *)0, 1, v)));
	options(me);
	SHOW(pvm_siblings(&list));
	v[0] = 2;
	v[1] = 7;
	v[2] = 8;
	SHOW(pvm_tc_siblings(message((char *)0, 3, v)));
	SHOW(pvm_siblings(&list));
	printf("%d %d\n", list[0], list[1]);
	pvm_setopt(PvmSelfTraceTid, 0);
}

int main(int argc, char **argv)
{
	struct pvmtaskinfo *task;
	int me, n;

	begin(argc, argv);
	SHOW(pvmchkuid(0) != 0);
	SHOW(pvmchkuid(1000));
	SHOW(pvmcrcappend("abc", 3, 0));
	SHOW(pvmcrcappend("abc", 3, -1));
	SHOW(pvmcrcappend("", 0, 5));
	SHOW(pvmsettaskname("my-name"));
	SHOW(pvmbeatask());
	me = pvm_mytid();
	SHOW(pvmbeatask());
	SHOW(pvm_tasks(me, &n, &task));
	printf("named %s\n", task[0].ti_a_out);
	SHOW(pvmsettaskname("another"));
	SHOW(pvm_fd_add(0, 1));
	SHOW(pvm_fd_add(1, 7));
	SHOW(pvm_fd_add(-1, 1));
	SHOW(pvm_fd_add(5000, 1));
	SHOW(pvm_fd_delete(0, 1));
	SHOW(pvm_fd_delete(77, 1));
	SHOW(pvm_fd_delete(-1, 1));
	orders(me);
	pvmbailout(1);
	SHOW(pvmendtask());
	SHOW(pvmendtask());
	printf("another id %d\n", pvm_mytid() != me);
	SHOW(pvm_pstat(me));
	pvm_exit();
	SHOW(pvmendtask());
	return 0;
}
