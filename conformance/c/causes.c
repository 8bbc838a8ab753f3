/* What was sent because of a message comes behind it: A sends to P, then to C; C, who has read that, sends to P; P
   receives from anybody. Small messages, some of a few kilobytes and large ones, packed and in place, mixed. The word that C is
   to go on comes as a message, by a barrier, or with C itself: A spawns it. And a sender that keeps much waiting does not keep
   another one out. */
#include "common.h"

enum { ROUNDS = 300, CAUSE = 1, GO = 2, EFFECT = 3, READY = 4, FLOOD = 5, OTHER = 6, MORE = 7, BACKLOG = 100 };

static int words[12000];
static const int sizes[] = {1, 30, 500, 3000, 1, 12000};
static const int encodings[] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace};

/* All on one host: between hosts neither keeps that order. */
static void spawn_here(char *role, int *tid)
{
	char *args[2];

	args[0] = role;
	args[1] = (char *)0;
	if (pvm_spawn(my_path, args, PvmTaskHost, ".", 1, tid) != 1)
		die("cannot spawn");
}

static void send_words(int to, int tag, int round, int size)
{
	words[0] = round;
	pvm_initsend(encodings[(round + tag) % 3]);
	pvm_pkint(words, size, 1);
	pvm_send(to, tag);
}

static int size_of(int round)
{
	return sizes[round % 6];
}

static int receive(int from, int tag)
{
	int number;
	pvm_recv(from, tag);
	pvm_upkint(&number, 1, 1);
	return number;
}

/* A: the cause, and the word to go on. */
static void be_first(int parent)
{
	int other, i;
	pvm_joingroup("causes");
	send_int(parent, READY, 0);
	other = receive(parent, READY);
	for (i = 0; i < ROUNDS; i++) {
		send_words(parent, CAUSE, i, size_of(i));
		if (i % 3 == 2)
			pvm_barrier("causes", 2);
		else
			send_words(other, GO, i, size_of(i / 3));
		receive(parent, READY);
	}
	pvm_barrier("causes", 2);
}

/* C: the effect. */
static void be_second(int parent)
{
	int other, i;
	pvm_joingroup("causes");
	send_int(parent, READY, 0);
	other = receive(parent, READY);
	for (i = 0; i < ROUNDS; i++) {
		if (i % 3 == 2)
			pvm_barrier("causes", 2);
		else
			receive(other, GO);
		send_words(parent, EFFECT, i, size_of(i / 2));
	}
	pvm_barrier("causes", 2);
}

/* Sends, and spawns another one that does. */
static void be_spawner(int parent)
{
	int child;
	send_words(parent, CAUSE, 0, 500);
	spawn_here("spawned", &child);
	send_int(child, READY, parent);
}

static void be_spawned(void)
{
	send_words(receive(pvm_parent(), READY), EFFECT, 0, 1);
}

static void be_flood(int parent)
{
	int i;
	receive(parent, READY);
	for (i = 0; i < BACKLOG; i++)
		send_words(parent, FLOOD, i, 3000);
	while (receive(parent, MORE))
		send_words(parent, FLOOD, i++, 3000);
}

static void be_other(int parent)
{
	receive(parent, READY);
	send_words(parent, OTHER, 0, 3000);
}

static int any_tag(void)
{
	int bytes, tag, from;
	pvm_bufinfo(pvm_recv(-1, -1), &bytes, &tag, &from);
	return tag;
}

static void orders(void)
{
	int first, second, spawner, i, early = 0;
	spawn_here("first", &first);
	spawn_here("second", &second);
	receive(first, READY);
	receive(second, READY);
	send_int(first, READY, second);
	send_int(second, READY, first);
	for (i = 0; i < ROUNDS; i++) {
		if (i % 2)
			usleep(1000);
		early += any_tag() == EFFECT;
		any_tag();
		send_int(first, READY, i);
	}
	printf("effects before their causes: %d\n", early);
	spawn_here("spawner", &spawner);
	usleep(100000);
	printf("of who was spawned: %s\n", any_tag() == CAUSE && any_tag() == EFFECT ? "in order" : "early");
}

static void crowds(void)
{
	int flood, other, read = 0;
	spawn_here("flood", &flood);
	spawn_here("other", &other);
	send_int(flood, READY, 0);
	usleep(200000);
	send_int(other, READY, 0);
	usleep(100000);
	while (any_tag() != OTHER && read < 10 * BACKLOG) {
		read++;
		send_int(flood, MORE, 1);
	}
	send_int(flood, MORE, 0);
	printf("read within twice the backlog: %s\n", read <= 2 * BACKLOG ? "yes" : "no");
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int parent = *role ? pvm_parent() : pvm_mytid();

	if (!strcmp(role, "first"))
		be_first(parent);
	else if (!strcmp(role, "second"))
		be_second(parent);
	else if (!strcmp(role, "spawner"))
		be_spawner(parent);
	else if (!strcmp(role, "spawned"))
		be_spawned();
	else if (!strcmp(role, "flood"))
		be_flood(parent);
	else if (!strcmp(role, "other"))
		be_other(parent);
	else {
		orders();
		crowds();
	}
	pvm_exit();
	return 0;
}
