/* tracer: a task receives the trace events of its child, reads them as PVM's tracers do, and finds the
   calls of the child in their order, at first with names and types, then by their numbers only. */
#include "e2e.h"
#include "pvmtev.h"

#define CODE 666

static void traced(void)
{
	int value = 7, got, i;
	Pvmtmask mask;
	for (i = 0; i < 2; i++) {
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&value, 1, 1));
		CALL(pvm_send(pvm_mytid(), 5));
		CALL(pvm_recv(-1, 5));
		CALL(pvm_upkint(&got, 1, 1));
	}
	CHECK(got == 7);
	/* A mask that selects nothing. */
	TEV_MASK_INIT(mask);
	CALL(pvm_settmask(PvmTaskSelf, mask));
	CALL(pvm_getrbuf());
	pvm_exit();
}

static int number(void)
{
	int value;
	CALL(pvm_upkint(&value, 1, 1));
	return value;
}

static void text(const char *expected)
{
	char found[64];
	CALL(pvm_upkstr(found));
	CHECK(!strcmp(found, expected));
}

/* One datum: of a description with its name and type. */
static int datum(int first, int did)
{
	if (first) {
		CHECK(number() == did);
		CHECK(number() == TEV_DATA_INT);
	}
	return number();
}

/* The next event, which must be this one with so many more ints. */
static void event(int child, int kind, const char *name, int first, int count, const int *dids,
                  int *values)
{
	int i;
	long address;
	CHECK(number() == (first ? TEV_MARK_EVENT_DESC : TEV_MARK_EVENT_RECORD));
	CHECK(number() == kind);
	if (first)
		text(name);
	CHECK(datum(first, TEV_DID_TS) > 1600000000);
	CHECK(datum(first, TEV_DID_TU) < 1000000);
	CHECK(datum(first, TEV_DID_TID) == child);
	for (i = 0; i < count; i++) {
		if (dids[i] != TEV_DID_PDA) {
			values[i] = datum(first, dids[i]);
			continue;
		}
		if (first) {
			CHECK(number() == TEV_DID_PDA);
			CHECK(number() == TEV_DATA_LONG);
		}
		CALL(pvm_upklong(&address, 1, 1));
		CHECK(address != 0);
	}
	CHECK(number() == (first ? TEV_MARK_EVENT_DESC_END : TEV_MARK_EVENT_RECORD_END));
}

static const struct {
	int kind;
	const char *name;
	int count, dids[5];
} expected[] = {
	{TEV_INITSEND | TEV_EVENT_ENTRY, "initsend", 1, {TEV_DID_ME}},
	{TEV_INITSEND | TEV_EVENT_EXIT, "initsend", 1, {TEV_DID_MSB}},
	{TEV_PKINT | TEV_EVENT_ENTRY, "pkint", 3, {TEV_DID_PDA, TEV_DID_PC, TEV_DID_PSD}},
	{TEV_PKINT | TEV_EVENT_EXIT, "pkint", 1, {TEV_DID_CC}},
	{TEV_SEND | TEV_EVENT_ENTRY, "send", 4, {TEV_DID_MNB, TEV_DID_DST, TEV_DID_MC, TEV_DID_MCX}},
	{TEV_SEND | TEV_EVENT_EXIT, "send", 1, {TEV_DID_CC}},
	{TEV_RECV | TEV_EVENT_ENTRY, "recv", 3, {TEV_DID_RST, TEV_DID_RMC, TEV_DID_RCX}},
	{TEV_RECV | TEV_EVENT_EXIT, "recv", 5,
     {TEV_DID_MB, TEV_DID_MNB, TEV_DID_MC, TEV_DID_MCX, TEV_DID_SRC}},
	{TEV_UPKINT | TEV_EVENT_ENTRY, "upkint", 3, {TEV_DID_PDA, TEV_DID_PC, TEV_DID_PSD}},
	{TEV_UPKINT | TEV_EVENT_EXIT, "upkint", 1, {TEV_DID_CC}},
};
#define EXPECTED (int)(sizeof expected / sizeof expected[0])

/* Collected: many events in one message, between two marks. */
static void next(int collected, int child)
{
	static int left;
	int bytes;
	if (collected && left-- > 0)
		return;
	CALL(pvm_bufinfo(CALL(pvm_recv(child, CODE)), &bytes, 0, 0));
	if (collected) {
		CHECK(number() == TEV_MARK_EVENT_BUFFER);
		left = 2 * EXPECTED - 1;
	}
}

static void collect(int me, int buffer)
{
	int child, i, round, values[5];
	Pvmtmask mask;
	TEV_MASK_INIT(mask);
	TEV_MASK_SET(mask, TEV_INITSEND);
	TEV_MASK_SET(mask, TEV_PKINT);
	TEV_MASK_SET(mask, TEV_SEND);
	TEV_MASK_SET(mask, TEV_RECV);
	TEV_MASK_SET(mask, TEV_UPKINT);
	TEV_MASK_SET(mask, TEV_GETRBUF);
	CALL(pvm_setopt(PvmTraceTid, me));
	CALL(pvm_setopt(PvmTraceCode, CODE));
	CALL(pvm_setopt(PvmTraceBuffer, buffer));
	CALL(pvm_settmask(PvmTaskChild, mask));
	child = spawn_one("tracer", 0, 0, 0);
	CALL(pvm_notify(PvmTaskExit, 667, 1, &child));
	for (round = 0; round < 2; round++)
		for (i = 0; i < EXPECTED; i++) {
			next(buffer > 0, child);
			event(child, expected[i].kind, expected[i].name, round == 0, expected[i].count,
			      expected[i].dids, values);
			if (expected[i].kind == (TEV_RECV | TEV_EVENT_EXIT))
				CHECK(values[1] == 4 && values[2] == 5 && values[4] == child);
			if (expected[i].kind == (TEV_SEND | TEV_EVENT_ENTRY))
				CHECK(values[0] == 4 && values[1] == child && values[2] == 5);
		}
	CALL(pvm_recv(-1, 667));
	/* Nothing of what the mask does not select. */
	CHECK(pvm_nrecv(child, CODE) == 0);
}

int main(void)
{
	int me = CALL(pvm_mytid());
	if (pvm_parent() > 0) {
		traced();
		return 0;
	}
	collect(me, 0);
	collect(me, 1 << 20);
	pvm_exit();
	return 0;
}
