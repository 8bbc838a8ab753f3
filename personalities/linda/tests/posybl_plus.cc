// POSYBL in C++, with headers of streams in front of posybl.h and behind it, and a member called in.
#include <fstream>
#include <posybl.h>
#include <iostream>
#include <locale>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Door {
    int in(int value) { return value; }
};

// A function of the program beside POSYBL's.
static int out(double value) { return value > 0; }

static int check(bool fine, const char *what)
{
    if (!fine)
        std::cout << "wrong: " << what << "\n";
    return fine;
}

int main()
{
    std::vector<int> numbers(1000);
    std::string text = "text";
    int *back = nullptr, length = 0, i = 0, fine = 1;
    double d = 0;
    char *words = nullptr;
    Door door;

    for (int n = 0; n < 1000; n++)
        numbers[n] = n;
    out(lstring("array"), lnint(numbers.data(), 1000), lstring(text.c_str()), ldouble(1.5));
    fine &= check(rdp(lstring("array"), qlnint(nullptr, nullptr), qlstring(nullptr), qldouble(&d)) == 1 && d == 1.5, "rdp");
    in(lstring("array"), qlnint(&back, &length), qlstring(&words), ldouble(1.5));
    fine &= check(length == 1000 && back[999] == 999 && !std::strcmp(words, "text"), "values");
    std::free(back);
    std::free(words);
    fine &= check(inp(lstring("array"), qlnint(nullptr, nullptr)) == 0, "inp");
    out(lint(7));
    rd(qlint(&i));
    fine &= check(i == 7 && in(qlint(&i)) == 1, "a tuple of one field");
    fine &= check(door.in(3) == 3 && out(2.0) == 1, "names of the program");
    std::ofstream file("/dev/null", std::ios::out);
    std::cout << (fine ? "ok\n" : "wrong\n");
    return !fine;
}
