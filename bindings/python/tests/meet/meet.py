"""meet put READER... | take WRITER...: values of all types for programs in other languages, and theirs."""

import array
import sys
from typing import Any

import neopvm as pvm
from neopvm.space import Formal, Typed

HALF = bytes.fromhex("0000000000000080fe3f000000000000")

#: Each value as it is put, the formal that it fits, and what Python gives for it. A long double can only be read.
CASES: dict[str, tuple[Any, Any, Any]] = {
    "char": (Typed("char", b"x"), Formal("char"), b"x"),
    "schar": (Typed("signed char", -5), Formal("signed char"), -5),
    "uchar": (Typed("unsigned char", 200), Formal("unsigned char"), 200),
    "short": (Typed("short", -300), Formal("short"), -300),
    "ushort": (Typed("unsigned short", 60000), Formal("unsigned short"), 60000),
    "int": (-70000, int, -70000),
    "uint": (Typed("unsigned int", 4000000000), Formal("unsigned int"), 4000000000),
    "long": (Typed("long", -5000000000), Formal("long"), -5000000000),
    "ulong": (Typed("unsigned long", 9 * 10**18), Formal("unsigned long"), 9 * 10**18),
    "longlong": (Typed("long long", -6000000000), Formal("long long"), -6000000000),
    "ulonglong": (Typed("unsigned long long", 17000000000), Formal("unsigned long long"), 17000000000),
    "float": (Typed("float", 0.5), Formal("float"), 0.5),
    "double": (0.1, float, 0.1),
    "longdouble": (None, Formal("long double"), HALF),
    "bool": (True, bool, True),
    "floatcomplex": (Typed("float complex", 1 - 2j), Formal("float complex"), 1 - 2j),
    "doublecomplex": (0.5 + 3j, complex, 0.5 + 3j),
    "text": ("words", str, "words"),
    "bytes": (b"\0\xff\x10", bytes, b"\0\xff\x10"),
    "struct": (Typed("struct", b"12345678"), Formal("struct", 8), b"12345678"),
    "short[]": (array.array("h", [1, -2, 3]), Formal("short[]"), [1, -2, 3]),
    "ushort[]": (array.array("H", [1, 60000]), Formal("unsigned short[]"), [1, 60000]),
    "int[]": (array.array("i", [1, -2, 3]), Formal("int[]"), [1, -2, 3]),
    "long[]": (array.array("l", [1, -5000000000]), Formal("long[]"), [1, -5000000000]),
    "float[]": (array.array("f", [0.5, 1.5]), Formal("float[]"), [0.5, 1.5]),
    "double[]": (array.array("d", [0.1, 2.5]), Formal("double[]"), [0.1, 2.5]),
}


def take(space: pvm.Space, writer: str, name: str) -> None:
    actual, formal, expected = CASES[name]
    try:
        if actual is not None:
            space.read(writer, "Python", name, actual, timeout=0)
        row = space.take(writer, "Python", name, formal, timeout=0)
    except pvm.Timeout:
        return
    value = row[3].tolist() if name.endswith("[]") else row[3]
    if bytes(value) == expected if isinstance(value, memoryview) else value == expected:
        print(writer, name)


def main(what: str, *others: str) -> None:
    with pvm.connect(start=False) as vm:
        space = vm.space("meet", create=False)
        for name, (actual, _, _) in CASES.items():
            for other in others:
                if what == "take":
                    take(space, other, name)
                elif actual is not None:
                    space.out("Python", other, name, actual)


main(*sys.argv[1:])
