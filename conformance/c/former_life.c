/* What a task has packed, and the contexts that it has made, when it has left and come again as another one. */
#include "common.h"

static void show(char *what, int buf)
{
	struct pvmminfo info;
	int tid = -1;

	memset(&info, 0, sizeof info);
	pvm_bufinfo(buf, (int *)0, (int *)0, &tid);
	printf("%s: %s", what, code(pvm_getminfo(buf, &info)));
	printf(" tag %d len %d from %s %s\n", info.tag, info.len, who(info.src), who(tid));
}

int main(int argc, char **argv)
{
	int packed, sent, value = 7, context, other;

	begin(argc, argv);
	who(pvm_mytid());
	packed = pvm_initsend(PvmDataRaw);
	pvm_pkint(&value, 1, 1);
	pvm_setsbuf(0);
	sent = pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	pvm_send(pvm_mytid(), 4);
	pvm_recv(-1, 4);
	context = pvm_newcontext();
	other = pvm_newcontext();
	SHOW(pvm_freecontext(other));
	SHOW(pvm_exit());
	who(pvm_mytid());
	show("packed", packed);
	show("sent", sent);
	SHOW(pvm_freecontext(context));
	printf("the next one is another: %d\n", pvm_newcontext() > other);
	pvm_setsbuf(packed);
	SHOW(pvm_send(pvm_mytid(), 5));
	show("sent in the second life", packed);
	show("and received", pvm_recv(-1, 5));
	pvm_initsend(PvmDataDefault);
	show("packed anew", pvm_getsbuf());
	pvm_exit();
	return 0;
}
