/* Trace masks, reserved roles and the names of tasks that are kept at a reset. */
#include "common.h"
#include "pvmtev.h"

int main(int argc, char **argv)
{
	Pvmtmask m, n;
	int *tids, k = -1;

	begin(argc, argv);
	who(pvm_mytid());
	SHOW(pvm_gettmask(PvmTaskSelf, m));
	printf("length %d, send off %d\n", (int)strlen(m), TEV_MASK_CHECK(m, TEV_SEND) == 0);
	SHOW(pvm_gettmask(PvmTaskChild, m));
	TEV_MASK_INIT(m);
	TEV_MASK_SET(m, TEV_SEND);
	TEV_MASK_SET(m, TEV_ADDHOSTS);
	SHOW(pvm_settmask(PvmTaskChild, m));
	SHOW(pvm_gettmask(PvmTaskChild, n));
	printf("same %d, send on %d, recv on %d\n", !strcmp(m, n), TEV_MASK_CHECK(n, TEV_SEND) != 0, TEV_MASK_CHECK(n, TEV_RECV) != 0);
	SHOW(pvm_settmask(PvmTaskSelf, m));
	SHOW(pvm_gettmask(PvmTaskSelf, n));
	printf("same %d\n", !strcmp(m, n));
	TEV_MASK_UNSET(m, TEV_SEND);
	printf("unset %d\n", TEV_MASK_CHECK(m, TEV_SEND) == 0);
	SHOW(pvm_settmask(5, m));
	SHOW(pvm_gettmask(5, m));
	TEV_MASK_INIT(m);
	pvm_settmask(PvmTaskSelf, m);
	pvm_settmask(PvmTaskChild, m);

	SHOW(pvm_getnoresets(&tids, &k));
	printf("tasks %d\n", k);
	SHOW(pvm_setopt(PvmNoReset, 1));
	SHOW(pvm_getnoresets(&tids, &k));
	printf("tasks %d self %d\n", k, k > 0 && tids[0] == pvm_mytid());
	SHOW(pvm_setopt(PvmNoReset, 0));
	SHOW(pvm_getnoresets(&tids, &k));
	printf("tasks %d\n", k);
	SHOW(pvm_reg_tasker());
	SHOW(pvm_reg_tasker());
	SHOW(pvm_reg_hoster());
	SHOW(pvm_reg_hoster());
	pvm_exit();
	return 0;
}
