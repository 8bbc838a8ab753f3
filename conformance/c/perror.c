/* Error texts: pvm_perror, pvm_strerror, pvm_errlist, pvm_errno, automatic reports, pvm_version. */
#include "common.h"
#include <fcntl.h>

extern int pvm_errno, pvm_nerr;
extern char *pvm_errlist[];

static int saved;
static char path[] = "/tmp/pvmcXXXXXX";

static void capture(void)
{
	int fd = mkstemp(path);

	fflush(stderr);
	saved = dup(2);
	dup2(fd, 2);
	close(fd);
}

static void release(char *what)
{
	static char text[4096];
	FILE *f;
	size_t n;

	fflush(stderr);
	dup2(saved, 2);
	close(saved);
	f = fopen(path, "r");
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = 0;
	fclose(f);
	unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	printf("%s <", what);
	print_normalised(text);
	printf(">\n");
}

int main(int argc, char **argv)
{
	int k, n = 1, none = 0x40fff;
	char *t;

	begin(argc, argv);
	printf("nerr %d\n", pvm_nerr);
	for (k = 0; k < pvm_nerr; k++)
		printf("%d %s\n", -k, pvm_errlist[k]);
	printf("errno at first %d\n", pvm_errno);
	who(pvm_mytid());
	SHOW(pvm_setsbuf(12345));
	printf("errno %s\n", code(pvm_errno));
	SHOWID(pvm_initsend(PvmDataDefault));
	printf("errno %s\n", code(pvm_errno));
	t = pvm_strerror();
	printf("strerror <%s>\n", t);

	capture();
	k = pvm_perror("here");
	release("perror");
	printf("perror returned %d\n", k);
	capture();
	pvm_perror("");
	release("perror of nothing");

	pvm_setopt(PvmAutoErr, 1);
	capture();
	k = pvm_setsbuf(12345);
	release("automatic");
	capture();
	k = pvm_pkint(&n, -1, 1);
	release("pkint");
	capture();
	k = pvm_recvinfo("no-such-name", 0, 0);
	release("recvinfo");
	capture();
	k = pvm_setopt(PvmRoute, 77);
	release("setopt");
	capture();
	k = pvm_gettid("no-such-group", 0);
	release("gettid");
	capture();
	k = pvm_joingroup("");
	release("joingroup");
	capture();
	k = pvm_pstat(none);
	release("pstat");
	capture();
	k = pvm_send(none, -1);
	release("send");
	capture();
	k = pvm_parent();
	release("parent");
	capture();
	k = pvm_packf("%q", 1);
	release("packf");
	capture();
	k = pvm_spawn("no-such-program", (char **)0, 0, "", 1, &n);
	release("spawn");
	pvm_setrbuf(0);
	capture();
	k = pvm_upkstr((char *)&n);
	release("upkstr");
	pvm_setopt(PvmAutoErr, 0);
	printf("version %s\n", pvm_version());
	pvm_exit();
	return 0;
}
