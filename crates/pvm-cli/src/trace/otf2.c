/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writes an OTF2 archive by the OTF2 library, from lines on standard input (crates/pvm-trace/src/export/otf2.rs):
 *
 *   H host NAME | T task host NAME | L location task thread | R region NAME
 *   B base end                       nanoseconds since 1970 of the first and the last event
 *   E location time region | X location time region
 *   S location time peer tag bytes | V location time peer tag bytes     sent, received; peers are tasks
 *
 * Usage: otf2 FOLDER. pvm compiles it when it is asked for an archive. */
#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if OTF2_VERSION_MAJOR < 3
#error "OTF2 3.0 or later is needed"
#endif

#define LINE (64 * 1024)

struct named {
	uint64_t owner, number;
	char *name;
};

struct list {
	struct named *all;
	size_t count, room;
};

static struct list hosts, tasks, locations, regions;
static struct {
	OTF2_EvtWriter *writer;
	uint64_t last, events;
} *threads;
static size_t threads_room;
static OTF2_Archive *archive;

static void give_up(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

static void check(OTF2_ErrorCode code, const char *what)
{
	if (code != OTF2_SUCCESS)
		give_up(what, OTF2_Error_GetDescription(code));
}

static void *grown(void *all, size_t *room, size_t wanted, size_t size)
{
	size_t next = *room;
	if (wanted <= next)
		return all;
	while (next < wanted)
		next = next ? 2 * next : 64;
	all = realloc(all, next * size);
	if (!all)
		give_up("otf2", "no memory");
	memset((char *)all + *room * size, 0, (next - *room) * size);
	*room = next;
	return all;
}

static void put(struct list *list, uint64_t at, uint64_t owner, uint64_t number, const char *name)
{
	if (at > 1 << 22)
		give_up("otf2", "a number is too large");
	list->all = grown(list->all, &list->room, at + 1, sizeof *list->all);
	if (at >= list->count)
		list->count = at + 1;
	free(list->all[at].name);
	list->all[at].owner = owner;
	list->all[at].number = number;
	list->all[at].name = strdup(name);
}

static OTF2_FlushType before(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	(void)data, (void)type, (void)location, (void)caller, (void)final;
	return OTF2_FLUSH;
}

static OTF2_TimeStamp after(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
	(void)data, (void)type;
	return threads[location].last;
}

static OTF2_FlushCallbacks flushing = {.otf2_pre_flush = before, .otf2_post_flush = after};

/* The writer of a location; its times never go back. */
static OTF2_EvtWriter *writer_of(uint64_t location, uint64_t *time)
{
	if (location >= locations.count)
		give_up("otf2", "an event of an unknown location");
	threads = grown(threads, &threads_room, location + 1, sizeof *threads);
	if (!threads[location].writer)
		threads[location].writer = OTF2_Archive_GetEvtWriter(archive, location);
	if (!threads[location].writer)
		give_up("otf2", "no writer for a location");
	if (*time < threads[location].last)
		*time = threads[location].last;
	threads[location].last = *time;
	threads[location].events++;
	return threads[location].writer;
}

static void event(char kind, const uint64_t *n)
{
	uint64_t time = n[1];
	OTF2_EvtWriter *writer = writer_of(n[0], &time);
	switch (kind) {
	case 'E':
		check(OTF2_EvtWriter_Enter(writer, NULL, time, n[2]), "an event");
		return;
	case 'X':
		check(OTF2_EvtWriter_Leave(writer, NULL, time, n[2]), "an event");
		return;
	case 'S':
		check(OTF2_EvtWriter_MpiSend(writer, NULL, time, n[2], 0, n[3], n[4]), "an event");
		return;
	default:
		check(OTF2_EvtWriter_MpiRecv(writer, NULL, time, n[2], 0, n[3], n[4]), "an event");
	}
}

static uint32_t strings;
static OTF2_GlobalDefWriter *definitions;

static uint32_t text(const char *text)
{
	check(OTF2_GlobalDefWriter_WriteString(definitions, strings, text ? text : ""), "a name");
	return strings++;
}

static void define(uint64_t begin, uint64_t end)
{
	uint64_t *members = calloc(tasks.count + 1, sizeof *members);
	size_t i;
	uint32_t empty, root, thread;
	definitions = OTF2_Archive_GetGlobalDefWriter(archive);
	if (!definitions || !members)
		give_up("otf2", "no memory");
	check(OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000000, begin, end - begin, begin), "the clock");
	empty = text("");
	root = text("machine");
	check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, root, root, OTF2_UNDEFINED_SYSTEM_TREE_NODE), "a host");
	thread = text("host");
	for (i = 0; i < hosts.count; i++)
		check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, i + 1, text(hosts.all[i].name), thread, 0), "a host");
	for (i = 0; i < regions.count; i++) {
		uint32_t name = text(regions.all[i].name);
		check(OTF2_GlobalDefWriter_WriteRegion(definitions, i, name, name, empty, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
				OTF2_REGION_FLAG_NONE, empty, 0, 0), "a function");
	}
	for (i = 0; i < tasks.count; i++) {
		check(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, i, text(tasks.all[i].name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
				tasks.all[i].owner + 1, OTF2_UNDEFINED_LOCATION_GROUP), "a task");
		members[i] = i;
	}
	for (i = 0; i < locations.count; i++) {
		char name[40];
		snprintf(name, sizeof name, "thread %" PRIu64, locations.all[i].number);
		check(OTF2_GlobalDefWriter_WriteLocation(definitions, i, text(name), OTF2_LOCATION_TYPE_CPU_THREAD,
				i < threads_room ? threads[i].events : 0, locations.all[i].owner), "a thread");
	}
	/* The first thread of task i is location i; messages go from task to task. */
	check(OTF2_GlobalDefWriter_WriteGroup(definitions, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
			OTF2_GROUP_FLAG_NONE, tasks.count, members), "the tasks");
	check(OTF2_GlobalDefWriter_WriteGroup(definitions, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
			OTF2_GROUP_FLAG_NONE, tasks.count, members), "the tasks");
	check(OTF2_GlobalDefWriter_WriteComm(definitions, 0, root, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE), "the tasks");
	free(members);
}

