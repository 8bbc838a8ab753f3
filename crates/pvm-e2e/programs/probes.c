/* probes: what two tasks note while they exchange messages, one of them recorded from outside. */
#include "e2e.h"
#include "neopvm.h"
#include "pvmtev.h"

#define ROUNDS 100
#define ROOM 20000

static struct neopvm_record records[ROOM];

/* Large enough to be read while it is written, where the other one waits for just this message. */
#define STREAM 65536
#define STREAMS 300

static char large[STREAM];

static void answer(int parent)
{
	int i;
	send_int(parent, 9, 0);
	receive_int(parent, 9);
	for (i = 0; i < ROUNDS; i++)
		send_int(parent, 2, receive_int(parent, 1));
	for (i = 0; i < STREAMS; i++) {
		double until;
		receive_int(parent, 1);
		/* The other one waits by then, and does not sleep yet. */
		for (until = now() + i % 30 * 1e-6; now() < until;)
			;
		CALL(pvm_initsend(PvmDataInPlace));
		CALL(pvm_pkbyte(large, STREAM, 1));
		CALL(pvm_send(parent, 4));
	}
	receive_int(parent, 9);
}

static void read_records(int tid, uint64_t *count)
{
	uint64_t dropped = 1;
	CHECK(neopvm_read_records(tid, records, ROOM, count, &dropped) == 0);
	CHECK(dropped == 0);
}

/* Reads a task's records and checks what any trace must be. */
static int read_all(int tid, int peer, int any, int sent_tag, int got_tag)
{
	uint64_t count = 0, i, last_sent = 0, last_got = 0, end = 0;
	int sends = 0, receives = 0, waits = 0, packs = 0, unpacks = 0;
	read_records(tid, &count);
	CHECK(count > 0);
	for (i = 0; i < count; i++) {
		const struct neopvm_record *r = &records[i];
		/* In the order of their ends, as one thread noted them. */
		CHECK(r->begin_ns > 0 && r->begin_ns + r->length_ns >= end);
		end = r->begin_ns + r->length_ns;
		CHECK(r->call <= TEV_MAX || r->call >= 1024);
		switch (r->kind) {
		case NEOPVM_RECORD_CALL:
			CHECK(!(r->flags & NEOPVM_RECORD_PART) && r->depth == 0);
			packs += r->call == TEV_PKINT && r->bytes == 4;
			unpacks += r->call == TEV_UPKINT && r->bytes == 4;
			break;
		case NEOPVM_RECORD_WAIT:
			CHECK(r->flags & NEOPVM_RECORD_PART);
			CHECK(r->depth == 1 && r->call == TEV_RECV && r->way == NEOPVM_WAIT_MESSAGE);
			CHECK(!(r->flags & NEOPVM_RECORD_SLEPT) || r->more < r->length_ns);
			waits++;
			break;
		case NEOPVM_RECORD_SEND:
			if (r->tag != sent_tag)
				break;
			CHECK(r->call == TEV_SEND && !(r->flags & NEOPVM_RECORD_PART) && r->result == 0);
			CHECK(r->peer == peer && r->bytes == 4 && r->way == NEOPVM_WAY_MEMORY && r->hops == 0);
			CHECK(r->number == last_sent + 1 || !last_sent);
			last_sent = r->number;
			sends++;
			break;
		case NEOPVM_RECORD_RECEIVE:
			if (r->tag != got_tag)
				break;
			CHECK(r->call == TEV_RECV && !(r->flags & NEOPVM_RECORD_PART) && r->result > 0);
			CHECK(r->peer == peer && r->bytes == 4 && (r->number == last_got + 1 || !last_got));
			CHECK(!(r->flags & NEOPVM_RECORD_ANY_SOURCE) == !any);
			CHECK(!(r->flags & NEOPVM_RECORD_ANY_TAG));
			last_got = r->number;
			receives++;
			break;
		}
	}
	CHECK(sends == ROUNDS && receives == ROUNDS && packs >= ROUNDS && unpacks >= ROUNDS);
	read_records(tid, &count);
	return waits;
}

/* How many messages of this tag were taken. */
static int received(int peer, int tag)
{
	uint64_t count = 0, i;
	int found = 0;
	read_records(pvm_mytid(), &count);
	for (i = 0; i < count; i++)
		found += records[i].kind == NEOPVM_RECORD_RECEIVE && records[i].peer == peer && records[i].tag == tag;
	return found;
}

/* The next record of this kind. */
static const struct neopvm_record *next_of(int kind, uint64_t *from, uint64_t count)
{
	while (*from < count)
		if (records[(*from)++].kind == kind)
			return &records[*from - 1];
	printf("no record of kind %d\n", kind);
	CHECK(0);
	return 0;
}

