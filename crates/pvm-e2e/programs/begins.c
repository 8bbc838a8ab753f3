/* begins: starts a machine as programs do, and leaves it. */
#include "e2e.h"

int main(void)
{
	CALL(pvm_start_pvmd(0, 0, 1));
	CALL(pvm_mytid());
	pvm_exit();
	return 0;
}
