/* imposter [SECONDS]: says to every task of the machine what only a recorder may say to those who record,
   and to recorders what only those may say: frames and nonsense. */
#include "e2e.h"
#include <stdint.h>

#define CONTEXT 0x7ec04de5

static unsigned char bytes[70000];

static int put(int at, uint64_t value, int size)
{
	memcpy(bytes + at, &value, size);
	return at + size;
}

/* A gap of a thousand records of a task, the last frame, the end of a task, and any bytes. */
static int frame(int kind, int tid)
{
	int at = 2, i;
	put(0, kind, 2);
	switch (kind) {
	case 4:
		at = put(at, tid, 4), at = put(at, 1, 8), at = put(at, 2, 8), at = put(at, 1000, 8), at = put(at, 1, 1);
		return at;
	case 6:
		at = put(at, tid, 4), at = put(at, 1, 8), at = put(at, 0, 4), at = put(at, 5, 8), at = put(at, 5, 8);
		return at;
	case 7:
		at = put(at, 1, 8), at = put(at, 5, 8), at = put(at, 5, 8);
		return at;
	default:
		for (i = 0; i < (int)sizeof bytes; i++)
			bytes[i] = rand() >> 7;
		put(0, kind % 9, 2);
		return rand() % sizeof bytes;
	}
}

int main(int argc, char **argv)
{
	int count, i, kind, sent = 0, size;
	struct pvmtaskinfo *tasks;
	time_t end = time(0) + (argc > 1 ? atoi(argv[1]) : 1);
	CALL(pvm_mytid());
	CALL(pvm_tasks(0, &count, &tasks));
	pvm_setcontext(CONTEXT);
	do {
		/* Recorders and those who record are listed to nobody, so all ids near our own are tried. */
		for (i = 1; i < 40; i++)
			for (kind = 1; kind < 9; kind++) {
				int to = (pvm_mytid() & ~0x3ffff) | i;
				if (to == pvm_mytid())
					continue;
				size = frame(kind, tasks[0].ti_tid);
				CALL(pvm_initsend(PvmDataRaw));
				CALL(pvm_pkbyte((char *)bytes, size, 1));
				CALL(pvm_send(to, 0));
				sent++;
			}
		pause_ms(20);
	} while (time(0) < end);
	printf("imposter %d\n", sent);
	pvm_exit();
	return 0;
}