/* Calls with arguments of their own, and what the program says of itself. */
static void others(int me, int child)
{
	int tids[3], i;
	uint64_t count = 0, at = 0;
	const struct neopvm_record *r;
	tids[0] = child;
	tids[1] = me;
	tids[2] = child;
	read_records(me, &count);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_mcast(tids, 3, 5));
	CHECK(pvm_nrecv(-1, 77) == 0);
	CALL(pvm_joingroup("probed"));
	CALL(pvm_barrier("probed", 1));
	CHECK(neopvm_mark("half", -7) == 0);
	CHECK(neopvm_state("solving") == 0);
	CHECK(neopvm_progress("rows", 3, 9) == 0);
	CHECK(neopvm_state(0) == 0);
	send_int(me, 3, 1);
	receive_int(me, 3);
	read_records(me, &count);
	r = next_of(NEOPVM_RECORD_SEND, &at, count);
	CHECK(r->call == TEV_MCAST && r->peer == child && r->tag == 5 && r->bytes == 0);
	r = next_of(NEOPVM_RECORD_POLL, &at, count);
	CHECK(r->call == TEV_NRECV && r->tag == 77 && r->peer == 0);
	r = next_of(NEOPVM_RECORD_GROUP, &at, count);
	CHECK(r->call == TEV_JOINGROUP && r->name > 0 && r->result == 0);
	i = r->name;
	r = next_of(NEOPVM_RECORD_GROUP, &at, count);
	CHECK(r->call == TEV_BARRIER && r->name == i && r->number == 1 && r->members == 1);
	r = next_of(NEOPVM_RECORD_MARK, &at, count);
	CHECK(r->name > 0 && r->name != i && (int64_t)r->number == -7);
	r = next_of(NEOPVM_RECORD_STATE, &at, count);
	CHECK(r->name > 0);
	r = next_of(NEOPVM_RECORD_PROGRESS, &at, count);
	CHECK(r->number == 3 && r->more == 9);
	r = next_of(NEOPVM_RECORD_STATE, &at, count);
	CHECK(r->name == 0);
	r = next_of(NEOPVM_RECORD_SEND, &at, count);
	CHECK(r->way == NEOPVM_WAY_OWN && r->number == 1);
	r = next_of(NEOPVM_RECORD_RECEIVE, &at, count);
	CHECK(r->way == NEOPVM_WAY_OWN && r->number == 1);
}

int main(void)
{
	int me = CALL(pvm_mytid()), parent = pvm_parent(), child, i;
	uint64_t count = 1, dropped;
	struct timeval moment = {0, 10000};
	if (parent > 0) {
		answer(parent);
		pvm_exit();
		return 0;
	}
	child = spawn_one("probes", 0, 0, 0);
	receive_int(child, 9);
	CHECK(neopvm_read_records(me, records, ROOM, &count, &dropped) == NEOPVM_NOT_FOUND);
	CHECK(neopvm_set_probes(me, 2) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_set_probes(child, 1) == 0);
	CHECK(neopvm_set_probes(me, 1) == 0);
	send_int(child, 9, 0);
	for (i = 0; i < ROUNDS; i++) {
		send_int(child, 1, i);
		CHECK(receive_int(-1, 2) == i);
	}
	/* The clock is the program's only reader until now. */
	read_all(me, child, 1, 1, 2);
	read_all(child, me, 0, 2, 1);
	/* A child that is quick, or has the only core, answers before anybody waits for it. */
	CHECK(pvm_trecv(child, 77, &moment) == 0);
	read_records(me, &count);
	for (i = 0; i < (int)count && records[i].kind != NEOPVM_RECORD_WAIT; i++)
		;
	CHECK(i < (int)count && records[i].call == TEV_TRECV);
	/* A task that is recorded sends nothing so. */
	CHECK(neopvm_set_probes(child, 0) == 0);
	for (i = 0; i < STREAMS; i++) {
		send_int(child, 1, i);
		CALL(pvm_recv(child, 4));
	}
	CHECK(received(child, 4) == STREAMS);
	others(me, child);
	CHECK(neopvm_set_probes(me, 0) == 0);
	send_int(child, 9, 0);
	do
		CHECK(neopvm_read_records(me, records, ROOM, &count, &dropped) == 0);
	while (count);
	send_int(me, 3, 1);
	receive_int(me, 3);
	CHECK(neopvm_read_records(me, records, ROOM, &count, &dropped) == 0 && count == 0);
	/* A ring that nobody reads grows, and the calls go on. */
	CHECK(neopvm_set_probes(me, 1) == 0);
	for (i = 0; i < 100000; i++)
		CALL(pvm_initsend(PvmDataRaw));
	CHECK(neopvm_read_records(me, records, 0, &count, &dropped) == 0);
	CHECK(count == 0 && dropped == 0);
	for (i = 0; i < 100000;) {
		CHECK(neopvm_read_records(me, records, ROOM, &count, &dropped) == 0 && count > 0);
		while (count--)
			i += records[count].call == TEV_INITSEND;
	}
	CHECK(neopvm_set_probes(0x40fff, 1) < 0);
	pvm_exit();
	return 0;
}
