/* probes: what the probe points of two tasks note while they exchange messages, one of them switched
   on from outside. */
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

/* Reads a task's records and checks what any trace must be. */
static int read_all(int tid, int peer, int asked, int sent_tag, int got_tag)
{
	uint64_t count = 0, dropped = 1, i, last_sent = 0, last_got = 0;
	int depth = 0, sends = 0, receives = 0, waits = 0;
	CHECK(neopvm_read_records(tid, records, ROOM, &count, &dropped) == 0);
	CHECK(dropped == 0 && count > 0);
	for (i = 0; i < count; i++) {
		const struct neopvm_record *r = &records[i];
		CHECK(r->time_ns > 0 && (i == 0 || r->time_ns >= records[i - 1].time_ns));
		switch (r->point) {
		case NEOPVM_POINT_ENTER:
			CHECK(depth++ == 0);
			break;
		case NEOPVM_POINT_LEAVE:
			/* The first records may begin in the middle of a call. */
			CHECK(depth-- == 1 || i < 16);
			if (depth < 0)
				depth = 0;
			CHECK(i == 0 || r->call <= TEV_MAX);
			break;
		case NEOPVM_POINT_WAIT_BEGIN:
			CHECK(i + 1 == count || records[i + 1].point == NEOPVM_POINT_WAIT_END);
			waits++;
			break;
		case NEOPVM_POINT_SEND_END:
			if (r->tag != sent_tag)
				break;
			CHECK(r->peer == peer && r->bytes == 4 && r->way == NEOPVM_WAY_MEMORY && r->hops == 0);
			CHECK(r->result == 0 && r->sequence > last_sent);
			last_sent = r->sequence;
			sends++;
			break;
		case NEOPVM_POINT_RECEIVED:
			if (r->tag != got_tag)
				break;
			CHECK(r->peer == peer && r->bytes == 4 && r->sequence > last_got);
			CHECK(r->asked_source == asked && r->asked_tag == got_tag);
			last_got = r->sequence;
			receives++;
			break;
		}
	}
	CHECK(sends == ROUNDS && receives == ROUNDS);
	CHECK(neopvm_read_records(tid, records, ROOM, &count, &dropped) == 0 && dropped == 0);
	return waits;
}

/* How many messages of this tag were taken. */
static int received(int peer, int tag)
{
	uint64_t count = 0, dropped = 1, i;
	int found = 0;
	CHECK(neopvm_read_records(pvm_mytid(), records, ROOM, &count, &dropped) == 0 && dropped == 0);
	for (i = 0; i < count; i++)
		found += records[i].point == NEOPVM_POINT_RECEIVED && records[i].peer == peer && records[i].tag == tag;
	return found;
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
	/* A child that is quick, or has the only core, answers before anybody waits for it. */
	CHECK(pvm_trecv(child, 77, &moment) == 0);
	CHECK(read_all(me, child, NEOPVM_ANY, 1, 2) > 0);
	read_all(child, me, me, 2, 1);
	/* A task that is recorded sends nothing so. */
	CHECK(neopvm_set_probes(child, 0) == 0);
	for (i = 0; i < STREAMS; i++) {
		send_int(child, 1, i);
		CALL(pvm_recv(child, 4));
	}
	CHECK(received(child, 4) == STREAMS);
	CHECK(neopvm_set_probes(me, 0) == 0);
	send_int(child, 9, 0);
	do
		CHECK(neopvm_read_records(me, records, ROOM, &count, &dropped) == 0);
	while (count);
	send_int(me, 3, 1);
	receive_int(me, 3);
	CHECK(neopvm_read_records(me, records, ROOM, &count, &dropped) == 0 && count == 0);
	/* A ring that nobody reads counts what it drops, and the calls go on. */
	CHECK(neopvm_set_probes(me, 1) == 0);
	for (i = 0; i < 10000; i++)
		CALL(pvm_initsend(PvmDataRaw));
	CHECK(neopvm_read_records(me, records, 0, &count, &dropped) == 0);
	CHECK(count == 0 && dropped >= 2 * 10000 - 16384);
	CHECK(neopvm_set_probes(0x40fff, 1) < 0);
	pvm_exit();
	return 0;
}
