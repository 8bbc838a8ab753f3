/* lastcalls WHAT THREADS: threads whose last calls are made by the destructor of a pthread key, behind the destructors of
   thread-local data. "tables": the lists that a thread has asked for before can be asked for there. "buffers": what is packed
   there is freed, so numbers stay small. */
#include "e2e.h"
#include <pthread.h>

static pthread_key_t key;
static int of_tables;

static void tables(void)
{
	struct pvmhostinfo *hosts;
	struct pvmtaskinfo *tasks;
	struct pvmmboxinfo *boxes;
	int *tids, count, archs;
	CALL(pvm_config(&count, &archs, &hosts));
	CHECK(count == 1 && hosts[0].hi_name[0]);
	CALL(pvm_tasks(0, &count, &tasks));
	CHECK(count >= 1 && tasks[0].ti_tid > 0);
	CALL(pvm_siblings(&tids));
	CHECK(tids[0] > 0);
	CALL(pvm_getmboxinfo("*", &count, &boxes));
	CALL(pvm_getnoresets(&tids, &count));
}

static void last(void *unused)
{
	int number = 5;
	(void)unused;
	if (of_tables) {
		tables();
		return;
	}
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&number, 1, 1));
}

static void *thread(void *unused)
{
	int number = 4;
	if (of_tables)
		tables();
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&number, 1, 1));
	CHECK(pthread_setspecific(key, &key) == 0);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t one;
	int i, number;
	CHECK(argc > 2);
	of_tables = !strcmp(argv[1], "tables");
	CALL(pvm_mytid());
	/* Made here, the key comes behind what the library made at its first call. */
	CHECK(pthread_key_create(&key, last) == 0);
	for (i = 0; i < atoi(argv[2]); i++) {
		CHECK(pthread_create(&one, 0, thread, 0) == 0);
		CHECK(pthread_join(one, 0) == 0);
	}
	number = CALL(pvm_mkbuf(PvmDataDefault));
	CHECK(number < 20);
	pvm_exit();
	return 0;
}
