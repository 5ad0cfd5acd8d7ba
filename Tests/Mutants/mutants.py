#!/usr/bin/env python3
"""Breaks the rules on purpose, one small bug at a time, and checks whether a test notices.

The lists next to this file (`*.mutants`) have the bugs; README.md describes their format. All bugs are built into one
copy of the sources, each behind a switch, so that there is one build and then only test runs.

Variables: MUTANT=name or AREA=list runs a part, LANES=n runs n at a time, SCRATCH=directory has the copy, the build
and results.txt, WORK=directory is where the tests write (one in memory is several times faster). `mutants.py --check`
only checks whether every entry still matches the sources and its replacement can be parsed. `--again` keeps the bugs
that an earlier run noticed and runs the rest.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRATCH = Path(os.environ.get("SCRATCH", ROOT / ".build-mutants")).resolve()
TREE = SCRATCH / "tree"
BUILD = SCRATCH / "build"
SWITCH = "MutantSwitch.swift"
VERDICTS = "verdicts.jsonl"

# What follows the `-` or `+` of a line: the code is an expression, statements, or words within an SQL literal.
KINDS = {"": "expression", ";": "statement", "$": "words"}

SWITCH_TEXT = """import FoundationEssentials

/// The number of the mutant that is on: a variable says it, or, to a program that was started without our
/// variables, a file in the temporary directory.
private let mutant: Int = {
  let variables = ProcessInfo.processInfo.environment
  if let text = variables["ATTACHE_MUTANT"] { return Int(text) ?? 0 }
  guard let directory = variables["TMPDIR"],
    let text = try? String(contentsOfFile: directory + "/attache-mutant", encoding: .utf8)
  else { return 0 }
  return Int(text) ?? 0
}()

@usableFromInline func mutantIsOn(_ number: Int) -> Bool { mutant == number }
"""


class Trouble(Exception):
    """An error that stops the whole run, with a message for the user."""


@dataclass
class Mutant:
    name: str
    rules: list
    why: str
    area: str
    place: str  # list file and line
    file: str
    tests: list
    kind: str = ""
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)
    number: int = 0

    def text(self, lines):
        return "\n".join(lines).strip()

    def digest(self):
        """A digest that changes whenever an earlier verdict on this entry becomes invalid."""
        parts = [self.file, self.kind, *self.old, "->", *self.new, "->", *self.tests]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


# MARK: lists


def read_list(path):
    """The entries of one list."""
    mutants, file, tests, entry = [], None, [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path.relative_to(ROOT)}:{number}"
        head = re.fullmatch(r"\[([a-z0-9-]+)\](?: \(([0-9, ]+)\))? (.+)", line)
        if head:
            rules = [int(one) for one in (head[2] or "").replace(",", " ").split()]
            entry = Mutant(head[1], rules, head[3], path.stem, place, file, list(tests))
            if not file or not tests:
                raise Trouble(f"{place}: a line `file …` and a line `tests …` come before an entry")
            mutants.append(entry)
        elif line.startswith("file "):
            file, entry = line[5:].strip(), None
        elif line.startswith("tests "):
            names = line[6:].split()
            if entry and not entry.old:
                entry.tests = names
            else:
                tests, entry = names, None
        elif entry and re.match(r"[-+][;$]?( |$)", line):
            mark, _, code = line.partition(" ")
            kind = KINDS[mark[1:]]
            if entry.kind not in ("", kind):
                raise Trouble(f"{place}: an entry is of one kind: its `-` and `+` lines bear one mark")
            entry.kind = kind
            part = entry.old if mark[0] == "-" else entry.new
            part.append(code)
        elif entry and entry.kind and line.startswith("  "):
            part.append(line)
        elif line.strip() and not line.startswith("#"):
            raise Trouble(f"{place}: not a line of a list: {line}")
    for one in mutants:
        if not one.old or not one.new or (one.kind == "expression" and not one.text(one.new)):
            raise Trouble(f"{one.place}: [{one.name}] lacks the code, or what stands in its place")
    return mutants


def read_lists():
    mutants = [one for path in sorted(HERE.glob("*.mutants")) for one in read_list(path)]
    seen = {}
    for one in mutants:
        # Derived from the name, so that a new entry does not change the files of the others.
        one.number = int(hashlib.sha256(one.name.encode()).hexdigest()[:7], 16)
        if one.name in seen:
            raise Trouble(f"{one.place}: [{one.name}] stands at {seen[one.name]} too")
        seen[one.name] = one.place
    if len({one.number for one in mutants}) < len(mutants):
        raise Trouble("two names come to one number; rename the later one")
    return mutants


def read_survivors():
    """Names of the mutants that survivors.md explains."""
    path = HERE / "survivors.md"
    return set(re.findall(r"^- `([a-z0-9-]+)`", path.read_text(), re.M)) if path.exists() else set()


# MARK: sources


def locate(one, source):
    """The position of an entry's code in its file; with «…», that of the enclosed code."""
    code = one.text(one.old)
    before, mark, rest = code.partition("«")
    inside, _, after = rest.partition("»")
    if not mark:
        before, inside, after = "", code, ""
    code = before + inside + after
    count = source.count(code)
    if count != 1:
        raise Trouble(
            f"{one.place}: [{one.name}] is stale: its code stands {count} times in {one.file}, not once:\n    {code}")
    if one.kind == "expression" and is_list(inside):
        raise Trouble(f"{one.place}: [{one.name}] is a list, and no expression: {inside}")
    start = source.index(code) + len(before)
    return start, start + len(inside)


