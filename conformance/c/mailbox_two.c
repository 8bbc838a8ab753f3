/* Mailboxes of two owners: who may replace, add, read and delete what; what the owner's exit leaves. */
#include "common.h"

static int put(char *name, int value, int flags)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	return pvm_putinfo(name, pvm_getsbuf(), flags);
}

/* Puts an entry of each kind, tells, rests. */
static void owner(void)
{
	put("cf-default", 1, PvmMboxDefault);
	put("cf-persistent", 2, PvmMboxPersistent);
	put("cf-multi", 3, PvmMboxMultiInstance);
	put("cf-over", 4, PvmMboxOverWritable);
	put("cf-pover", 5, PvmMboxPersistent + PvmMboxOverWritable);
	put("cf-mover", 6, PvmMboxMultiInstance + PvmMboxOverWritable);
	put("cf-pmulti", 7, PvmMboxPersistent + PvmMboxMultiInstance);
	put("cf-pmulti", 8, PvmMboxPersistent + PvmMboxMultiInstance);
	send_int(pvm_parent(), 1, 0);
	rest_until_told();
	pvm_exit();
}

static void waiter(void)
{
	int id = pvm_recvinfo("cf-later", 0, PvmMboxWaitForInfo), value = -1;

	if (id > 0)
		pvm_upkint(&value, 1, 1);
	send_int(pvm_parent(), 2, value);
	pvm_exit();
}

static char *classes[] = { "cf-default", "cf-persistent", "cf-multi", "cf-over", "cf-pover", "cf-mover", "cf-pmulti" };
#define CLASSES 7

static void list(void)
{
	int n = -1, k, j, c;
	struct pvmmboxinfo *box;

	/* by name, as the order of classes is not what this is about */
	for (c = 0; c < CLASSES; c++) {
		pvm_getmboxinfo(classes[c], &n, &box);
		printf("  %s:", classes[c]);
		for (k = 0; k < n; k++)
			for (j = 0; j < box[k].mi_nentries; j++)
				printf(" [%d] %s flags %d", box[k].mi_indices[j], who(box[k].mi_owners[j]), box[k].mi_flags[j]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);
	int k, kid, id;

	if (!strcmp(role, "owner")) {
		owner();
		return 0;
	}
	if (!strcmp(role, "waiter")) {
		waiter();
		return 0;
	}
	who(pvm_mytid());
	spawn_self("owner", 1, &kid);
	who(kid);
	recv_int(kid, 1);
	list();
	for (k = 0; k < CLASSES; k++) {
		printf("%s: put %s", classes[k], code(put(classes[k], 100 + k, PvmMboxDefault)));
		printf(", put multi %s", code(put(classes[k], 200 + k, PvmMboxMultiInstance)));
		printf(", put over %s", code(put(classes[k], 300 + k, PvmMboxOverWritable)));
		printf(", put direct 0 %s\n", code(put(classes[k], 400 + k, PvmMboxOverWritable + PvmMboxDirectIndex(0))));
	}
	list();
	for (k = 0; k < CLASSES; k++) {
		id = pvm_recvinfo(classes[k], 0, PvmMboxReadAndDelete);
		printf("%s: read and delete %s, delete %s\n", classes[k], handle(id), code(pvm_delinfo(classes[k], 0, PvmMboxDefault)));
	}
	list();
	tell_end(kid);
	wait_gone(kid);
	printf("owner gone\n");
	list();
	for (k = 0; k < CLASSES; k++) {
		printf("%s: put %s", classes[k], code(put(classes[k], 500 + k, PvmMboxDefault)));
		printf(", delete %s", code(pvm_delinfo(classes[k], 0, PvmMboxDefault)));
		printf(", delete 1 %s\n", code(pvm_delinfo(classes[k], 1, PvmMboxDefault)));
	}
	list();
	/* waiting for an entry */
	spawn_self("waiter", 1, &kid);
	usleep(50000);
	printf("nothing yet: %s\n", code(pvm_nrecv(kid, 2)));
	printf("put %s\n", code(put("cf-later", 42, PvmMboxDefault)));
	printf("the waiter got %d\n", recv_int(kid, 2));
	/* the old names */
	SHOW(pvm_insert("cf-old", -1, 5));
	SHOW(pvm_insert("cf-old", -1, 6));
	SHOW(pvm_insert("cf-old", 0, 7));
	SHOW(pvm_insert("cf-old", 9, 8));
	k = 77;
	SHOW(pvm_lookup("cf-old", -1, &k));
	printf("%d\n", k);
	SHOW(pvm_lookup("cf-old", 1, &k));
	printf("%d\n", k);
	SHOW(pvm_lookup("cf-old", 9, &k));
	printf("%d\n", k);
	SHOW(pvm_lookup("cf-old", 8, &k));
	SHOW(pvm_delete("cf-old", 9));
	SHOW(pvm_delete("cf-old", 9));
	SHOW(pvm_delete("cf-old", -1));
	SHOW(pvm_lookup("cf-old", -1, &k));
	printf("%d\n", k);
	pvm_exit();
	return 0;
}
