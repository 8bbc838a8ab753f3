/* cables WHAT ..: what tasks do over slow cables, each answer with its time: "WHAT MS" lines. UNTIL is how often, or a path: until
   that is there, with a pause of 20 ms between two.
   put BYTES UNTIL: a named message of so many bytes, over the one before it
   get NAME BYTES: reads one that is there, and looks at its bytes
   group UNTIL: joins a group, asks for its size, leaves it
   bulk HOST BYTES UNTIL: such messages by the daemons to a task there, at most BULK_MAX of them not answered
   direct HOST BYTES UNTIL: the same by a direct route
   spawn HOST UNTIL: a task there, which is killed, and the notice of its end */
#include "e2e.h"

enum { DATA = 1, DONE = 2, EXIT = 3, BULK_MAX = 8 };

static int more(const char *until, int done)
{
	if (*until != '/')
		return done < atoi(until);
	pause_ms(20);
	return access(until, F_OK) != 0;
}

static void answered(const char *what, double since)
{
	printf("%s %.2f\n", what, (now() - since) * 1e3);
}

static void put(int bytes, const char *until)
{
	char name[40];
	unsigned *body = malloc(bytes + 4);
	int i;
	double since;
	fill(body, bytes / 4 + 1, (unsigned)bytes);
	snprintf(name, sizeof name, "put of %d by %x", bytes, pvm_mytid());
	for (i = 0; i == 0 || more(until, i); i++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte((char *)body, bytes, 1));
		since = now();
		CALL(pvm_putinfo(name, pvm_getsbuf(), PvmMboxOverWritable | PvmMboxPersistent));
		answered("put", since);
	}
	printf("name %s\n", name);
	free(body);
}

static void get(char *name, int bytes)
{
	unsigned *body = calloc(1, bytes + 4);
	double since = now();
	CALL(pvm_setrbuf(CALL(pvm_recvinfo(name, 0, PvmMboxDefault))));
	answered("get", since);
	CALL(pvm_upkbyte((char *)body, bytes, 1));
	CHECK(is_filled(body, bytes / 4, (unsigned)bytes));
}

static void group(const char *until)
{
	int i;
	double since;
	for (i = 0; i == 0 || more(until, i); i++) {
		since = now();
		CALL(pvm_joingroup("cables"));
		answered("join", since);
		since = now();
		CHECK(pvm_gsize("cables") > 0);
		answered("size", since);
		since = now();
		CALL(pvm_lvgroup("cables"));
		answered("leave", since);
	}
}

static int start_on(char *host, char *what)
{
	char *args[] = {what, 0};
	int tid = 0;
	CHECK(pvm_spawn("cables", args, PvmTaskHost, host, 1, &tid) == 1);
	return tid;
}

static void bulk(char *host, int bytes, const char *until, int route)
{
	int i, open = 0, to = start_on(host, "sink"), words = bytes / 4;
	unsigned *body = malloc(bytes + 4);
	double since = now();
	CALL(pvm_setopt(PvmRoute, route));
	for (i = 0; i == 0 || more(until, i); i++) {
		for (; open >= BULK_MAX; open--)
			CHECK(receive_int(to, DONE) == i - open);
		fill(body, words, (unsigned)i);
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkint(&words, 1, 1));
		CALL(pvm_pkint((int *)body, words, 1));
		CALL(pvm_send(to, DATA));
		open++;
	}
	for (; open > 0; open--)
		CHECK(receive_int(to, DONE) == i - open);
	printf("kilobytes_per_second %.0f\n", i * (bytes / 1e3) / (now() - since));
	CALL(pvm_kill(to));
}

static void sink(void)
{
	int words, i;
	unsigned *body = 0;
	for (i = 0;; i++) {
		CALL(pvm_recv(pvm_parent(), DATA));
		CALL(pvm_upkint(&words, 1, 1));
		CHECK((body = realloc(body, words * 4 + 4)));
		CALL(pvm_upkint((int *)body, words, 1));
		CHECK(is_filled(body, words, (unsigned)i));
		send_int(pvm_parent(), DONE, i);
	}
}

static void spawn(char *host, const char *until)
{
	int i, tid;
	double since;
	for (i = 0; i == 0 || more(until, i); i++) {
		since = now();
		tid = start_on(host, "sit");
		answered("spawn", since);
		since = now();
		CALL(pvm_notify(PvmTaskExit, EXIT, 1, &tid));
		CALL(pvm_kill(tid));
		CHECK(receive_int(-1, EXIT) == tid);
		answered("told", since);
	}
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	CALL(pvm_mytid());
	if (strcmp(what, "put") == 0)
		put(atoi(argv[2]), argv[3]);
	else if (strcmp(what, "get") == 0)
		get(argv[2], atoi(argv[3]));
	else if (strcmp(what, "group") == 0)
		group(argv[2]);
	else if (strcmp(what, "bulk") == 0)
		bulk(argv[2], atoi(argv[3]), argv[4], PvmDontRoute);
	else if (strcmp(what, "direct") == 0)
		bulk(argv[2], atoi(argv[3]), argv[4], PvmRouteDirect);
	else if (strcmp(what, "spawn") == 0)
		spawn(argv[2], argv[3]);
	else if (strcmp(what, "sink") == 0)
		sink();
	else if (strcmp(what, "sit") == 0)
		pvm_recv(-1, DATA);
	else
		CHECK(!"a known word");
	CALL(pvm_exit());
	return 0;
}
