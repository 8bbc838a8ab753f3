/* With PvmResvTids tags below zero are tags like others: of notices, too. */
#include "common.h"

int main(int argc, char **argv)
{
	int nobody, got = -1, tag = 0, tids[2];

	begin(argc, argv);
	nobody = pvm_mytid() + 900;
	who(nobody);
	SHOW(pvm_notify(PvmTaskExit, -5, 1, &nobody));
	SHOW(pvm_setopt(PvmResvTids, 1));
	SHOW(pvm_notify(PvmTaskExit, -5, 1, &nobody));
	SHOWID(pvm_recv(-1, -5));
	pvm_bufinfo(pvm_getrbuf(), (int *)0, &tag, (int *)0);
	pvm_upkint(&got, 1, 1);
	printf("of %s under %d\n", who(got), tag);
	SHOW(pvm_notify(PvmHostAdd, -2147483647, 1, (int *)0));
	SHOW(pvm_notify(PvmHostAdd | PvmNotifyCancel, -2147483647, 1, (int *)0));
	tids[0] = pvm_mytid();
	tids[1] = nobody;
	SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, -1, 2, tids));
	pvm_setopt(PvmResvTids, 0);
	SHOW(pvm_notify(PvmTaskExit | PvmNotifyCancel, -1, 2, tids));
	pvm_exit();
	return 0;
}
