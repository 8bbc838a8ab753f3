/* pvm_insert: any index from 0 on, which the flags of the entry do not show; those of pvm_putinfo show all that was
 * given. Entries are deleted at exactly their index. */
#include "common.h"

static void box(char *name)
{
	struct pvmmboxinfo *classes;
	int i, j, n = 0;

	pvm_getmboxinfo(name, &n, &classes);
	for (i = 0; i < n; i++)
		for (j = 0; j < classes[i].mi_nentries; j++)
			printf("  %s %d: flags %d of %s\n", classes[i].mi_name, classes[i].mi_indices[j], classes[i].mi_flags[j],
			       who(classes[i].mi_owners[j]));
}

int main(int argc, char **argv)
{
	int value = -1;

	begin(argc, argv);
	who(pvm_mytid());
	SHOW(pvm_insert("cf-in", 3, 30));
	SHOW(pvm_insert("cf-in", 1, 10));
	SHOW(pvm_insert("cf-in", -1, 0));
	SHOW(pvm_insert("cf-in", -1, 20));
	SHOW(pvm_insert("cf-in", 3, 31));
	SHOW(pvm_insert("cf-in", 2097151, 40));
	SHOW(pvm_insert("cf-in", 2097152, 50));
	SHOW(pvm_insert("cf-in", 2147483647, 60));
	SHOW(pvm_insert("cf-in", 2147483647, 60));
	SHOW(pvm_insert("cf-in", -2, 70));
	box("cf-in");
	SHOW(pvm_lookup("cf-in", 2147483647, &value));
	printf("%d\n", value);
	SHOW(pvm_delete("cf-in", 2097152));
	SHOW(pvm_delinfo("cf-in", 4, PvmMboxFirstAvail));
	SHOW(pvm_delinfo("cf-in", 1, PvmMboxFirstAvail));
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_putinfo("cf-put", pvm_getsbuf(), 5 << PvmMboxDirectIndexShift | PvmMboxMultiInstance));
	SHOW(pvm_putinfo("cf-put", pvm_getsbuf(), 0x200));
	SHOW(pvm_putinfo("cf-put", pvm_getsbuf(), -40));
	box("cf-put");
	pvm_exit();
	return 0;
}
