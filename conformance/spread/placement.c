/* Where pvm_spawn puts tasks on three hosts: everywhere in turn, by host, by architecture, ".", PvmHostCompl, unknown ones. */
#include "common.h"

static void child(void)
{
	pvm_mytid();
	rest_until_told();
	pvm_exit();
}

static void place(char *what, int flag, char *where, int n)
{
	int tids[16], k, cc;
	char *args[2];

	args[0] = "child";
	args[1] = (char *)0;
	cc = pvm_spawn(my_path, args, flag, where, n, tids);
	printf("%s, %d tasks: %s:", what, n, code(cc));
	for (k = 0; k < n; k++)
		if (tids[k] > 0)
			printf(" h%d", tids[k] >> 18);
		else
			printf(" %s", code(tids[k]));
	printf("\n");
	for (k = 0; k < n; k++)
		if (tids[k] > 0) {
			tell_end(tids[k]);
			wait_gone(tids[k]);
		}
}

int main(int argc, char **argv)
{
	if (*begin(argc, argv)) {
		child();
		return 0;
	}
	pvm_mytid();
	place("anywhere", PvmTaskDefault, (char *)0, 1);
	place("anywhere", PvmTaskDefault, (char *)0, 1);
	place("anywhere", PvmTaskDefault, "", 7);
	place("anywhere", PvmTaskDefault, "ignored", 2);
	place("on h2", PvmTaskHost, "h2", 3);
	place("anywhere", PvmTaskDefault, "", 3);
	place("here", PvmTaskHost, ".", 2);
	place("on no-such-host", PvmTaskHost, "no-such-host", 2);
	place("not on h2", PvmTaskHost + PvmHostCompl, "h2", 5);
	place("not here", PvmTaskHost + PvmHostCompl, ".", 4);
	place("not on no-such-host", PvmTaskHost + PvmHostCompl, "no-such-host", 4);
	place("on LINUX64", PvmTaskArch, "LINUX64", 4);
	place("on CRAY", PvmTaskArch, "CRAY", 2);
	place("not on LINUX64", PvmTaskArch + PvmHostCompl, "LINUX64", 2);
	place("not on CRAY", PvmTaskArch + PvmHostCompl, "CRAY", 4);
	place("anywhere", PvmTaskDefault, "", 4);
	pvm_exit();
	return 0;
}
