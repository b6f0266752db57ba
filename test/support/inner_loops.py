# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads assembly that LLVM wrote and checks its innermost loops.

    inner_loops.py FILE.s [--print] [--at-least N] [--products N]

For each innermost loop with multiply-and-add instructions: the function, how many instructions of
which kind. Fails if one of them spills or reloads a register (LLVM's comments say so), or if fewer
than N such loops are found. One address in so many instructions may be reloaded, which takes no
time beside vectors, and any in loops that are no register block of products. --products leaves out loops with fewer of them. --print shows the loops themselves.
"""
import argparse
import re
import sys

LABEL = re.compile(r"^(\.?[\w$.@]+):")
JUMP = re.compile(r"^\s+j\w+\s+(\.LBB\w+)")
LEAP = re.compile(r"^\s+jmp\s+(\.LBB\w+)")
PRODUCT = re.compile(r"^\s+vf?n?m(add|ul)\w*[ps][sdh]\b|^\s+v(dp|p?dpbusd)\w*\b|^\s+mulps\b")
SPILL = re.compile(r"(Spill|Reload)")
VECTOR = re.compile(r"%[xyz]mm")
# Products of a register block, and instructions beside which one address takes no time.
BLOCK, MANY = 16, 16


def functions(text):
    """(name, lines) of each function."""
    name, lines = None, []
    for line in text.splitlines():
        found = LABEL.match(line)
        if found and not found.group(1).startswith(".L"):
            if name:
                yield name, lines
            name, lines = found.group(1), []
        elif name:
            lines.append(line)
    if name:
        yield name, lines


def innermost(lines):
    """[first, last] line numbers of each loop that holds no other.

    A stretch with a jump elsewhere that is always taken is no loop of its own: LLVM put the loop's
    inner parts behind it.
    """
    places = {LABEL.match(line).group(1): i for i, line in enumerate(lines) if LABEL.match(line)}
    loops = {}
    for i, line in enumerate(lines):
        jump = JUMP.match(line)
        if jump and places.get(jump.group(1), len(lines)) <= i:
            start = places[jump.group(1)]
            loops[start] = max(loops.get(start, 0), i)
    def leaves(a, b):
        always = [LEAP.match(line) for line in lines[a : b + 1]]
        return any(leap and not a <= places.get(leap.group(1), -1) <= b for leap in always)

    return [(a, b) for a, b in sorted(loops.items()) if not any(a < c and d <= b for c, d in loops.items()) and not leaves(a, b)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--print", action="store_true", dest="show")
    parser.add_argument("--at-least", type=int, default=1)
    parser.add_argument("--products", type=int, default=1)
    options = parser.parse_args()
    text = sys.stdin.read() if options.file == "-" else open(options.file).read()
    count, bad = 0, 0
    for name, lines in functions(text):
        for first, last in innermost(lines):
            body = [line for line in lines[first : last + 1] if line.strip() and not line.strip().startswith((".", "#"))]
            products = sum(bool(PRODUCT.match(line)) for line in body)
            if products < options.products:
                continue
            count += 1
            instructions = sum(not LABEL.match(line) for line in body)
            spills = [line for line in body if SPILL.search(line)]
            addresses = [line for line in spills if not VECTOR.search(line)]
            if products < BLOCK or len(addresses) * MANY <= instructions:
                spills = [line for line in spills if line not in addresses]
            print(f"{name}: {instructions} instructions, {products} products, {len(spills)} spills or reloads")
            if options.show or spills:
                print("\n".join("    " + line.strip() for line in body))
            bad += len(spills)
    if bad:
        sys.exit(f"{bad} spills or reloads in innermost loops")
    if count < options.at_least:
        sys.exit(f"expects at least {options.at_least} innermost loops with products, got {count}")


if __name__ == "__main__":
    main()
