#!/usr/bin/env python3
"""Compares benchmark ratios with the stored baseline, on small data: `ratios.py PROGRAM [--update]`.

PROGRAM is a built `attache-bench`. The ratios compare processor time with a floor of the same run, so that the machine and
its other work hardly matter. Each workload is run up to four times and its best ratio counts, because other work can only
make a ratio worse. The exit status is 1 if a ratio is more than a quarter worse than in `ratios.json`; `--update` writes
that file.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).resolve().parent / "ratios.json"
# The factor by which a ratio may be worse.
MARGIN = 1.25
ROUNDS = 4


def processor(runs):
    """The minimum processor time of some runs, in ms."""
    return min(run["userMilliseconds"] + run["systemMilliseconds"] for run in runs)


def prime(measured):
    both, queries = measured["prime"], measured["queries"]
    most = max(run["records"] for run in both["runs"])

    def arm(name):
        return processor(run for run in both["runs"] if run["arm"] == name and run["records"] in (0, most))

    yield "prime of both stores ÷ SQLite alone", arm("prime") / arm("SQLite")
    yield "prime of one store ÷ C through SQLite", arm("one store") / arm("C, SQLite")
    yield "prime of both stores ÷ one", arm("prime") / arm("one store")
    for answer in queries["answers"]:
        yield f"query {answer['question']} ÷ SQL alone", answer["ratio"]


def pack(measured):
    for arm in measured["arms"]:
        yield f"{arm['arm']} ÷ the libraries alone", float(arm["processorToFloor"])


def ingest(measured):
    yield "ingest ÷ copy, hash and quick_check", float(measured["processorToFloor"])


def incremental(measured):
    # The kernel's part is the copying, which depends on the machine's free memory.
    def user(share):
        return min(run["userMilliseconds"] for run in measured["runs"] if run.get("changedOneIn", -1) == share)

    for share in [100, 10]:
        yield f"a run with one in {share} changed ÷ the first", user(share) / user(-1)


WORKLOADS = [
    (prime, ["--records", "100000", "--base", "50000"]),
    (pack, ["pack", "--records", "20000"]),
    (ingest, ["ingest", "--returns", "6"]),
    (incremental, ["incremental", "--records", "100000"]),
]


def measure(program, words, directory):
    """The results of a workload. With so little data, its limits mean nothing."""
    run = subprocess.run(
        [program, *words, "--rounds", "1", "--json", "--directory", directory], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    start = run.stdout.find("{")
    if start < 0:
        sys.exit(f"{program} {' '.join(words)} measured nothing:\n{run.stderr}")
    return json.JSONDecoder().raw_decode(run.stdout[start:])[0]


def best_of(program, kept):
    """The best ratio of each name."""
    best = {}
    for read, words in WORKLOADS:
        # The next round reuses the data that a workload prepares.
        with tempfile.TemporaryDirectory() as directory:
            for _ in range(ROUNDS):
                found = dict(read(measure(program, words, directory)))
                for name, ratio in found.items():
                    best[name] = min(ratio, best.get(name, ratio))
                if kept is not None and all(best[name] <= kept.get(name, 0) * MARGIN for name in found):
                    break
    return best


def main():
    program, *options = sys.argv[1:] or sys.exit(__doc__.strip())
    if options == ["--update"]:
        best = best_of(program, None)
        rounded = {name: round(ratio, 3) for name, ratio in best.items()}
        KEPT.write_text(json.dumps(rounded, indent=2, ensure_ascii=False) + "\n")
        print(KEPT.read_text(), end="")
        return 0
    if options:
        sys.exit(__doc__.strip())
    kept = json.loads(KEPT.read_text())
    best = best_of(program, kept)
    worse = [name for name, ratio in best.items() if ratio > kept.get(name, 0) * MARGIN]
    for name, ratio in best.items():
        mark = "WORSE " if name in worse else ""
        print(f"{mark}{name}: {ratio:.2f}, baseline {kept.get(name, 0):.2f}")
    for name in sorted(set(kept) - set(best)):
        print(f"{name} is in the baseline but was not measured")
    return 1 if worse or set(kept) - set(best) else 0


if __name__ == "__main__":
    sys.exit(main())
