/* pvm_catchout: the lines of children, joined, tagged, stdout and stderr, grandchildren, PvmShowTids. */
#include "common.h"

static void child(char *role)
{
	int kid;

	if (!strcmp(role, "silent"))
		exit(0);
	printf("line 1\nline 2");
	fflush(stdout);
	usleep(20000);
	printf(" continued\n");
	fflush(stdout);
	fprintf(stderr, "to stderr\n");
	if (!strcmp(role, "enrolled")) {
		pvm_mytid();
		printf("\n"); /* an empty line */
		printf("no newline at the end");
		fflush(stdout);
		pvm_exit();
		exit(0);
	}
	if (!strcmp(role, "parent")) {
		pvm_mytid();
		printf("before the grandchild\n");
		fflush(stdout);
		spawn_self("plain", 1, &kid);
		wait_gone(kid);
		pvm_exit();
	}
	exit(0);
}

/* Prints what f holds; with ids task by task, as lines of different tasks mix freely. */
static void show(char *what, FILE *f, int with_ids)
{
	static char text[100000];
	char line[200];
	long tid, now = 0, next;
	int i;
	char *p;
	size_t got;

	printf("%s\n", what);
	fflush(f);
	rewind(f);
	got = fread(text, 1, sizeof text - 1, f);
	text[got] = 0;
	fclose(f);
	do {
		next = 0;
		for (p = text; *p;) {
			for (i = 0; *p && *p != '\n' && i < 190; i++)
				line[i] = *p++;
			line[i] = 0;
			if (*p)
				p++;
			tid = with_ids && line[0] == '[' && line[1] == 't' ? strtol(line + 2, (char **)0, 16) : 0;
			if (tid == now) {
				print_normalised(line);
				putchar('\n');
			} else if (tid > now && (next == 0 || tid < next))
				next = tid;
		}
		now = next;
	} while (now);
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	static char *kinds[] = { "plain", "enrolled", "silent", "parent" };
	int k, kid, kids[2];
	FILE *f;

	if (*role) {
		child(role);
		return 0;
	}
	who(pvm_mytid());
	for (k = 0; k < 4; k++) {
		f = tmpfile();
		SHOW(pvm_catchout(f));
		spawn_self(kinds[k], 1, &kid);
		who(kid);
		wait_gone(kid);
		pvm_exit(); /* waits until all output is here */
		show(kinds[k], f, 1);
		pvm_catchout((FILE *)0);
		pvm_mytid();
	}
	f = tmpfile();
	pvm_catchout(f);
	spawn_self("plain", 2, kids);
	who(kids[0]);
	who(kids[1]);
	wait_gone(kids[0]);
	wait_gone(kids[1]);
	pvm_exit();
	show("two", f, 1);

	pvm_mytid();
	f = tmpfile();
	pvm_catchout(f);
	pvm_setopt(PvmShowTids, 0);
	spawn_self("enrolled", 1, &kid);
	pvm_exit();
	show("without ids", f, 0);
	pvm_setopt(PvmShowTids, 1);
	pvm_mytid();
	pvm_catchout((FILE *)0);
	printf("OutputTid %s", code(pvm_getopt(PvmOutputTid)));
	printf(" OutputCode %s\n", code(pvm_getopt(PvmOutputCode)));
	f = tmpfile();
	pvm_catchout(f);
	printf("OutputTid is self %d", pvm_getopt(PvmOutputTid) == pvm_mytid());
	printf(" OutputCode %d\n", pvm_getopt(PvmOutputCode) != 0);
	pvm_catchout((FILE *)0);
	printf("OutputTid off %s\n", code(pvm_getopt(PvmOutputTid)));
	spawn_self("plain", 1, &kid);
	pvm_exit();
	show("not caught", f, 1);
	return 0;
}
