/* counts PROGRAM TASKS ARGUMENTS...: starts TASKS tasks of a program, each of which reports its sends by PVM's own
   tracing, and prints how many messages and bytes went from which of them to which: FROM TO MESSAGES BYTES. */
#include "e2e.h"
#include "pvmtev.h"

#define CODE 666
#define ENDED 667
#define MOST 64

static int tids[MOST], tasks;
static long messages[MOST][MOST], bytes[MOST][MOST];

static int number(void)
{
	int value;
	CALL(pvm_upkint(&value, 1, 1));
	return value;
}

static int rank(int tid)
{
	int i;
	for (i = 0; i < tasks && tids[i] != tid; i++)
		;
	return i;
}

/* One value; the first event of a kind says in front of each what it is. */
static int datum(int first, int did)
{
	if (first) {
		CHECK(number() == did);
		CHECK(number() == TEV_DATA_INT);
	}
	return number();
}

/* The beginning or the end of a send. */
static void event(void)
{
	int mark = number(), first = mark == TEV_MARK_EVENT_DESC, kind, from, size, to;
	char name[64];
	CHECK(first || mark == TEV_MARK_EVENT_RECORD);
	kind = number();
	if (first)
		CALL(pvm_upkstr(name));
	datum(first, TEV_DID_TS);
	datum(first, TEV_DID_TU);
	from = rank(datum(first, TEV_DID_TID));
	if (kind == (TEV_SEND | TEV_EVENT_EXIT)) {
		CHECK(datum(first, TEV_DID_CC) == 0);
	} else {
		CHECK(kind == (TEV_SEND | TEV_EVENT_ENTRY));
		size = datum(first, TEV_DID_MNB);
		to = rank(datum(first, TEV_DID_DST));
		datum(first, TEV_DID_MC);
		datum(first, TEV_DID_MCX);
		if (from < tasks && to < tasks) {
			messages[from][to]++;
			bytes[from][to] += size;
		}
	}
	CHECK(number() == (first ? TEV_MARK_EVENT_DESC_END : TEV_MARK_EVENT_RECORD_END));
}

int main(int count, char **words)
{
	int me = CALL(pvm_mytid()), ended = 0, i, k, tag, source;
	Pvmtmask mask;
	CHECK(count >= 3);
	tasks = atoi(words[2]);
	CHECK(tasks > 0 && tasks <= MOST);
	TEV_MASK_INIT(mask);
	TEV_MASK_SET(mask, TEV_SEND);
	CALL(pvm_setopt(PvmTraceTid, me));
	CALL(pvm_setopt(PvmTraceCode, CODE));
	CALL(pvm_setopt(PvmTraceBuffer, 0));
	CALL(pvm_settmask(PvmTaskChild, mask));
	CHECK(pvm_spawn(words[1], words + 3, PvmTaskDefault, "", tasks, tids) == tasks);
	CALL(pvm_notify(PvmTaskExit, ENDED, tasks, tids));
	/* The notice of a task's end comes behind its last message. */
	while (ended < tasks) {
		CALL(pvm_bufinfo(CALL(pvm_recv(-1, -1)), 0, &tag, &source));
		if (tag == ENDED)
			ended++;
		else if (tag == CODE && rank(source) < tasks) /* not what daemons tell of them */
			event();
	}
	for (i = 0; i < tasks; i++)
		for (k = 0; k < tasks; k++)
			if (messages[i][k])
				printf("%d %d %ld %ld\n", i, k, messages[i][k], bytes[i][k]);
	pvm_exit();
	return 0;
}
