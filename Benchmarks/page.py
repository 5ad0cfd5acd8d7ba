#!/usr/bin/env python3
"""Updates the figures in docs/performance.md with the results of `make bench`: `page.py BENCH.json`.

A block of the page starts with `<!-- figures: NAME -->` and ends with `<!-- end of figures -->`. The text between them is
replaced by the output of the workload NAME in BENCH.json. The block of a workload that was not run stays.
"""

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end of figures -->)", re.S)


def command(entry):
    """The command that repeats a measurement."""
    words = " ".join(word for word in entry["options"] if word != "--json")
    if not words:
        return "make bench"
    return f'make bench BENCH="{words}"' if " " in words or "-" in words else f"make bench BENCH={words}"


def block(entry):
    """The text of a block."""
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
