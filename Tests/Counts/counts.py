#!/usr/bin/env python3
"""Counts the types, functions and lines by which the size of the ledger and the reconciliation is judged.

    counts.py [REVISION …]

prints one column for each revision of the repository, and one for the working tree if none is named. `--types` also
lists the types that were counted.

The rules:

- A type is a struct, a class or an actor in one of the folders of `MODELS`. It is a write, an edit or a return if its
  name has one of that concept's words: `SyncUpSend` is a write, `SendableFields` is not. Enums are not counted: they
  are the states and rules of a concept, not another form of it. SQLite's write-ahead log is not a write.
- A function of the ledger that is seen from outside is a `package func` in `LedgerDatabase` or in an extension of it,
  in any module.
- A place that parses an edit is a call that parses all of its element in a module that an edit passes on its way.
- Lines are those of the Swift sources, with comments and blank lines.
"""

import argparse
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

MODELS = ["Ledger", "MobileSync/Up", "Pipelines", "Reconciliation", "Reports", "Returns"]
CONCEPTS = {
    "write": {"Write", "Writes", "Send", "Sent", "Operation", "Shipment", "Errand", "Flight"},
    "edit": {"Edit", "Edits"},
    "return": {"Return", "Returns", "Returned"},
}
SIZED = ["Ledger", "Reconciliation", "Reports", "MobileSync/Up"]

MODIFIERS = r"(?:(?:package|public|private|fileprivate|internal|final|nonisolated|@\w+) )*"
TYPE = re.compile(rf"^\s*{MODIFIERS}(struct|class|actor) ([A-Z]\w*)", re.M)
ANY_TYPE = re.compile(rf"^\s*(?:indirect )?{MODIFIERS}(?:indirect )?(?:struct|class|actor|enum|protocol) [A-Z]", re.M)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*")
LEDGER = re.compile(r"^(?:package |public )?(?:extension|final class|class|struct|actor) LedgerDatabase\b")
PARSE = re.compile(r"(?:JSONValue\(parsing: |object\(of: )[\w.$]*\.element\)")
PACKAGE_FUNC = re.compile(r"^  package (?:\w+ )*func ")


def sources(revision):
    """The Swift files below Sources, by their path there."""
    if revision is None:
        found = sorted((ROOT / "Sources").rglob("*.swift"))
        return {str(path.relative_to(ROOT / "Sources")): path.read_text() for path in found}
    names = git("ls-tree", "-r", "--name-only", revision, "--", "Sources").decode().splitlines()
    names = [name for name in names if name.endswith(".swift")]
    asked = "".join(f"{revision}:{name}\n" for name in names).encode()
    answer = git("cat-file", "--batch", stdin=asked)
    texts, at = {}, 0
    for name in names:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[-1])
        texts[name.removeprefix("Sources/")] = answer[end + 1 : end + 1 + size].decode()
        at = end + size + 2
    return texts


def git(*arguments, stdin=b""):
    return subprocess.run(["git", *arguments], cwd=ROOT, input=stdin, stdout=subprocess.PIPE, check=True).stdout


def lines(texts, folders=None):
    return sum(
        text.count("\n") for path, text in texts.items() if folders is None or is_below(path, folders))


def is_below(path, folders):
    return any(path.startswith(folder + "/") for folder in folders)


def models(texts):
    """The names of the types that are a form of each concept."""
    found = {concept: [] for concept in CONCEPTS}
    for path, text in texts.items():
        if not is_below(path, MODELS):
            continue
        for match in TYPE.finditer(text):
            words = set(WORD.findall(match.group(2).replace("WriteAhead", "")))
            for concept, meant in CONCEPTS.items():
                if words & meant:
                    found[concept].append(match.group(2))
    return {concept: sorted(names) for concept, names in found.items()}


def ledger_functions(texts):
    """The functions that LedgerDatabase offers to the rest of the package."""
    count = 0
    for text in texts.values():
        is_inside = False
        for line in text.splitlines():
            if LEDGER.match(line):
                is_inside = True
            elif line.startswith("}"):
                is_inside = False
            elif is_inside and PACKAGE_FUNC.match(line):
                count += 1
    return count


def counts(texts):
    named = models(texts)
    types = sum(len(ANY_TYPE.findall(text)) for text in texts.values())
    rows = [(f"types that are {'an' if concept == 'edit' else 'a'} {concept}", len(names))
            for concept, names in named.items()]
    rows.append(("functions of the ledger seen from outside", ledger_functions(texts)))
    rows.append(("places that parse an edit",
                 sum(len(PARSE.findall(text)) for path, text in texts.items() if is_below(path, MODELS))))
    rows += [(f"lines of {folder}", lines(texts, [folder])) for folder in SIZED]
    rows.append(("lines of these together", lines(texts, SIZED)))
    rows.append(("lines per type in Sources", round(lines(texts) / types, 1)))
    return rows, named


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revisions", nargs="*", metavar="REVISION")
    parser.add_argument("--types", action="store_true", help="list the types that were counted")
    options = parser.parse_args()
    columns = options.revisions or [None]
    results = [counts(sources(revision)) for revision in columns]
    titles = [revision or "now" for revision in columns]
    width = max(len(name) for name, _ in results[0][0])
    print(" " * width, *(f"{title[:12]:>12}" for title in titles))
    for rows in zip(*(rows for rows, _ in results)):
        print(f"{rows[0][0]:{width}}", *(f"{value:>12,}" for _, value in rows))
    if options.types:
        for title, (_, named) in zip(titles, results):
            for concept, names in named.items():
                print(f"\n{title}, {concept}: {', '.join(names)}")


if __name__ == "__main__":
    main()