def is_list(code):
    """Whether code is several conditions or arguments separated by commas, not an expression."""
    depth, quoted = 0, False
    for place, letter in enumerate(code):
        if letter == '"' and code[place - 1:place] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth == 0:
                return True
    return False


def render(source, start, end, spans):
    """The code from `start` to `end` with the mutants of `spans`, outermost first, built in."""
    result, position = [], start
    while spans:
        (begin, stop), mutants = spans[0]
        inner = [one for one in spans[1:] if one[0][0] < stop]
        for (other, other_stop), others in inner:
            if other_stop > stop:
                raise Trouble(
                    f"{others[0].place}: [{others[0].name}] and [{mutants[0].name}] overlap; one must hold the other")
        spans = spans[1 + len(inner):]
        result.append(source[position:begin])
        result.append(switched(mutants, render(source, begin, stop, inner)))
        position = stop
    result.append(source[position:end])
    return "".join(result)


def switched(mutants, original):
    kinds = {one.kind for one in mutants}
    if len(kinds) > 1:
        names = ", ".join(f"[{one.name}]" for one in mutants)
        raise Trouble(f"{mutants[0].place}: {names} change the same code and are not of one kind")
    if kinds == {"statement"}:
        cases = "".join(f"if mutantIsOn({one.number}) {{ {wrapped(one.text(one.new))} }} else " for one in mutants)
        return f"{cases}{{ {wrapped(original)} }}"
    if kinds == {"words"}:
        cases = "".join(f'mutantIsOn({one.number}) ? "{one.text(one.new)}" : ' for one in mutants)
        # Raw text cannot have values.
        if "\\(" in cases + original:
            return f'\\(({cases}"{original}") as SQL)'
        return f'\\(raw: {cases}"{original}")'
    cases = "".join(f"mutantIsOn({one.number}) ? ({wrapped(one.text(one.new))}) : " for one in mutants)
    return f"({cases}({wrapped(original)}))"


def wrapped(code):
    return f"\n{code}\n" if "\n" in code else code


def mutated(source, mutants):
    spans = {}
    for one in mutants:
        spans.setdefault(locate(one, source), []).append(one)
    ordered = sorted(spans.items(), key=lambda item: (item[0][0], -item[0][1]))
    return render(source, 0, len(source), ordered)


def rewritten(mutants):
    """The new text of every file that a mutant changes; names every stale entry."""
    by_file, troubles, result = {}, [], {}
    for one in mutants:
        by_file.setdefault(one.file, []).append(one)
    for file, entries in by_file.items():
        path = ROOT / file
        if not path.exists():
            troubles.append(f"{entries[0].place}: there is no {file}")
            continue
        source, fitting = path.read_text(), []
        for one in entries:
            try:
                locate(one, source)
                fitting.append(one)
            except Trouble as trouble:
                troubles.append(str(trouble))
        try:
            result[file] = mutated(source, fitting)
        except Trouble as trouble:
            troubles.append(str(trouble))
    if troubles:
        raise Trouble("\n".join(troubles))
    return result