static void read_lines(uint64_t *begin, uint64_t *end)
{
	static char line[LINE];
	while (fgets(line, sizeof line, stdin)) {
		uint64_t n[5] = {0};
		char *at = line + 1;
		int i, count = strchr("EX", line[0]) ? 3 : strchr("SV", line[0]) ? 5 : strchr("TBL", line[0]) ? 2 + (line[0] == 'L') : 1;
		for (i = 0; i < count; i++)
			n[i] = strtoull(at, &at, 10);
		at[strcspn(at, "\n")] = 0;
		at += *at == ' ';
		switch (line[0]) {
		case 'H':
			put(&hosts, n[0], 0, 0, at);
			break;
		case 'T':
			put(&tasks, n[0], n[1], 0, at);
			break;
		case 'L':
			put(&locations, n[0], n[1], n[2], "");
			break;
		case 'R':
			put(&regions, n[0], 0, 0, at);
			break;
		case 'B':
			*begin = n[0], *end = n[1] < n[0] ? n[0] : n[1];
			break;
		case 'E':
		case 'X':
		case 'S':
		case 'V':
			event(line[0], n);
			break;
		default:
			give_up("otf2", "a line that is none");
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t begin = 0, end = 0;
	size_t i;
	if (argc != 2)
		give_up("otf2", "the folder is missing");
	umask(077);
	archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
			OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!archive)
		give_up(argv[1], "no archive can be made there");
	check(OTF2_Archive_SetFlushCallbacks(archive, &flushing, NULL), argv[1]);
	check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), argv[1]);
	check(OTF2_Archive_OpenEvtFiles(archive), argv[1]);
	read_lines(&begin, &end);
	/* Readers want a file of events for each location, be it empty. */
	threads = grown(threads, &threads_room, locations.count, sizeof *threads);
	for (i = 0; i < locations.count; i++) {
		OTF2_EvtWriter *writer = threads[i].writer ? threads[i].writer : OTF2_Archive_GetEvtWriter(archive, i);
		if (!writer)
			give_up(argv[1], "no writer for a location");
		check(OTF2_Archive_CloseEvtWriter(archive, writer), argv[1]);
	}
	check(OTF2_Archive_CloseEvtFiles(archive), argv[1]);
	/* Each location has a file of definitions of its own, and nothing to say in it. */
	check(OTF2_Archive_OpenDefFiles(archive), argv[1]);
	for (i = 0; i < locations.count; i++) {
		OTF2_DefWriter *own = OTF2_Archive_GetDefWriter(archive, i);
		if (!own)
			give_up(argv[1], "no definitions for a location");
		check(OTF2_Archive_CloseDefWriter(archive, own), argv[1]);
	}
	check(OTF2_Archive_CloseDefFiles(archive), argv[1]);
	define(begin, end);
	check(OTF2_Archive_Close(archive), argv[1]);
	return 0;
}
