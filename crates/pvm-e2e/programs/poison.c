/* poison WHAT: a task of the machine says to a tuple server, and puts under the names of spaces, what only servers and
   the machine may. Another space, "victim", must keep its tuple, and whoever makes or deletes a space must get an answer.
     notice    notices of deaths, of nobody, of the server and of this task, which holds a claim
     entry     entries of spaces whose primary is no task, is this task, or has never been
     bytes     what is no entry, at the first number, at the next one and at the last one
     next      what is no entry where a space's next entry is to be put
     answer    another task says to one that waits for a tuple that there is none */
#include "spaces.h"
#include <limits.h>

enum { CONTEXT = 0x7ec070b1, TO_SERVER = 0x40000000, GONE, JOINED, BETWEEN };
static const int64_t LIMIT = 100000000000LL;

static neotuple text(const char *word)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	OK(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, word, strlen(word)));
	return tuple;
}

static neotuple_space made(const char *name)
{
	neotuple_space space;

	OK(neotuple_open(name, NEOTUPLE_CREATE, 0, &space));
	return space;
}

static void put(neotuple_space space, const char *word)
{
	OK(neotuple_out(space, text(word), LIMIT, 0));
}

static void expect(neotuple_space space, const char *word)
{
	neotuple found;

	OK(neotuple_rd(space, text(word), LIMIT, &found));
	CHECK(found);
	OK(neotuple_free(found));
}

static void say(int to, int tag, const void *bytes, int count)
{
	int before = pvm_setcontext(CONTEXT);

	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkbyte((char *)bytes, count, 1));
	CALL(pvm_send(to, tag));
	pvm_setcontext(before);
}

static void notice(int to, int about)
{
	say(to, GONE, &about, sizeof about);
}

/* Bytes under the name of a space. */
static void put_entry(const char *space, const char *bytes, int count)
{
	char name[200];

	snprintf(name, sizeof name, "neopvm.space:%s", space);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkbyte((char *)bytes, count, 1));
	CALL(pvm_putinfo(name, pvm_getsbuf(), PvmMboxPersistent));
}

/* A whole entry of a space without copies whose primary is this number. */
static void put_primary(const char *space, int primary)
{
	char entry[43] = {77};

	memcpy(entry + 8, &primary, sizeof primary);
	put_entry(space, entry, sizeof entry);
}

static void insert(const char *space, int index)
{
	char name[200];

	snprintf(name, sizeof name, "neopvm.space:%s", space);
	CALL(pvm_insert(name, index, 42));
}

static void notices(neotuple_space victim)
{
	neotuple claimed;
	int to = server_task();

	put(victim, "claimed");
	OK(neotuple_claim(victim, text("claimed"), LIMIT, 0, &claimed));
	notice(to, 0);
	notice(to, pvm_mytid());
	notice(to, to);
	/* And the same to a client. */
	notice(pvm_mytid(), to);
	notice(pvm_mytid(), 0);
	expect(victim, "precious");
	OK(neotuple_done(victim, claimed, 0, 0));
}

static void entries(void)
{
	int primaries[] = {0, -1, 0x40000, 0x80001, INT_MIN, INT_MAX, pvm_mytid() + 1000}, i;
	char name[20];

	for (i = 0; i < (int)(sizeof primaries / sizeof *primaries); i++) {
		snprintf(name, sizeof name, "entry%d", i);
		put_primary(name, primaries[i]);
		put(made(name), "one");
		OK(neotuple_delete(name));
	}
}

static void bytes(void)
{
	put_entry("bytes", "z", 1);
	put(made("bytes"), "one");
	expect(made("bytes"), "one");
	OK(neotuple_delete("bytes"));
	insert("last", INT_MAX);
	put(made("last"), "one");
	expect(made("last"), "one");
	OK(neotuple_delete("last"));
	insert("rows", 0), insert("rows", 1), insert("rows", 2);
	put(made("rows"), "one");
	OK(neotuple_delete("rows"));
}

static void next(void)
{
	put(made("next"), "one");
	insert("next", 1), insert("next", 2);
	OK(neotuple_delete("next"));
	put(made("next"), "two");
	expect(made("next"), "two");
}

/* In a task of its own: answers to all first requests of another one, then what that one waits for. */
static void forge(int to)
{
	int64_t number;
	char frame[12] = {1};

	pause_ms(500);
	for (number = 1; number < 200; number++) {
		memcpy(frame + 2, &number, sizeof number);
		frame[10] = 2;
		say(to, (int)number, frame, sizeof frame);
	}
	put(made("victim"), "later");
}

static void answers(neotuple_space victim)
{
	char own[20], *args[] = {"forge", own, 0};
	neotuple found;
	int child;

	snprintf(own, sizeof own, "%d", pvm_mytid());
	CALL(pvm_spawn("poison", args, PvmTaskDefault, "", 1, &child));
	OK(neotuple_in(victim, text("later"), LIMIT, &found));
	CHECK(found);
	OK(neotuple_free(found));
}

int main(int argc, char **argv)
{
	neotuple_space victim;
	int keeper;

	CALL(pvm_mytid());
	if (argc == 3) {
		forge(atoi(argv[2]));
		pvm_exit();
		return 0;
	}
	victim = made("victim");
	put(victim, "precious");
	keeper = server_task();
	if (!strcmp(argv[1], "notice"))
		notices(victim);
	else if (!strcmp(argv[1], "entry"))
		entries();
	else if (!strcmp(argv[1], "bytes"))
		bytes();
	else if (!strcmp(argv[1], "next"))
		next();
	else if (!strcmp(argv[1], "answer"))
		answers(victim);
	else
		CHECK(!"a word that is known");
	expect(victim, "precious");
	CHECK(server_task() == keeper);
	return 0;
}
