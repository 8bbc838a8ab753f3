/* Of programs that look at spaces from outside: the statuses of neotuple.h, and the server of this host. */
#ifndef SPACES_H
#define SPACES_H
#include "e2e.h"
#include "neotuple.h"

#define OK(call) do { int32_t status_ = (call); \
	if (status_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, neotuple_text(status_)); exit(1); } \
} while (0)

/* The task that keeps the spaces of this host. */
static inline int server_task(void)
{
	unsigned char id[4];

	CALL(pvm_setrbuf(CALL(pvm_recvinfo("neopvm.tuple-servers", pvm_mytid() >> 18, 0))));
	CALL(pvm_upkbyte((char *)id, 4, 1));
	return id[0] | id[1] << 8 | id[2] << 16 | id[3] << 24;
}

/* Its process. */
static inline int server(void)
{
	struct pvmtaskinfo *task;
	int count;

	CALL(pvm_tasks(server_task(), &count, &task));
	return task->ti_pid;
}
#endif
