// The C++ task of babel.c: doubles numbers, and hears from the Fortran one.
#include <cstdlib>
#include <iostream>
#include <pvm3.h>
#include <string>
#include <vector>

static void check(bool good, const char *what)
{
	if (!good) {
		std::cerr << "babel_cc: " << what << std::endl;
		std::exit(9);
	}
}

int main()
{
	int n = 0, fortran = 0, number = 0;
	char text[7] = "";
	int parent = pvm_parent();
	check(parent > 0, "parent");
	check(pvm_recv(parent, 1) > 0, "receive");
	check(pvm_upkint(&n, 1, 1) == 0 && n == 100, "count");
	std::vector<double> numbers(n);
	check(pvm_upkdouble(&numbers[0], n, 1) == 0, "numbers");
	check(pvm_upkbyte(text, 6, 1) == 0 && std::string(text) == "from C", "text");
	check(pvm_upkint(&fortran, 1, 1) == 0, "peer");
	for (int i = 0; i < n; i++)
		numbers[i] *= 2;
	check(pvm_initsend(PvmDataDefault) > 0, "initsend");
	pvm_pkdouble(&numbers[0], n, 1);
	pvm_pkbyte(const_cast<char *>("C++ answers"), 11, 1);
	check(pvm_send(parent, 2) == 0, "send");
	check(pvm_recv(fortran, 3) > 0, "receive from Fortran");
	check(pvm_upkint(&number, 1, 1) == 0 && number == 77, "number from Fortran");
	check(pvm_joingroup(const_cast<char *>("babel")) >= 0, "join");
	check(pvm_barrier(const_cast<char *>("babel"), 3) == 0, "barrier");
	pvm_exit();
	return 0;
}
