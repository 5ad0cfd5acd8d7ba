#!/usr/bin/env python3
"""Writes the results of `make bench` into Benchmarks/README.md, including missed bounds: `page.py BENCH.json`.

A block of the page begins with `<!-- figures: NAME -->` and ends with `<!-- end of figures -->`; the text between
them is replaced by the output of the workload NAME in BENCH.json. A workload that was not measured keeps its block.
"""

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "README.md"
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.S)


def command(entry):
    """The command that measures a workload as it was measured."""
    words = " ".join(word for word in entry["options"] if word != "--json")
    if not words:
        return "make bench"
    return f'make bench BENCH="{words}"' if " " in words or "-" in words else f"make bench BENCH={words}"


def block(entry):
    """The text between the marks."""
    lines, missed = [], []
    for line in entry["text"].strip().splitlines():
        if line.startswith("FAILED: "):
            missed.append(line.removeprefix("FAILED: "))
        else:
            lines.append(line.rstrip())
    while lines and not lines[-1]:
        lines.pop()
    if not any(line.startswith("|--") for line in lines):
        lines = ["```", *lines, "```"]
    text = [f"`{command(entry)}`, on {entry['cores']} cores:", "", *lines, ""]
    text += ["Every bound is kept." if not missed else "**Missed:**", ""]
    text += [f"- {line}" for line in missed] + ([""] if missed else [])
    return "\n".join(text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    measured = json.loads(Path(sys.argv[1]).read_text())
    page = PAGE.read_text()

    def fill(match):
        entry = measured.get(match[2])
        return match[0] if entry is None else match[1] + "\n" + block(entry) + "\n" + match[3]

    PAGE.write_text(BLOCK.sub(fill, page))
    names = {match[2] for match in BLOCK.finditer(page)}
    for name in sorted(set(measured) - names):
        print(f"{PAGE.name} has no block for {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
