/* exposed HOST...: memory of a task on each of the hosts is read and written by this one, while
   its owner looks at nothing but the memory itself; its end is told. */
#include "e2e.h"
#include "neopvm.h"

#define NUMBER 7
#define READ_ONLY 8
#define WORDS 100003 /* more than one piece, and no whole page */
#define BYTES (WORDS * 4ull)

static void own(int parent)
{
	void *address = 0, *other = 0;
	volatile unsigned *flag;
	unsigned *memory;
	int i;
	CHECK(neopvm_expose(NUMBER, BYTES + 8, 2, &address) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_expose(NUMBER, 0, NEOPVM_MAY_WRITE, &address) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_expose(NUMBER, BYTES + 8, NEOPVM_MAY_WRITE, &address) == 0);
	CHECK(neopvm_expose(NUMBER, BYTES, NEOPVM_MAY_WRITE, &other) == NEOPVM_ALREADY);
	CHECK(neopvm_expose(READ_ONLY, 8, NEOPVM_MAY_READ, &other) == 0);
	CHECK(neopvm_expose(9, 1ull << 60, NEOPVM_MAY_READ, &other) == NEOPVM_NO_MEMORY);
	memory = address;
	for (i = 0; i < WORDS; i++)
		CHECK(memory[i] == 0);
	fill(memory, WORDS, 1);
	memcpy(other, "constant", 8);
	send_int(parent, 1, getpid());
	/* Nothing of the library runs here until the memory says so. */
	flag = memory + WORDS;
	while (!*flag)
		pause_ms(1);
	CHECK(is_filled(memory, WORDS, 2));
	CHECK(neopvm_withdraw(READ_ONLY) == 0);
	CHECK(neopvm_withdraw(READ_ONLY) == NEOPVM_NOT_FOUND);
	send_int(parent, 2, 0);
	for (;;)
		pause_ms(1000);
}

static void use(int owner)
{
	static unsigned data[WORDS];
	unsigned one = 1;
	uint64_t bytes = 0;
	int32_t rights = 0;
	char text[8];
	int pid = receive_int(owner, 1), status;
	double end;
	CHECK(neopvm_exposed(owner, NUMBER, &bytes, &rights) == 0);
	CHECK(bytes == BYTES + 8 && rights == NEOPVM_MAY_WRITE);
	CHECK(neopvm_exposed(owner, READ_ONLY, &bytes, &rights) == 0);
	CHECK(bytes == 8 && rights == NEOPVM_MAY_READ);
	CHECK(neopvm_get_memory(owner, NUMBER, 0, data, BYTES) == 0);
	CHECK(is_filled(data, WORDS, 1));
	CHECK(neopvm_get_memory(owner, READ_ONLY, 0, text, 8) == 0 && !memcmp(text, "constant", 8));
	CHECK(neopvm_put_memory(owner, READ_ONLY, 0, "x", 1) == NEOPVM_DENIED);
	CHECK(neopvm_get_memory(owner, READ_ONLY, 1, text, 8) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_get_memory(owner, READ_ONLY, UINT64_MAX, text, 8) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_put_memory(owner, NUMBER, BYTES + 8, &one, 1) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_get_memory(owner, 99, 0, text, 1) == NEOPVM_NOT_FOUND);
	CHECK(neopvm_get_memory(owner, READ_ONLY, 8, text, 0) == 0);
	fill(data, WORDS, 2);
	CHECK(neopvm_put_memory(owner, NUMBER, 0, data, BYTES) == 0);
	CHECK(neopvm_put_memory(owner, NUMBER, BYTES, &one, 4) == 0);
	receive_int(owner, 2);
	CHECK(neopvm_get_memory(owner, READ_ONLY, 0, text, 8) == NEOPVM_NOT_FOUND);
	CHECK(neopvm_get_memory(owner, NUMBER, BYTES, &one, 4) == 0 && one == 1);
	kill(pid, SIGKILL);
	end = now() + 100;
	while ((status = neopvm_get_memory(owner, NUMBER, 0, data, BYTES)) == 0)
		CHECK(now() < end);
	CHECK(status == NEOPVM_NO_TASK);
	CHECK(neopvm_put_memory(owner, NUMBER, 0, data, 8) == NEOPVM_NO_TASK);
}

int main(int argc, char **argv)
{
	int hosts = 0, i, tid, parent;
	struct pvmhostinfo *host;
	CALL(pvm_mytid());
	parent = pvm_parent();
	if (parent > 0) {
		own(parent);
		return 0;
	}
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(argc < 2 || hosts == atoi(argv[1]));
	for (i = 0; i < hosts; i++) {
		CHECK(pvm_spawn("exposed", 0, PvmTaskHost, host[i].hi_name, 1, &tid) == 1);
		use(tid);
	}
	CHECK(neopvm_get_memory(0, NUMBER, 0, &i, 4) < 0);
	pvm_exit();
	return 0;
}
