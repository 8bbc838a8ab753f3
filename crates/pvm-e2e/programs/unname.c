/* unname: deletes the name of a space, as any task may. */
#include "e2e.h"

int main(int argc, char **argv)
{
	char name[64];

	CHECK(argc == 2);
	CALL(pvm_mytid());
	snprintf(name, sizeof name, "neopvm.space:%s", argv[1]);
	CALL(pvm_delinfo(name, 0, 0));
	CALL(pvm_exit());
	return 0;
}
