/* counter HOSTS ROUNDS: two tasks on each host change words of memory that the first of all exposes;
   no change is lost, and none is done twice, whatever becomes of the daemons meanwhile. */
#include "e2e.h"
#include "neopvm.h"

#define NUMBER 5
#define EACH 2 /* tasks of a host */
#define MOST_HOSTS 8

static int word(int owner, int64_t offset, int bytes)
{
	int64_t value = 0;
	CHECK(neopvm_add_memory(owner, NUMBER, offset, bytes, 0, &value) == 0);
	return (int)value;
}

/* A lock made of one word: what stands beside it is changed by plain reads and writes. */
static void locked_increment(int owner)
{
	int64_t before = 1;
	int32_t plain;
	while (before != 0) {
		CHECK(neopvm_exchange_memory(owner, NUMBER, 8, 8, 0, pvm_mytid(), &before) == 0);
		if (before != 0)
			pause_ms(1);
	}
	CHECK(neopvm_get_memory(owner, NUMBER, 16, &plain, 4) == 0);
	plain++;
	CHECK(neopvm_put_memory(owner, NUMBER, 16, &plain, 4) == 0);
	CHECK(neopvm_exchange_memory(owner, NUMBER, 8, 8, pvm_mytid(), 0, &before) == 0);
	CHECK(before == pvm_mytid());
}

static void work(int owner, int rounds)
{
	int64_t before;
	int i, last = -1;
	for (i = 0; i < rounds; i++) {
		CHECK(neopvm_add_memory(owner, NUMBER, 0, 4, 1, &before) == 0);
		CHECK((int)before > last);
		last = (int)before;
		/* Each number is had once: its own place counts how often. */
		CHECK(neopvm_add_memory(owner, NUMBER, 64 + 4 * before, 4, 1, &before) == 0);
		CHECK(before == 0);
		if (i % 10 == 0)
			locked_increment(owner);
	}
	send_int(owner, 2, rounds);
}

static void refusals(int owner)
{
	int64_t before = 77;
	CHECK(neopvm_add_memory(owner, NUMBER, 0, 2, 1, &before) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_add_memory(owner, NUMBER, 2, 4, 1, &before) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_add_memory(owner, NUMBER, 20, 8, 1, &before) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_add_memory(owner, NUMBER, 20, 4, 1ll << 32, &before) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_add_memory(owner, NUMBER, UINT64_MAX - 3, 4, 1, &before) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_exchange_memory(owner, 99, 0, 4, 0, 1, &before) == NEOPVM_NOT_FOUND);
	CHECK(neopvm_exchange_memory(owner, NUMBER + 1, 0, 4, 0, 1, &before) == NEOPVM_DENIED);
	CHECK(before == 77);
	CHECK(neopvm_add_memory(owner, NUMBER, 24, 4, -5, NULL) == 0);
	CHECK(neopvm_add_memory(owner, NUMBER, 24, 4, 5, &before) == 0 && before == -5);
	CHECK(neopvm_exchange_memory(owner, NUMBER, 32, 8, 0, -7, &before) == 0 && before == 0);
	CHECK(neopvm_exchange_memory(owner, NUMBER, 32, 8, 0, 9, &before) == 0 && before == -7);
	CHECK(neopvm_exchange_memory(owner, NUMBER, 32, 8, -7, 0, &before) == 0 && before == -7);
}

int main(int argc, char **argv)
{
	int hosts = 0, h, k, rounds, parent, count = 0, sum = 0;
	int tids[MOST_HOSTS * EACH];
	struct pvmhostinfo *host;
	void *address;
	int me = pvm_mytid();
	parent = pvm_parent();
	if (parent > 0) {
		rounds = receive_int(parent, 1);
		refusals(parent);
		send_int(parent, 3, 0);
		receive_int(parent, 4);
		work(parent, rounds);
		pvm_exit();
		return 0;
	}
	CHECK(argc == 3);
	rounds = atoi(argv[2]);
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == atoi(argv[1]) && hosts <= MOST_HOSTS);
	CHECK(neopvm_expose(NUMBER, 64 + 4ull * rounds * hosts * EACH, NEOPVM_MAY_WRITE, &address) == 0);
	CHECK(neopvm_expose(NUMBER + 1, 8, NEOPVM_MAY_READ, &address) == 0);
	for (h = 0; h < hosts; h++)
		for (k = 0; k < EACH; k++)
			CHECK(pvm_spawn("counter", 0, PvmTaskHost, host[h].hi_name, 1, &tids[count++]) == 1);
	/* They use the same words: one after the other. */
	for (k = 0; k < count; k++) {
		send_int(tids[k], 1, rounds);
		receive_int(tids[k], 3);
	}
	for (k = 0; k < count; k++)
		send_int(tids[k], 4, 0);
	puts("begun");
	fflush(stdout);
	for (k = 0; k < count; k++)
		sum += receive_int(tids[k], 2);
	CHECK(sum == rounds * count);
	CHECK(word(me, 0, 4) == sum);
	CHECK(word(me, 8, 8) == 0);
	CHECK(word(me, 16, 4) == count * ((rounds + 9) / 10));
	for (k = 0; k < sum; k++)
		CHECK(word(me, 64 + 4 * k, 4) == 1);
	puts("counted");
	pvm_exit();
	return 0;
}
