/* Takes numbers of a counter in exposed memory when the parent says which, and tells which it had. The second word counts,
   too, by exchanges alone. */
#include <neopvm.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call) do { int try = (call); if (try < 0) { fprintf(stderr, #call " = %d\n", try); exit(1); } } while (0)

int main(void)
{
	int parent = pvm_parent(), what[3], i;
	int64_t before, seen;
	long *had;

	TRY(pvm_initsend(PvmDataDefault));
	TRY(pvm_send(parent, 2));
	TRY(pvm_recv(parent, 1));
	TRY(pvm_upkint(what, 3, 1));
	had = calloc(what[2], sizeof *had);
	for (i = 0; i < what[2]; i++) {
		TRY(neopvm_add_memory(what[0], what[1], 0, 8, 1, &before));
		had[i] = before;
		TRY(neopvm_get_memory(what[0], what[1], 8, &before, 8));
		do {
			seen = before;
			TRY(neopvm_exchange_memory(what[0], what[1], 8, 8, seen, seen + 1, &before));
		} while (before != seen);
	}
	TRY(pvm_initsend(PvmDataDefault));
	TRY(pvm_pklong(had, what[2], 1));
	TRY(pvm_send(parent, 3));
	pvm_exit();
	return 0;
}