def copy_tree(changed):
    """Updates the copy, without touching equal files, so that only changes are built."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
        capture_output=True).stdout.decode().split("\0")
    wanted = {}
    for file in listed:
        path = ROOT / file
        if file and path.is_file():
            wanted[file] = changed[file].encode() if file in changed else path.read_bytes()
    for target in {"/".join(file.split("/")[:2]) for file in changed}:
        wanted[f"{target}/{SWITCH}"] = SWITCH_TEXT.encode()
    for path in [path for top in ("Sources", "Tests") for path in (TREE / top).rglob("*")]:
        if path.is_file() and str(path.relative_to(TREE)) not in wanted:
            path.unlink()
    for file, content in wanted.items():
        path = TREE / file
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            shutil.copymode(ROOT / file, path) if (ROOT / file).exists() else None


def build():
    command = ["swift", "build", "--scratch-path", str(BUILD), "--build-tests"]
    log = SCRATCH / "build.log"
    with open(log, "w") as output:
        status = subprocess.run(command, cwd=TREE, stdout=output, stderr=subprocess.STDOUT).returncode
    if status:
        errors = sorted({line for line in log.read_text().splitlines() if "error:" in line})
        raise Trouble("the copy does not build; the log is " + str(log) + "\n" + "\n".join(errors[:40]))
    return BUILD / "debug" / "attachePackageTests.xctest"


# MARK: runs


@dataclass
class Verdict:
    outcome: str  # killed, timeout, survived, or green of a run without a mutant
    seconds: float
    test: str = ""


def run(program, tests, number, limit):
    """Runs test suites with one mutant on, until a test records an issue."""
    directory = tempfile.mkdtemp(prefix="m", dir=os.environ.get("WORK", SCRATCH))
    os.chmod(directory, 0o755)  # a test temporarily runs as another user
    Path(directory, "attache-mutant").write_text(str(number))
    variables = dict(os.environ, ATTACHE_MUTANT=str(number), TMPDIR=directory)
    command = ["nice", "-n", "10", str(program), "--testing-library", "swift-testing"]
    for one in tests:
        command += ["--filter", one]
    began, late, verdict, passed = time.monotonic(), threading.Event(), None, False
    process = subprocess.Popen(
        command, cwd=TREE, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True)

    def end():
        late.set()
        stop(process)

    timer = threading.Timer(limit, end)
    timer.start()
    last = ""
    for line in process.stdout:
        if re.search(r"recorded an issue|^✘ Test .* failed after", line):
            verdict = Verdict("killed", time.monotonic() - began, test_of(line))
            break
        passed = passed or bool(re.search(r"Test run with [1-9][0-9]* tests? .*passed", line))
        last = line.strip() or last
    timer.cancel()
    stop(process)
    process.stdout.close()
    process.wait()
    shutil.rmtree(directory, ignore_errors=True)
    seconds = time.monotonic() - began
    if verdict:
        return verdict
    if late.is_set():
        return Verdict("timeout", seconds, f"no end within {limit:.0f} s")
    if passed:
        return Verdict("survived", seconds)
    return Verdict("killed", seconds, f"the process ended: {last[:100]}")


def stop(process):
    """Ends a test process and the programs that it started, which are one process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_of(line):
    found = re.search(r'[Tt]est (?:case passing .* to )?("[^"]*"|[A-Za-z_]+\([^)]*\)|`[^`]*`)', line)
    return found[1].strip('"') if found else line.strip()[:100]


