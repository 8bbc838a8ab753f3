"""``python -m neopvm ARGUMENTS`` runs ``pvm ARGUMENTS``."""

from __future__ import annotations

import os
import sys

from . import launch
from .errors import Error


def main() -> int:
    """Replaces this process by the program ``pvm``."""
    try:
        program = launch.find("pvm")
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
