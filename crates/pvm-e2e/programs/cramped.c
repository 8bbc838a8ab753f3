/* A task that has little address space (ulimit -v of a batch system): what it cannot map is refused and stays, and what it
 * cannot allocate is an error and not its end. Arguments: "few", "files", "large", "look", "rings" or "hoard". */
#include "e2e.h"
#include <sys/resource.h>

enum { LARGE = 30 << 20, COUNT = 40000 };
enum { READY = 1, BODY, OTHER, LATE, PROBED, AGAIN, GO_ON, NUMBER };

/* The task may take so many bytes more; any number where that is negative. */
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

static void tell(int to, int tag, int number)
{
	CALL(pvm_psend(to, tag, &number, 1, PVM_INT));
}

static int number_of(int from, int tag)
{
	int number = -1;
	CALL(pvm_recv(from, tag));
	CALL(pvm_upkint(&number, 1, 1));
	return number;
}

/* An int and as many bytes of this value as need a slab of their own. */
static void send_large(int to, int tag, int value)
{
	char *bytes = malloc(LARGE);
	memset(bytes, value, LARGE);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&value, 1, 1));
	CALL(pvm_pkbyte(bytes, LARGE, 1));
	CALL(pvm_send(to, tag));
	free(bytes);
}

/* How many of the bytes of the current message are of this value. */
static int bytes_of(int value)
{
	char *bytes = malloc(LARGE);
	int first = 0, good = 0;
	CALL(pvm_upkint(&first, 1, 1));
	CALL(pvm_upkbyte(bytes, LARGE, 1));
	for (int i = 0; first == value && i < LARGE; i++)
		good += bytes[i] == value;
	free(bytes);
	return good;
}

static void large(int parent)
{
	int tag = 0, bytes = 0, from = 0;

	limit(8 << 20);
	tell(parent, READY, 0);
	printf("refused %d\n", pvm_recv(parent, BODY));
	printf("again %d\n", pvm_nrecv(-1, BODY));
	printf("probed %d\n", pvm_probe(-1, BODY) > 0);
	printf("other %d\n", number_of(parent, OTHER));
	limit(-1);
	/* A look at it, for which it is mapped, does not let go of it. */
	CALL(pvm_bufinfo(CALL(pvm_probe(-1, BODY)), &bytes, &tag, &from));
	printf("bytes %d\n", bytes);
	tell(parent, PROBED, 0);
	number_of(parent, GO_ON);
	CALL(pvm_bufinfo(CALL(pvm_recv(-1, -1)), &bytes, &tag, &from));
	printf("tag %d\ngood %d\n", tag, bytes_of(7));
	printf("late %d\n", number_of(-1, -1));
}

static volatile sig_atomic_t all_sent;

static void note(int signal)
{
	(void)signal;
	all_sent = 1;
}

static void rings(int parent)
{
	int code = 0, good = 0;

	signal(SIGUSR1, note);
	tell(parent, READY, 0);
	while (!all_sent)
		pause_ms(1);
	/* The later rings of the lane are larger than what there is room for. Who receives is told, and not left to wait. */
	limit(2 << 20);
	while (good < COUNT && (code = pvm_recv(parent, NUMBER)) > 0) {
		int number = -1;
		CALL(pvm_upkint(&number, 1, 1));
		CHECK(number == good++);
	}
	printf("refused %d\nbefore %d\n", code, good);
	limit(-1);
	while (good < COUNT && number_of(parent, NUMBER) == good)
		good++;
	printf("good %d\n", good);
}

/* There is no number left for the descriptor of a lane: a receive is told, and who waits for something else is idle. */
static void few(int parent)
{
	struct timeval second = { 1, 0 };
	struct rlimit all, none;

	signal(SIGUSR1, note);
	tell(parent, READY, 0);
	while (!all_sent)
		pause_ms(1);
	CHECK(getrlimit(RLIMIT_NOFILE, &all) == 0);
	none = all;
	none.rlim_cur = 3;
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	printf("refused %d\n", pvm_trecv(parent, NUMBER, &second));
	clock_t begin = clock();
	int found = pvm_recvinfo("few", 0, PvmMboxWaitForInfo);
	printf("found %d\nbusy %ld\n", found > 0, (clock() - begin) * 1000 / CLOCKS_PER_SEC);
	CHECK(setrlimit(RLIMIT_NOFILE, &all) == 0);
	printf("late %d\n", number_of(parent, NUMBER));
}

static char file_bytes[1 << 20];

/* It may not write files as long as what finds no room in memory needs (ulimit -f): it is told, and not ended. */
static void files(int parent)
{
	struct rlimit r;
	int sent = 0, code = 0;

	CHECK(getrlimit(RLIMIT_FSIZE, &r) == 0);
	r.rlim_cur = 3 << 20;
	CHECK(setrlimit(RLIMIT_FSIZE, &r) == 0);
	tell(parent, READY, 0);
	for (; sent < 100; sent++) {
		memset(file_bytes, sent, sizeof file_bytes);
		if ((code = pvm_psend(parent, BODY, file_bytes, sizeof file_bytes, PVM_BYTE)) < 0)
			break;
	}
	printf("sent %d\ncode %d\n", sent, code);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&sent, 1, 1));
	CALL(pvm_send(parent, NUMBER));
}

