/* What the test programs share: failing loudly, a clock, and numbered messages whose content is
   known to both sides. Every task ends with a status other than 0 when something is wrong. */
#include <errno.h>
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                                             \
	do {                                                                        \
		if (!(what))                                                            \
			fail(__FILE__, __LINE__, #what, 0);                                 \
	} while (0)
/* Lines appear when they are written, also where nobody looks at a terminal. */
__attribute__((constructor)) static void show_lines(void)
{
	setvbuf(stdout, 0, _IOLBF, 0);
}

/* The value of a call that must not fail. */
#define CALL(call) must((call), __FILE__, __LINE__, #call)

static void fail(const char *file, int line, const char *what, int code)
{
	const char *name = strrchr(file, '/');
	fprintf(stderr, "%s:%d [%d]: %s", name ? name + 1 : file, line, (int)getpid(), what);
	if (code)
		fprintf(stderr, " = %d", code);
	fprintf(stderr, " (errno %s)\n", strerror(errno));
	fflush(stderr);
	_exit(9);
}

static int must(int code, const char *file, int line, const char *what)
{
	if (code < 0)
		fail(file, line, what, code);
	return code;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void pause_ms(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void fill(unsigned *words, int count, unsigned seed)
{
	int i;
	for (i = 0; i < count; i++)
		words[i] = seed = seed * 1664525u + 1013904223u;
}

/* True if the words are those of fill(). */
static int is_filled(const unsigned *words, int count, unsigned seed)
{
	int i;
	for (i = 0; i < count; i++)
		if (words[i] != (seed = seed * 1664525u + 1013904223u))
			return 0;
	return 1;
}

/* Words in the i-th message: most ride in a cell of their lane, others in several, some are large. */
static int words_of(int i)
{
	if (i % 100 < 50)
		return 1 + i * 37 % 50;
	if (i % 100 < 70)
		return 51 + i * 37 % 1000;
	if (i % 100 < 90)
		return 800 + i * 911 % 5000;
	if (i % 100 < 98)
		return 25000 + i * 7919 % 12000;
	return 250000 + i;
}

static const int encodings[3] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace};
static unsigned words[600000];

static void send_numbered(int to, int tag, int i)
{
	static int header[2];
	int encoding = encodings[i % 3];
	header[0] = i;
	header[1] = words_of(i);
	fill(words, header[1], i);
	CALL(pvm_initsend(encoding));
	CALL(pvm_pkint(header, 2, 1));
	CALL(pvm_pkint((int *)words, header[1], 1));
	CALL(pvm_send(to, tag));
}

/* Checks the message in the receive buffer. */
static void unpack_numbered(int i)
{
	int header[2];
	CALL(pvm_upkint(header, 2, 1));
	if (header[0] != i)
		fprintf(stderr, "expected message %d, got %d\n", i, header[0]);
	CHECK(header[0] == i);
	CHECK(header[1] == words_of(i));
	memset(words, 0, header[1] * 4);
	CALL(pvm_upkint((int *)words, header[1], 1));
	CHECK(is_filled(words, header[1], i));
}

static void receive_numbered(int from, int tag, int i)
{
	CALL(pvm_recv(from, tag));
	unpack_numbered(i);
}

static void send_int(int to, int tag, int value)
{
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&value, 1, 1));
	CALL(pvm_send(to, tag));
}

static int receive_int(int from, int tag)
{
	int value;
	CALL(pvm_recv(from, tag));
	CALL(pvm_upkint(&value, 1, 1));
	return value;
}

/* Starts one task of the program `name` with up to three arguments. */
static int spawn_one(char *name, char *a, char *b, char *c)
{
	char *args[4];
	int tid = 0;
	args[0] = a, args[1] = b, args[2] = c, args[3] = 0;
	CALL(pvm_spawn(name, args, PvmTaskDefault, "", 1, &tid));
	CALL(tid);
	CHECK(tid > 0);
	return tid;
}

/* Waits until a process is gone, a zombie included. */
static void await_end(int pid)
{
	double end = now() + 100;
	while (kill(pid, 0) == 0) {
		CHECK(now() < end);
		pause_ms(1);
	}
}

/* Says something to another process without a message: a file that appears at once. */
static void write_file(const char *path, int value)
{
	char new[600];
	FILE *file;
	snprintf(new, sizeof new, "%s.new", path);
	file = fopen(new, "w");
	CHECK(file);
	fprintf(file, "%d\n", value);
	CHECK(fclose(file) == 0);
	CHECK(rename(new, path) == 0);
}

static int await_file(const char *path)
{
	double end = now() + 40;
	int value = 0;
	FILE *file;
	while (!(file = fopen(path, "r"))) {
		CHECK(now() < end);
		pause_ms(2);
	}
	CHECK(fscanf(file, "%d", &value) == 1);
	fclose(file);
	return value;
}

/* A path in HOME that no other run of the test uses. */
static char *own_path(const char *name)
{
	static char path[512];
	snprintf(path, sizeof path, "%s/%s-%d", getenv("HOME"), name, (int)getpid());
	return path;
}