def in_lanes(jobs, work):
    """Does `work` on every job, a few at a time."""
    lanes = int(os.environ.get("LANES", os.cpu_count() or 1))
    lock, waiting, failures = threading.Lock(), list(jobs), []

    def lane():
        while True:
            with lock:
                if not waiting or failures:
                    return
                job = waiting.pop(0)
            try:
                work(job, lock)
            except Exception as failure:  # a failure of one lane fails the run
                with lock:
                    failures.append(failure)

    threads = [threading.Thread(target=lane) for _ in range(lanes)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if failures:
        raise failures[0]


def baseline(program, mutants):
    """The time of each suite without a mutant; all must pass."""
    suites = sorted({suite for one in mutants for suite in one.tests})
    seconds = {}

    def measure(suite, lock):
        verdict = run(program, [suite], 0, 600)
        with lock:
            if verdict.outcome != "survived":
                raise Trouble(f"red without a mutant: {suite}: {verdict.test}")
            seconds[suite] = verdict.seconds

    in_lanes(suites, measure)
    return seconds


def noticed(program, one, seconds):
    """The result of a mutant's suites, run one after the other until one notices."""
    total = 0
    for suite in one.tests:
        verdict = run(program, [suite], one.number, 30 + 5 * seconds[suite])
        total += verdict.seconds
        if verdict.outcome != "survived":
            break
    return Verdict(verdict.outcome, total, verdict.test)


def judge(program, mutants, seconds):
    """Runs the mutants, and stores each verdict at once, for a run with `--again`."""
    verdicts = {}

    def one_mutant(one, lock):
        verdict = noticed(program, one, seconds)
        with lock:
            verdicts[one.name] = verdict
            kept = vars(verdict) | {"name": one.name, "digest": one.digest()}
            with open(SCRATCH / VERDICTS, "a") as file:
                file.write(json.dumps(kept) + "\n")
            print(f"{len(verdicts):4}/{len(mutants)}  {row(one, verdict)}", flush=True)

    in_lanes(mutants, one_mutant)
    return verdicts


def kept_verdicts(mutants):
    """The last verdict of earlier runs on each mutant whose entry has not changed since."""
    digests, verdicts = {one.name: one.digest() for one in mutants}, {}
    path = SCRATCH / VERDICTS
    for line in path.read_text().splitlines() if path.exists() else []:
        kept = json.loads(line)
        if digests.get(kept["name"]) == kept["digest"]:
            verdicts[kept["name"]] = Verdict(kept["outcome"], kept["seconds"], kept["test"])
    return verdicts


# MARK: results


def row(one, verdict):
    rules = ",".join(map(str, one.rules)) or "-"
    return f"{verdict.outcome:8} {verdict.seconds:5.1f} s  {rules:>5}  {one.area}/{one.name}  {verdict.test}"


def tell(mutants, verdicts, argued):
    """Prints and writes the results; returns whether each survivor is explained."""
    killed = sum(verdicts[one.name].outcome != "survived" for one in mutants)
    late = sum(verdicts[one.name].outcome == "timeout" for one in mutants)
    lines = [row(one, verdicts[one.name]) for one in mutants]
    summary = [
        f"{killed} of {len(mutants)} noticed ({100 * killed / len(mutants):.1f} %), {late} of them by the time limit"]
    open_ones = []
    for one in mutants:
        survived = verdicts[one.name].outcome == "survived"
        if survived and one.name in argued:
            summary.append(f"survived, argued in survivors.md: {one.name}")
        elif survived:
            open_ones.append(one)
            summary.append(f"SURVIVED: {one.name}: {one.why} ({one.file}; {' '.join(one.tests)})")
        elif one.name in argued:
            summary.append(f"noticed, though survivors.md argues it: {one.name}")
    rules = sorted({rule for one in mutants for rule in one.rules})
    for rule in rules:
        own = [one for one in mutants if rule in one.rules]
        noticed = sum(verdicts[one.name].outcome != "survived" for one in own)
        summary.append(f"promise {rule}: {noticed} of {len(own)} noticed")
    (SCRATCH / "results.txt").write_text("\n".join(lines + [""] + summary) + "\n")
    print("\n".join([""] + summary + [f"the table is in {SCRATCH / 'results.txt'}"]))
    return not open_ones


def parse(changed):
    """Lets the compiler parse the rewritten files, because an entry may match the text and break the code."""
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for file, text in changed.items():
            files.append(Path(directory, file.replace("/", "\\")))
            files[-1].write_text(text)
        command = ["swiftc", "-frontend", "-parse", "-swift-version", "6", *map(str, files)]
        asked = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        errors = [line for line in asked.stdout.splitlines() if re.match(r"\S+:\d+:\d+: error:", line)]
        if asked.returncode:
            shown = "\n".join(errors[:40] or asked.stdout.splitlines()[:40])
            raise Trouble("with the mutants these are not Swift:\n" + shown.replace("\\", "/").replace(directory, ""))


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    options.add_argument("--check", action="store_true", help="look only whether every entry fits the sources")
    options.add_argument("--again", action="store_true", help="go on where a run was broken off")
    asked = options.parse_args()
    mutants = read_lists()
    changed = rewritten(mutants)
    print(f"{len(mutants)} mutants in {len(changed)} files", flush=True)
    if asked.check:
        parse(changed)
        return 0
    names, areas = os.environ.get("MUTANT", "").split(), os.environ.get("AREA", "").split()
    chosen = [
        one for one in mutants
        if (not names or one.name in names or str(one.number) in names) and (not areas or one.area in areas)]
    if not chosen:
        raise Trouble("no mutant is of this name or area")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    copy_tree(changed)
    program = build()
    verdicts = kept_verdicts(chosen) if asked.again else {}
    # Mutants without a verdict come first, then those that survived or timed out, for which new tests or a less
    # busy machine may give another result.
    waiting = [one for one in chosen if one.name not in verdicts]
    waiting += [one for one in chosen if one.name in verdicts and verdicts[one.name].outcome != "killed"]
    print(f"{len(waiting)} to judge")
    seconds = baseline(program, waiting)
    print(f"all {len(seconds)} suites are green without a mutant ({sum(seconds.values()):.0f} s)", flush=True)
    verdicts |= judge(program, waiting, seconds)
    return 0 if tell(chosen, verdicts, read_survivors()) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"mutants: {trouble}", file=sys.stderr)
        sys.exit(2)