static void read_for_files(int tid)
{
	int sent = number_of(tid, NUMBER);

	for (int i = 0; i < sent; i++) {
		CALL(pvm_precv(tid, BODY, file_bytes, sizeof file_bytes, PVM_BYTE, 0, 0, 0));
		CHECK(file_bytes[0] == i && file_bytes[sizeof file_bytes - 1] == i);
	}
	printf("read %d\n", sent);
}

/* Many runs: their list lies behind the data, and is longer than what there is room for. */
enum { RUNS = 100000, INTS = 4 };
static int runs[RUNS][INTS];

static void send_runs(int to, int tag, int value)
{
	CALL(pvm_initsend(PvmDataDefault));
	for (int i = 0; i < RUNS; i++) {
		for (int k = 0; k < INTS; k++)
			runs[i][k] = value;
		CALL(pvm_pkint(runs[i], INTS, 1));
		CALL(pvm_pkbyte("end", 3, 1));
	}
	CALL(pvm_send(to, tag));
}

/* What was looked at from afar is its reader's still: its sender writes nothing else there. */
static void look(int parent)
{
	int bytes = 0, tag = 0, from = 0, wrong = 0;
	char end[3];

	limit(500 << 10);
	tell(parent, READY, 0);
	number_of(parent, OTHER);
	printf("refused %d\n", pvm_recv(parent, BODY));
	printf("probed %d\n", pvm_probe(parent, BODY) > 0);
	limit(40 << 20);
	CALL(pvm_bufinfo(CALL(pvm_probe(parent, BODY)), &bytes, &tag, &from));
	tell(parent, PROBED, 0);
	number_of(parent, GO_ON);
	limit(-1);
	CALL(pvm_recv(parent, BODY));
	for (int i = 0; i < RUNS; i++) {
		CALL(pvm_upkint(runs[i], INTS, 1));
		CALL(pvm_upkbyte(end, 3, 1));
		for (int k = 0; k < INTS; k++)
			wrong += runs[i][k] != 77;
	}
	printf("bytes %d\nwrong %d\n", bytes, wrong);
}

/* Sends to itself until it is refused, and reads all that was accepted. */
static void hoard(void)
{
	enum { SIZE = 1 << 20, MOST = 4000 };
	static char bytes[SIZE];
	int me = pvm_mytid(), sent = 0, code = 0, read = 0;

	limit(60 << 20);
	for (; sent < MOST; sent++) {
		bytes[0] = sent % 100;
		if ((code = pvm_initsend(PvmDataRaw)) < 0 || (code = pvm_pkbyte(bytes, SIZE, 1)) < 0 ||
		    (code = pvm_send(me, NUMBER)) < 0)
			break;
	}
	limit(-1);
	while (pvm_nrecv(me, NUMBER) > 0 && pvm_upkbyte(bytes, SIZE, 1) == 0 && bytes[0] == read % 100)
		read++;
	printf("code %d\nsent %d\nread %d\n", code, sent, read);
}

/* What the master sends to a worker of each mode. */
static void send_for_large(int tid)
{
	send_large(tid, BODY, 7);
	tell(tid, OTHER, 77);
	tell(tid, LATE, 78);
	number_of(tid, PROBED);
	send_large(tid, AGAIN, 9);
	tell(tid, GO_ON, 0);
}

static void send_for_look(int tid)
{
	send_runs(tid, BODY, 77);
	tell(tid, OTHER, 0);
	number_of(tid, PROBED);
	for (int i = 0; i < 12; i++)
		send_runs(tid, AGAIN, i);
	tell(tid, GO_ON, 0);
}

static void send_for_rings(int tid)
{
	for (int i = 0; i < COUNT; i++)
		tell(tid, NUMBER, i);
	CALL(pvm_sendsig(tid, SIGUSR1));
}

static void send_for_few(int tid)
{
	tell(tid, NUMBER, 77);
	CALL(pvm_sendsig(tid, SIGUSR1));
	pause_ms(1000);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_putinfo("few", pvm_getsbuf(), PvmMboxDefault));
}

static const struct {
	const char *name;
	void (*worker)(int parent);
	void (*master)(int tid);
} modes[] = {
	{ "few", few, send_for_few },
	{ "files", files, read_for_files },
	{ "large", large, send_for_large },
	{ "look", look, send_for_look },
	{ "rings", rings, send_for_rings },
};

int main(int argc, char **argv)
{
	int parent = (CALL(pvm_mytid()), pvm_parent()), tid = 0;
	const char *mode = argc > 1 ? argv[1] : "";

	pvm_setopt(PvmAutoErr, 0);
	if (strcmp(mode, "hoard") == 0)
		hoard();
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(mode, modes[i].name) != 0)
			continue;
		if (parent > 0) {
			modes[i].worker(parent);
			continue;
		}
		pvm_catchout(stdout);
		CHECK(pvm_spawn(argv[0], argv + 1, PvmTaskDefault, "", 1, &tid) == 1);
		number_of(tid, READY);
		modes[i].master(tid);
	}
	pvm_exit();
	return 0;
}
