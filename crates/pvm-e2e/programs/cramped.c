/* A task that has little address space (ulimit -v of a batch system): what it cannot map is refused and stays; what
 * it cannot allocate is an error, and not its end. Arguments: none for the master. */
#include "e2e.h"
#include <sys/resource.h>

enum { LARGE = 30 << 20, SMALL = 10 };

static void limit(long more)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	CHECK(f && fscanf(f, "%ld", &pages) == 1);
	fclose(f);
	struct rlimit r = { RLIM_INFINITY, RLIM_INFINITY };
	if (more >= 0)
		r.rlim_cur = pages * sysconf(_SC_PAGESIZE) + more;
	CHECK(setrlimit(RLIMIT_AS, &r) == 0);
}

static int worker(void)
{
	int small = 0, late = 0, parent = pvm_parent();
	struct timeval soon = { 20, 0 };

	limit(8 << 20);
	pvm_psend(parent, 1, &small, 1, PVM_INT);
	int refused = pvm_recv(parent, 2);
	int again = pvm_nrecv(-1, 2);
	int probed = pvm_probe(-1, 2);
	int other = pvm_trecv(parent, 3, &soon);
	pvm_upkint(&small, 1, 1);
	limit(-1);
	int buffer = pvm_recv(-1, -1), bytes = 0, tag = 0, from = 0;
	pvm_bufinfo(buffer, &bytes, &tag, &from);
	char *body = malloc(LARGE);
	pvm_upkbyte(body, LARGE, 1);
	pvm_recv(-1, -1);
	pvm_upkint(&late, 1, 1);
	pvm_initsend(PvmDataDefault);
	int told[] = { refused, again, probed > 0, other > 0, small, bytes, tag, body[LARGE - 1], late };
	pvm_pkint(told, 9, 1);
	pvm_send(parent, 9);
	pvm_exit();
	return 0;
}

/* Sends to itself until it is refused, and reads all that was accepted. */
static int hoard(void)
{
	enum { SIZE = 1 << 20, MOST = 4000 };
	static char bytes[SIZE];
	int me = pvm_mytid(), sent = 0, code = 0, read = 0;

	pvm_setopt(PvmAutoErr, 0);
	limit(60 << 20);
	while (sent < MOST) {
		bytes[0] = sent % 100;
		if ((code = pvm_initsend(PvmDataRaw)) < 0 || (code = pvm_pkbyte(bytes, SIZE, 1)) < 0 ||
		    (code = pvm_send(me, 5)) < 0)
			break;
		sent++;
	}
	limit(-1);
	while (pvm_nrecv(me, 5) > 0 && pvm_upkbyte(bytes, SIZE, 1) == 0 && bytes[0] == read % 100)
		read++;
	printf("code %d\nsent %d\nread %d\n", code, sent, read);
	pvm_exit();
	return 0;
}

int main(int argc, char **argv)
{
	int tid = 0, told[9] = { 0 }, one = 77, two = 78;

	if (argc > 1 && strcmp(argv[1], "hoard") == 0)
		return hoard();
	pvm_mytid();
	pvm_setopt(PvmAutoErr, 0);
	if (pvm_parent() > 0)
		return worker();
	CHECK(pvm_spawn(argv[0], 0, 0, "", 1, &tid) == 1);
	pvm_precv(tid, 1, &told[0], 1, PVM_INT, 0, 0, 0);
	pvm_psend(tid, 2, calloc(1, LARGE), LARGE, PVM_BYTE);
	pvm_psend(tid, 3, &one, 1, PVM_INT);
	pvm_psend(tid, 4, &two, 1, PVM_INT);
	pvm_recv(tid, 9);
	pvm_upkint(told, 9, 1);
	printf("refused %d\nagain %d\nprobed %d\nother %d\nsmall %d\nbytes %d\ntag %d\nlast %d\nlate %d\n", told[0], told[1],
	       told[2], told[3], told[4], told[5], told[6], told[7], told[8]);
	pvm_exit();
	return 0;
}
