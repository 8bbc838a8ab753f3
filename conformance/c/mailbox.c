/* Mailboxes of one owner: put, read, overwrite, instances, delete, getmboxinfo. */
#include "common.h"

static int put(char *name, int value, int flags)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	pvm_pkstr("text");
	return pvm_putinfo(name, pvm_getsbuf(), flags);
}

static void get(char *name, int index, int flags)
{
	int id, value = -1, tag = -1, src = -1, bytes = -1;
	char text[16] = "nothing";

	id = pvm_recvinfo(name, index, flags);
	printf("recvinfo(%s, %d, %d) = %s", name, index, flags, handle(id));
	if (id > 0) {
		pvm_bufinfo(id, &bytes, &tag, &src);
		printf(", current %d, %d bytes, tag %d, from %s", id == pvm_getrbuf(), bytes, tag, who(src));
		pvm_upkint(&value, 1, 1);
		pvm_upkstr(text);
		printf(": %d %s", value, text);
	}
	printf("\n");
}

static void list(char *pattern)
{
	int n = -1, k, j, cc;
	struct pvmmboxinfo *box;

	cc = pvm_getmboxinfo(pattern, &n, &box);
	printf("getmboxinfo(%s) = %s, %d classes\n", pattern, code(cc), n);
	for (k = 0; k < n && cc >= 0; k++) {
		printf("  %s:", box[k].mi_name);
		for (j = 0; j < box[k].mi_nentries; j++)
			printf(" [%d] %s flags %d", box[k].mi_indices[j], who(box[k].mi_owners[j]), box[k].mi_flags[j]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	who(pvm_mytid());
	list("*");
	get("cf-none", 0, PvmMboxDefault);
	printf("empty buffer: %s\n", code(pvm_putinfo("cf-empty", pvm_initsend(PvmDataDefault), PvmMboxDefault)));
	get("cf-empty", 0, PvmMboxDefault);
	printf("put %s\n", code(put("cf-one", 1, PvmMboxDefault)));
	printf("send buffer still current: %d\n", pvm_getsbuf() > 0);
	get("cf-one", 0, PvmMboxDefault);
	get("cf-one", 0, PvmMboxDefault);
	get("cf-one", 1, PvmMboxDefault);
	get("cf-one", 1, PvmMboxFirstAvail);
	get("cf-one", -1, PvmMboxDefault);
	printf("put again %s\n", code(put("cf-one", 2, PvmMboxDefault)));
	get("cf-one", 0, PvmMboxDefault);
	printf("put with instances %s\n", code(put("cf-one", 3, PvmMboxMultiInstance)));
	get("cf-one", 1, PvmMboxDefault);

	printf("instance %s\n", code(put("cf-many", 10, PvmMboxMultiInstance)));
	printf("instance %s\n", code(put("cf-many", 11, PvmMboxMultiInstance)));
	printf("instance %s\n", code(put("cf-many", 12, PvmMboxMultiInstance)));
	printf("default %s\n", code(put("cf-many", 13, PvmMboxDefault)));
	list("cf-many");
	get("cf-many", 0, PvmMboxDefault);
	get("cf-many", 1, PvmMboxFirstAvail);
	SHOW(pvm_delinfo("cf-many", 1, PvmMboxDefault));
	SHOW(pvm_delinfo("cf-many", 1, PvmMboxDefault));
	get("cf-many", 1, PvmMboxDefault);
	get("cf-many", 1, PvmMboxFirstAvail);
	get("cf-many", 3, PvmMboxFirstAvail);
	printf("the hole is filled: %s\n", code(put("cf-many", 14, PvmMboxMultiInstance)));
	printf("next: %s\n", code(put("cf-many", 15, PvmMboxMultiInstance)));
	list("cf-many");
	get("cf-many", 0, PvmMboxReadAndDelete);
	get("cf-many", 0, PvmMboxReadAndDelete);
	get("cf-many", 0, PvmMboxFirstAvail + PvmMboxReadAndDelete);
	list("cf-many");

	printf("direct 0: %s\n", code(put("cf-direct", 20, PvmMboxOverWritable + PvmMboxDirectIndex(0))));
	printf("direct 0 again: %s\n", code(put("cf-direct", 21, PvmMboxOverWritable + PvmMboxDirectIndex(0))));
	get("cf-direct", 0, PvmMboxDefault);
	printf("direct 3: %s\n",
		code(put("cf-direct", 22, PvmMboxOverWritable + PvmMboxMultiInstance + PvmMboxDirectIndex(3))));
	printf("direct 5 in a new class: %s\n",
		code(put("cf-direct2", 23, PvmMboxOverWritable + PvmMboxMultiInstance + PvmMboxDirectIndex(5))));
	printf("direct 5 again: %s\n",
		code(put("cf-direct2", 24, PvmMboxOverWritable + PvmMboxMultiInstance + PvmMboxDirectIndex(5))));
	printf("direct 5 without instances: %s\n", code(put("cf-direct2", 26, PvmMboxOverWritable + PvmMboxDirectIndex(5))));
	get("cf-direct2", 5, PvmMboxDefault);
	get("cf-direct2", 6, PvmMboxDefault);
	printf("instance after direct: %s\n", code(put("cf-direct2", 25, PvmMboxMultiInstance)));
	list("cf-direct.*");

	printf("all flags: %s\n", code(put("cf-flags", 30, PvmMboxPersistent + PvmMboxMultiInstance + PvmMboxOverWritable)));
	printf("odd flags: %s\n", code(put("cf-odd", 31, PvmMboxFirstAvail + PvmMboxReadAndDelete)));
	list("cf-flags");
	list("cf-odd");
	list("cf-o*");
	list("^cf-o");
	list("one");
	list("");
	list("cf-[ef]");
	list("*-o");
	list("c*ne");
	list("c*n");
	list("*e");
	list("n*e");
	list("**");
	list("one*");
	list("cf-one");
	list("no-such");
	list("*");
	SHOW(pvm_delinfo("cf-flags", 0, PvmMboxDefault));
	SHOW(pvm_delinfo("cf-none", 0, PvmMboxDefault));
	SHOW(pvm_delinfo("cf-one", -1, PvmMboxDefault));
	SHOW(pvm_delinfo("", 0, PvmMboxDefault));
	SHOW(pvm_putinfo("", pvm_getsbuf(), PvmMboxDefault));
	SHOW(pvm_putinfo((char *)0, pvm_getsbuf(), PvmMboxDefault));
	SHOW(pvm_recvinfo("", 0, PvmMboxDefault));
	pvm_exit();
	return 0;
}
