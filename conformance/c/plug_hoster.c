/*
 * A hoster: who may be one. What it is told and what its answers do needs more than one host:
 * spread/hoster.c.
 */
#include "plug.h"

static void show_entries(void)
{
	struct pvmmboxinfo *boxes;
	int n = 0;

	pvm_getmboxinfo("###_PVM_HOSTER_###", &n, &boxes);
	printf("%d entry, flags %x\n", n ? boxes->mi_nentries : 0, flags_of(pvm_mytid()));
}

/* The other one has ended, which a daemon hears a little later. */
static int register_again(void)
{
	int tries = 0, result;

	while ((result = pvm_reg_hoster()) == PvmAlready && tries++ < 500)
		usleep(10000);
	return result;
}

int main(int argc, char **argv)
{
	char *role = begin(argc, argv);

	if (!strcmp(role, "second"))
		return -pvm_reg_hoster();
	pvm_setopt(PvmResvTids, 1);
	SHOW(pvm_reg_hoster());
	show_entries();
	printf("another hoster: %s\n", code(-(status_of(start_process("second", (char *)0, (char **)0)) >> 8)));
	/* A second call takes it back. */
	SHOW(pvm_reg_hoster());
	show_entries();
	printf("another hoster: %s\n", code(-(status_of(start_process("second", (char *)0, (char **)0)) >> 8)));
	printf("pvm_reg_hoster() = %s\n", code(register_again()));
	show_entries();
	/* Answers that nobody waits for are no harm. */
	pvm_initsend(PvmDataDefault);
	put_int(1);
	put_int(0x80000);
	pvm_pkstr("PvmCantStart");
	send_with(4711, DAEMON, SM_STHOSTACK);
	SHOW(pvm_exit());
	return 0;
}
