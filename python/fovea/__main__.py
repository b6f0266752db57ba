# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line, of the program that is in the package: `fovea`, or `python -m fovea`. What draws is here; see draw.py."""
import os
import sys

from fovea.compiler import find_program


def main():
    if sys.argv[1:2] == ["draw"]:
        from fovea.draw import main as draw

        sys.exit(draw(sys.argv[2:]))
    program = find_program()
    os.execv(program, ["fovea", *sys.argv[1:]])


if __name__ == "__main__":
    main()
