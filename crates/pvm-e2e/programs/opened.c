/* opened WHAT: how spaces are opened, made and closed.
     closed           a tuple that comes behind the end of a call whose space was closed stays in the space
     options          options that no space can have are refused, and a full space spills
     durable FOLDER   a durable space begins with what was put before, and says what was damaged */
#include "spaces.h"
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static neotuple number(const int *value)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	if (value)
		OK(neotuple_add(tuple, NEOTUPLE_INT, value));
	else
		OK(neotuple_add_formal(tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	return tuple;
}

static void put(neotuple_space space, int value)
{
	neotuple tuple = number(&value);

	OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
	OK(neotuple_free(tuple));
}

/* Takes the oldest number; -1 if there is none. */
static int take(neotuple_space space)
{
	neotuple any = number(0), found;
	int value = -1;

	OK(neotuple_in(space, any, 0, &found));
	if (found)
		OK(neotuple_get(found, 0, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
	OK(neotuple_free(found));
	OK(neotuple_free(any));
	return value;
}

static void *wait_in(void *space)
{
	neotuple any = number(0), found = 0;
	int32_t status = neotuple_in(*(neotuple_space *)space, any, NEOTUPLE_FOREVER, &found);

	/* It is closed before the call, or while the call waits. */
	CHECK(status == NEOTUPLE_NO_SPACE || status == NEOTUPLE_BAD_PARAMETER);
	CHECK(found == 0);
	OK(neotuple_free(any));
	return 0;
}

static void closed(void)
{
	neotuple_space space, keeps;
	pthread_t thread;
	int turn;

	OK(neotuple_open("closed", NEOTUPLE_CREATE, 0, &keeps));
	OK(neotuple_close(keeps));
	for (turn = 0; turn < 20; turn++) {
		OK(neotuple_open("closed", 0, 0, &space));
		CHECK(!pthread_create(&thread, 0, wait_in, &space));
		usleep(turn * 1000);
		OK(neotuple_close(space));
		CHECK(!pthread_join(thread, 0));
		OK(neotuple_open("closed", 0, 0, &keeps));
		put(keeps, turn);
		CHECK(take(keeps) == turn);
		OK(neotuple_close(keeps));
		CHECK(neotuple_close(keeps) == NEOTUPLE_BAD_PARAMETER);
	}
	OK(neotuple_delete("closed"));
}

static void options(void)
{
	struct neotuple_options wrong[] = {{1, 0, 0, 0, 0}, {0, 3, 0, 0, 0}, {0, -1, 0, 0, 0}, {0, 0, 0, 3, 0}, {0, 0, 0, -1, 0}, {0, 0, 0, 0, 1}};
	struct neotuple_options spills = {sizeof spills, 0, 1000, NEOTUPLE_SPILL, 0}, zeros = {0, 0, 0, 0, 0};
	neotuple_space space;
	size_t i;
	int value;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK(neotuple_open("wrong", NEOTUPLE_CREATE, &wrong[i], &space) == NEOTUPLE_BAD_PARAMETER);
	CHECK(neotuple_open("wrong", 0, 0, &space) == NEOTUPLE_NO_SPACE);
	OK(neotuple_open("zeros", NEOTUPLE_CREATE, &zeros, &space));
	OK(neotuple_delete("zeros"));
	OK(neotuple_open("spills", NEOTUPLE_CREATE | NEOTUPLE_NEW, &spills, &space));
	for (value = 0; value < 100; value++)
		put(space, value);
	for (value = 0; value < 100; value++)
		CHECK(take(space) == value);
	OK(neotuple_delete("spills"));
}

static int32_t durable_in(const char *folder, int64_t window, char *note, uint64_t room, neotuple_space *space)
{
	return neotuple_create_durable("kept", 0, folder, window, note, room, space);
}

/* Bytes behind the whole steps of the space's file. */
static void damage(const char *folder)
{
	char pattern[4096];
	glob_t files;
	int file;

	snprintf(pattern, sizeof pattern, "%s/kept.*.tuples", folder);
	CHECK(!glob(pattern, 0, 0, &files) && files.gl_pathc == 1);
	CHECK((file = open(files.gl_pathv[0], O_WRONLY | O_APPEND)) >= 0);
	CHECK(write(file, "damaged", 7) == 7);
	close(file);
	globfree(&files);
}

static void durable(const char *folder)
{
	static const int64_t wrong[] = {-1, 1, 9000000, 61000000000, INT64_MAX};
	neotuple_space space;
	char note[200] = "none", begin[5];
	size_t i;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK(durable_in(folder, wrong[i], 0, 0, &space) == NEOTUPLE_BAD_PARAMETER);
	CHECK(durable_in("", 0, 0, 0, &space) == NEOTUPLE_BAD_PARAMETER);
	CHECK(durable_in(0, 0, 0, 0, &space) == NEOTUPLE_BAD_PARAMETER);
	CHECK(durable_in(folder, 0, 0, 0, 0) == NEOTUPLE_BAD_PARAMETER);
	CHECK(durable_in("/there is none", 0, 0, 0, &space) == NEOTUPLE_DISK);
	OK(durable_in(folder, 0, note, sizeof note, &space));
	CHECK(!*note);
	CHECK(durable_in(folder, 0, note, sizeof note, &space) == NEOTUPLE_EXISTS);
	for (i = 0; i < 3; i++) {
		put(space, i);
		CHECK(!kill(server(), SIGKILL));
		/* Until the death of the server is known. */
		while (durable_in(folder, 0, 0, 0, &space))
			usleep(10000);
		CHECK(take(space) == (int)i);
		CHECK(!kill(server(), SIGKILL));
		damage(folder);
		/* With a window the second time, and room for a part of the note the third time. */
		while (durable_in(folder, i == 1 ? 50000000 : 0, i == 2 ? begin : note, i == 2 ? sizeof begin : sizeof note, &space))
			usleep(10000);
		CHECK(strstr(note, "7 bytes"));
		CHECK(take(space) == -1);
	}
	CHECK(strlen(begin) == 4 && !strncmp(begin, note, 4));
	OK(neotuple_delete("kept"));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	CALL(pvm_mytid());
	if (!strcmp(what, "closed"))
		closed();
	else if (!strcmp(what, "options"))
		options();
	else if (argc > 2 && !strcmp(what, "durable"))
		durable(argv[2]);
	else
		return 2;
	CALL(pvm_exit());
	return 0;
}
