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
# Of x86-64, and of aarch64.
JUMP = re.compile(r"^\s+(?:j\w+|b(?:\.\w+)?|cbn?z\s+\w+,|tbn?z\s+\w+, #\w+,)\s+(\.LBB\w+)")
LEAP = re.compile(r"^\s+(?:jmp|b)\s+(\.LBB\w+)")
END = re.compile(r"^\s+(retq?|ud2|brk)\b")
PRODUCT = re.compile(r"^\s+vf?n?m(add|ul)\w*[ps][sdh]\b|^\s+v(dp|p?dpbusd)\w*\b|^\s+mulps\b|^\s+(fmla|[us]dot|usdot|sudot|bfdot|us?mmla|smmla|bfmmla)\b")
SPILL = re.compile(r"(Spill|Reload)")
VECTOR = re.compile(r"%[xyz]mm|\b[qv]\d+\b")
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


def blocks(lines):
    """The lines of each basic block, and the numbers of those that control goes to from it."""
    starts = sorted({0} | {i for i, line in enumerate(lines) if LABEL.match(line)} | {i + 1 for i, line in enumerate(lines) if JUMP.match(line) or END.match(line)})
    parts = [lines[a:b] for a, b in zip(starts, starts[1:] + [len(lines)])]
    places = {LABEL.match(part[0]).group(1): i for i, part in enumerate(parts) if part and LABEL.match(part[0])}
    nexts = []
    for i, part in enumerate(parts):
        last = part[-1] if part else ""
        jump = JUMP.match(last)
        follows = [] if LEAP.match(last) or END.match(last) or i + 1 == len(parts) else [i + 1]
        nexts.append(follows + ([places[jump.group(1)]] if jump and jump.group(1) in places else []))
    return parts, nexts


def innermost(lines):
    """The lines of each natural loop that holds no other, wherever LLVM put its parts."""
    parts, nexts = blocks(lines)
    befores = [[] for _ in parts]
    for i, follows in enumerate(nexts):
        for following in follows:
            befores[following].append(i)
    # As sets of bits: the blocks through which all ways to a block lead.
    everything = (1 << len(parts)) - 1
    dominators = [1] + [everything] * (len(parts) - 1)
    changed = True
    while changed:
        changed = False
        for i in range(1, len(parts)):
            found = everything if befores[i] else 0
            for before in befores[i]:
                found &= dominators[before]
            found |= 1 << i
            changed, dominators[i] = changed or found != dominators[i], found
    loops = {}
    for i, follows in enumerate(nexts):
        for head in follows:
            if dominators[i] >> head & 1:
                held, open_blocks = loops.setdefault(head, {head}), [i]
                while open_blocks:
                    block = open_blocks.pop()
                    if block not in held:
                        held.add(block)
                        open_blocks += befores[block]
    return [[line for block in sorted(held) for line in parts[block]] for head, held in sorted(loops.items())
            if not any(other != head and other in held for other in loops)]


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
        for loop in innermost(lines):
            body = [line for line in loop if line.strip() and not line.strip().startswith((".", "#", "//"))]
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
