"""One task starts others and receives their greetings."""

import neopvm as pvm


def greet(name: str) -> None:
    vm = pvm.connect()
    vm.send(f"hello {name}, this is t{vm.tid:x}", vm.parent)


if __name__ == "__main__":
    with pvm.connect() as vm:  # starts a machine if none runs
        vm.spawn(greet, "world", n=3)
        for _ in range(3):
            print(vm.recv(timeout=60).obj)
