/* tuples WHAT: a tuple space as C programs use it. With a second word the program is a task of its own.
     fields    every type of field comes out as it went in, and types are not mixed
     order     the oldest tuple goes first, and waiters are served in the order in which they came
     claims    the tuple of a claimer that is killed comes back, once, with one try more
     bag N     N workers square the numbers of a bag of tasks, one of them is killed at its work */
#include "e2e.h"
#include "neopvm.h"
#include "neotuple.h"
#include <complex.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#define OK(call) do { int32_t status_ = (call); \
	if (status_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, neotuple_text(status_)); exit(1); } \
} while (0)

enum { SECOND = 1000000000 };

static neotuple_space space;

/* (name, value), or a template for it where there is no value. */
static neotuple pair(const char *name, const int *value)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	OK(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, name, strlen(name)));
	if (value)
		OK(neotuple_add(tuple, NEOTUPLE_INT, value));
	else
		OK(neotuple_add_formal(tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	return tuple;
}

static void out(const char *name, int value)
{
	neotuple tuple = pair(name, &value);

	OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
	OK(neotuple_free(tuple));
}

static int value_of(neotuple tuple)
{
	int value;

	OK(neotuple_get(tuple, 1, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
	return value;
}

/* Takes a tuple of this name; -1 if none comes in time. */
static int in(const char *name, int64_t limit)
{
	neotuple template = pair(name, 0), tuple;
	int value = -1;

	OK(neotuple_in(space, template, limit, &tuple));
	if (tuple)
		value = value_of(tuple);
	OK(neotuple_free(tuple));
	OK(neotuple_free(template));
	return value;
}

static uint64_t count(const char *name)
{
	neotuple template = pair(name, 0);
	uint64_t found;

	OK(neotuple_count(space, template, &found));
	OK(neotuple_free(template));
	return found;
}

static int spawn(const char *self, const char *role)
{
	const char *args[] = {role, 0};
	int32_t tid, started;

	OK(neopvm_spawn(self, args, 0, 0, 1, &tid, &started));
	CHECK(started == 1);
	return tid;
}

struct point { double x, y; char name[5]; };

/* One tuple with all types, and what comes out of it. */
static void fields(void)
{
	neotuple tuple, template, taken;
	struct neotuple_field field;
	signed char sc = -1; unsigned char uc = 200; char c = 'c'; short s = -3; unsigned short us = 60000;
	int i = -5; unsigned u = 3000000000u; long l = -7; unsigned long ul = 8; long long ll = -(1ll << 40);
	unsigned long long ull = 1ull << 63; float f = 1.5f; double d = -0.0; long double ld = 2.5L; _Bool b = 1;
	float complex fc = 1 + 2 * I; double complex dc = 3 - 4 * I;
	struct { int type; void *value; size_t size; } all[] = {
		{NEOTUPLE_SIGNED_CHAR, &sc, 1}, {NEOTUPLE_UNSIGNED_CHAR, &uc, 1}, {NEOTUPLE_CHAR, &c, 1},
		{NEOTUPLE_SHORT, &s, sizeof s}, {NEOTUPLE_UNSIGNED_SHORT, &us, sizeof us}, {NEOTUPLE_INT, &i, sizeof i},
		{NEOTUPLE_UNSIGNED_INT, &u, sizeof u}, {NEOTUPLE_LONG, &l, sizeof l},
		{NEOTUPLE_UNSIGNED_LONG, &ul, sizeof ul}, {NEOTUPLE_LONG_LONG, &ll, sizeof ll},
		{NEOTUPLE_UNSIGNED_LONG_LONG, &ull, sizeof ull}, {NEOTUPLE_FLOAT, &f, sizeof f},
		{NEOTUPLE_DOUBLE, &d, sizeof d}, {NEOTUPLE_LONG_DOUBLE, &ld, sizeof ld}, {NEOTUPLE_BOOL, &b, 1},
		{NEOTUPLE_FLOAT_COMPLEX, &fc, sizeof fc}, {NEOTUPLE_DOUBLE_COMPLEX, &dc, sizeof dc},
	};
	size_t number, kinds = sizeof all / sizeof all[0];
	struct point point = {1, 2, "abcd"};
	static double large[200000], back[200000];
	unsigned char value[16];
	uint64_t items;

	OK(neotuple_new(&tuple));
	OK(neotuple_new(&template));
	for (number = 0; number < kinds; number++) {
		OK(neotuple_add(tuple, all[number].type, all[number].value));
		OK(neotuple_add_formal(template, all[number].type, NEOTUPLE_SCALAR, 0));
	}
	for (number = 0; number < 200000; number++)
		large[number] = number / 3.0;
	OK(neotuple_add_bytes(tuple, NEOTUPLE_STRUCT, &point, sizeof point));
	OK(neotuple_add_formal(template, NEOTUPLE_STRUCT, 0, sizeof point));
	OK(neotuple_add_array(tuple, NEOTUPLE_DOUBLE, large, 200000));
	OK(neotuple_add_formal(template, NEOTUPLE_DOUBLE, NEOTUPLE_ARRAY, 0));
	OK(neotuple_add_array(tuple, NEOTUPLE_SHORT, 0, 0));
	OK(neotuple_add_formal(template, NEOTUPLE_SHORT, NEOTUPLE_ARRAY, 0));
	OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
	/* A template is not put, and a long is no int. */
	CHECK(neotuple_out(space, template, NEOTUPLE_FOREVER, 0) == NEOTUPLE_BAD_PARAMETER);
	OK(neotuple_in(space, template, 0, &taken));
	CHECK(taken);
	for (number = 0; number < kinds; number++) {
		OK(neotuple_field(taken, number, &field));
		CHECK(field.type == all[number].type && field.bytes == all[number].size && !field.formal);
		CHECK((uintptr_t)field.data % (field.bytes < 8 ? field.bytes : 8) == 0);
		CHECK(number == 13 ? *(const long double *)field.data == ld
				   : !memcmp(field.data, all[number].value, field.bytes));
		OK(neotuple_get(taken, number, field.type, NEOTUPLE_SCALAR, value, sizeof value, &items));
		CHECK(items == 1);
		CHECK(neotuple_get(taken, number, field.type, NEOTUPLE_ARRAY, value, sizeof value, 0) == NEOTUPLE_MISMATCH);
	}
	OK(neotuple_field(taken, kinds, &field));
	CHECK(field.bytes == sizeof point && !strcmp(((const struct point *)field.data)->name, "abcd"));
	CHECK(neotuple_get(taken, kinds + 1, NEOTUPLE_DOUBLE, NEOTUPLE_ARRAY, back, 8, &items) == NEOTUPLE_TOO_LARGE);
	CHECK(items == 200000);
	OK(neotuple_get(taken, kinds + 1, NEOTUPLE_DOUBLE, NEOTUPLE_ARRAY, back, sizeof back, 0));
	CHECK(!memcmp(large, back, sizeof back));
	OK(neotuple_field(taken, kinds + 2, &field));
	CHECK(field.count == 0 && field.shape == NEOTUPLE_ARRAY);
	CHECK(neotuple_add(taken, NEOTUPLE_INT, &i) == NEOTUPLE_BAD_PARAMETER);
	OK(neotuple_free(taken));
	OK(neotuple_in(space, template, SECOND / 100, &taken));
	CHECK(!taken);
	CHECK(neotuple_free(taken) == 0 && neotuple_free(12345) == NEOTUPLE_BAD_PARAMETER);
	printf("fields ok\n");
}

static void order(const char *self)
{
	neotuple many[3], back[10], template = pair("x", 0);
	uint64_t found;
	int number;

	for (number = 0; number < 3; number++)
		out("x", number);
	for (number = 0; number < 3; number++)
		CHECK(in("x", 0) == number);
	CHECK(in("x", 0) == -1 && in("x", SECOND / 50) == -1);
	for (number = 0; number < 3; number++)
		many[number] = pair("x", &number);
	OK(neotuple_out_all(space, many, 3, NEOTUPLE_FOREVER, 0));
	OK(neotuple_copy(space, template, back, 2, &found));
	CHECK(found == 2 && value_of(back[1]) == 1 && count("x") == 3);
	OK(neotuple_collect(space, template, back, 10, &found));
	CHECK(found == 3 && value_of(back[2]) == 2 && count("x") == 0);
	/* Three tasks wait, one after the other. */
	for (number = 0; number < 3; number++) {
		spawn(self, "waiter");
		CHECK(in("waits", NEOTUPLE_FOREVER) == 0);
		usleep(100000);
	}
	for (number = 0; number < 3; number++) {
		out("for a waiter", number);
		CHECK(in("served", 100ll * SECOND) == number);
	}
	printf("order ok\n");
}

/* All claims of a task end in one step, which puts tuples, or none does. */
static void all_claims(neotuple template, neotuple answer)
{
	neotuple first, second, both[] = {answer, answer}, wrong[] = {answer, template};
	int answers = count("answer");

	out("task", 1);
	out("task", 2);
	OK(neotuple_claim(space, template, 0, 0, &first));
	OK(neotuple_claim(space, template, 0, 0, &second));
	CHECK(neotuple_done_all(space, wrong, 2) == NEOTUPLE_BAD_PARAMETER);
	CHECK(neotuple_done_all(space, 0, 2) == NEOTUPLE_BAD_PARAMETER);
	CHECK(neotuple_done_all(space, both, UINT64_MAX) == NEOTUPLE_BAD_PARAMETER && count("answer") == answers);
	OK(neotuple_give_back(space, first));
	CHECK(count("task") == 1);
	OK(neotuple_done_all(space, both, 2));
	CHECK(count("task") == 1 && count("answer") == answers + 2);
	CHECK(neotuple_done(space, second, 0, 0) == NEOTUPLE_CLAIM_OVER);
	OK(neotuple_done_all(space, both, 1));
	CHECK(in("task", 0) == 1 && count("answer") == answers + 3);
}

static void claims(const char *self)
{
	neotuple template = pair("task", 0), claim, answer;
	uint64_t tries;
	int number;

	out("task", 7);
	for (number = 0; number < 3; number++) {
		int tid = spawn(self, "claimer");

		CHECK(in("claimed", 100ll * SECOND) == 7 && count("task") == 0);
		OK(neopvm_signal(tid, SIGKILL));
		OK(neotuple_claim(space, template, 100ll * SECOND, 0, &claim));
		CHECK(claim);
		OK(neotuple_tries(claim, &tries));
		CHECK((int)tries == 2 * number + 1);
		OK(neotuple_give_back(space, claim));
		CHECK(neotuple_give_back(space, claim) == NEOTUPLE_CLAIM_OVER);
	}
	/* A lease that ends frees the tuple, and what comes too late puts nothing. */
	OK(neotuple_claim(space, template, 0, SECOND / 20, &claim));
	CHECK(in("task", 100ll * SECOND) == 7);
	answer = pair("answer", &number);
	CHECK(neotuple_done(space, claim, &answer, 1) == NEOTUPLE_CLAIM_OVER && count("answer") == 0);
	out("task", 8);
	OK(neotuple_claim(space, template, 0, 0, &claim));
	OK(neotuple_done(space, claim, &answer, 1));
	CHECK(count("answer") == 1 && count("task") == 0);
	all_claims(template, answer);
	printf("claims ok\n");
}

static void bag(const char *self, int workers)
{
	enum { TASKS = 300 };
	long sum = 0, right = 0;
	int number, victim = 0;

	for (number = 0; number < TASKS; number++)
		out("task", number);
	for (number = 0; number < workers; number++)
		victim = spawn(self, "worker");
	for (number = 0; number < TASKS; number++) {
		sum += in("square", 100ll * SECOND);
		right += number * number;
		if (number == TASKS / 3)
			OK(neopvm_signal(victim, SIGKILL));
	}
	CHECK(sum == right && count("task") == 0 && count("square") == 0);
	for (number = 0; number < workers; number++)
		out("task", -1);
	printf("bag ok\n");
}

static int task(const char *role)
{
	if (!strcmp(role, "waiter")) {
		out("waits", 0);
		out("served", in("for a waiter", NEOTUPLE_FOREVER));
	} else if (!strcmp(role, "claimer")) {
		neotuple claim;

		OK(neotuple_claim(space, pair("task", 0), NEOTUPLE_FOREVER, 0, &claim));
		out("claimed", value_of(claim));
		pause();
	} else {
		for (;;) {
			neotuple claim, answer;
			int value;

			OK(neotuple_claim(space, pair("task", 0), NEOTUPLE_FOREVER, 0, &claim));
			value = value_of(claim);
			if (value < 0)
				break;
			usleep(1000);
			value *= value;
			answer = pair("square", &value);
			OK(neotuple_done(space, claim, &answer, 1));
			OK(neotuple_free(claim));
			OK(neotuple_free(answer));
		}
	}
	OK(neopvm_leave());
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "fields";
	int32_t tid, parent;

	OK(neopvm_enrol(&tid, &parent));
	if (parent > 0) {
		OK(neotuple_open("e2e", 0, 0, &space));
		return task(what);
	}
	CHECK(neotuple_open("e2e", 0, 0, &space) == NEOTUPLE_NO_SPACE);
	OK(neotuple_open("e2e", NEOTUPLE_CREATE | NEOTUPLE_OWNED, 0, &space));
	CHECK(neotuple_open("e2e", NEOTUPLE_CREATE | NEOTUPLE_NEW, 0, &space) == NEOTUPLE_EXISTS);
	if (!strcmp(what, "fields"))
		fields();
	else if (!strcmp(what, "order"))
		order(argv[0]);
	else if (!strcmp(what, "claims"))
		claims(argv[0]);
	else
		bag(argv[0], argc > 2 ? atoi(argv[2]) : 4);
	OK(neotuple_close(space));
	OK(neopvm_leave());
	return 0;
}
