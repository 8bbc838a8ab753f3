/* What a spawned task sees: arguments, directory, environment, parent, stdin; how it is started. */
#include "common.h"
#include <fcntl.h>
#include <sys/stat.h>

extern char **environ;

static void child(int argc, char **argv)
{
	char here[300], path[300];
	struct stat st;
	int k, n = argc, present, fds = 0;
	char c;
	static char *vars[] = { "HOME", "PVM_ROOT", "PVM_VMID", "PVMSOCK", "PVMEPID", "PVMCTX", "PVMTMASK", "PVMSPAWNWD",
		"CF_PARENT_ONLY", "PVM_EXPORT" };

	pvm_mytid();
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&n, 1, 1);
	for (k = 0; k < argc; k++)
		pvm_pkstr(argv[k]);
	getcwd(here, sizeof here);
	pvm_pkstr(here);
	strcpy(path, argv[0]);
	pvm_pkstr(path);
	for (k = 0; k < 10; k++) {
		present = getenv(vars[k]) != 0;
		pvm_pkint(&present, 1, 1);
	}
	k = getenv("PVMEPID") && atoi(getenv("PVMEPID")) == getpid();
	pvm_pkint(&k, 1, 1);
	k = read(0, &c, 1); /* end of file at once */
	pvm_pkint(&k, 1, 1);
	k = fstat(1, &st) == 0 && S_ISFIFO(st.st_mode) ? 1 : fstat(1, &st) == 0 && S_ISSOCK(st.st_mode) ? 2 : 0;
	pvm_pkint(&k, 1, 1);
	for (k = 3; k < 20; k++)
		fds += fcntl(k, F_GETFD) != -1;
	k = getppid() > 0;
	pvm_pkint(&k, 1, 1);
	pvm_send(pvm_parent(), 1);
	pvm_exit();
}

static void report(void)
{
	int n, k, v;
	char text[300], here[300];
	static char *vars[] = { "HOME", "PVM_ROOT", "PVM_VMID", "PVMSOCK", "PVMEPID", "PVMCTX", "PVMTMASK", "PVMSPAWNWD",
		"CF_PARENT_ONLY", "PVM_EXPORT" };

	pvm_recv(-1, 1);
	pvm_upkint(&n, 1, 1);
	printf("argc %d:", n);
	for (k = 0; k < n; k++) {
		pvm_upkstr(text);
		if (k == 0)
			printf(" full path %d", !strcmp(text, my_path));
		else
			printf(" <%s>", text);
	}
	pvm_upkstr(text);
	getcwd(here, sizeof here);
	printf("\ndirectory is HOME %d\n", getenv("HOME") && !strcmp(text, getenv("HOME")));
	pvm_upkstr(text);
	for (k = 0; k < 10; k++) {
		pvm_upkint(&v, 1, 1);
		printf("%s %d\n", vars[k], v);
	}
	pvm_upkint(&v, 1, 1);
	pvm_upkint(&v, 1, 1);
	printf("read from stdin gives %d\n", v);
	pvm_upkint(&v, 1, 1);
	printf("stdout is a pipe or socket %d\n", v > 0);
}

int main(int argc, char **argv)
{
	char *args[8];
	char *role = begin(argc, argv);
	int kid;

	if (*role) {
		child(argc, argv);
		return 0;
	}
	chdir("/");
	putenv("CF_PARENT_ONLY=1");
	who(pvm_mytid());
	args[0] = "a b";
	args[1] = "";
	args[2] = "$HOME \"quoted\" 'single'";
	args[3] = "tab\tnewline\n";
	args[4] = (char *)0;
	SHOW(pvm_spawn(my_path, args, PvmTaskDefault, "", 1, &kid));
	report();
	args[1] = (char *)0;
	/* a directory after the host name */
	SHOW(pvm_spawn(my_path, args, PvmTaskHost, ".", 1, &kid));
	report();
	pvm_exit();
	return 0;
}
