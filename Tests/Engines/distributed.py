"""Runs of a pipeline that Slurm distributes over workers, compared with runs of one process."""

import contextlib
import itertools
from pathlib import Path

from fleet import Fleet
from slurm import Slurm

ENGINES = Path(__file__).resolve().parents[2] / "packaging" / "engines"
# The program as the jobs find it. A worker has neither home's data directory nor its signing key. In the first run, while
# there is a file with this name, the second worker is killed when it has claimed its first order. The double of the last
# worker starts when that one has claimed its first order.
PROGRAM = """#!/bin/sh
[ "$1" = work ] || exec "{attache}" "$@"
unset ATTACHE_DATA SIGN_KEY
claimed() {{ [ -n "$(find {folder}/work -path "*/claims/$1.*" -print -quit)" ]; }}
if [ -z "$SLURM_ARRAY_TASK_ID" ]; then
  until claimed 3; do sleep 0.05; done
elif [ "$SLURM_ARRAY_TASK_ID" = 1 ] && rm {folder}/kill 2>/dev/null; then
  "{attache}" "$@" &
  until claimed 1 || ! kill -0 $!; do sleep 0.05; done
  kill -KILL $!
  wait $!
  exit
fi
exec "{attache}" "$@"
"""


class Distributed(Fleet):
    """A fleet whose runs are distributed."""

    def __init__(self, attache, folder, slurm):
        super().__init__(attache, folder)
        self.slurm = slurm
        program = self.folder / "bin" / "attache"
        program.parent.mkdir()
        program.write_text(PROGRAM.format(attache=self.attache, folder=self.folder))
        program.chmod(0o755)
        self.jobs = {
            "PATH": f"{program.parent}:/usr/sbin:/usr/bin:/sbin:/bin", "ATTACHE_STEP": str(ENGINES / "step"),
            "ATTACHE_DATA": str(self.folder / "data")}

    def submit(self, *words):
        """Submits a run; returns the numbers of its jobs."""
        environment = {**self.jobs, "SIGN_KEY": self.environment["SIGN_KEY"]}
        return self.slurm.run(ENGINES / "slurm" / "submit", self.folder / "visits.json", *words,
                              cwd=self.folder, environment=environment).split()

    def finish(self, jobs):
        """Waits for the end of all jobs; returns what they did, and the statuses of home."""
        requeued = self.slurm.finish()
        orders, array, report = (self.slurm.states(job) for job in jobs)
        assert orders[""][0] == report[""][0] == "COMPLETED", (orders, array, report, self.said())
        return requeued, array

    def said(self):
        return "".join(f"{path.name}:\n{path.read_text()[-2000:]}" for path in sorted(self.folder.glob("slurm-*.out")))


def first_run(fleet):
    """Four workers: one is killed and one ends with status 6, which Slurm both starts again; one is there twice."""
    # The first three orders of users: the first prime of the first and of the third takes time.
    for user in (0, 2):
        fleet.admin("faults", kind="query", user=fleet.names[user], delay=5000)
    fleet.admin("faults", kind="query", user=fleet.names[1], limitExceeded=True)
    (fleet.folder / "kill").touch()
    jobs = fleet.submit("4")
    double = fleet.slurm.run(
        "sbatch", "--parsable", f"--dependency=afterok:{jobs[0]}", ENGINES / "step", "work",
        fleet.folder / "visits.json", "--shard", "3/4", cwd=fleet.folder, environment=fleet.jobs)
    requeued, array = fleet.finish(jobs)
    assert [state for state, _, _ in array.values()] == ["COMPLETED"] * 4, (array, fleet.said())
    assert "Killed" in (fleet.folder / f"slurm-{jobs[1]}_1.out").read_text(), fleet.said()
    assert sum(restarts for _, _, restarts in array.values()) == len(requeued) == 2, (requeued, array, fleet.said())
    assert fleet.slurm.states(double)[""][0] == "COMPLETED", fleet.said()
    assert fleet.said().count(f"prime: {fleet.names[2]}: generation 1") == 2, fleet.said()


def second_run(fleet):
    """Seven workers, three at a time, after devices returned edits."""
    _, array = fleet.finish(fleet.submit("7", "3"))
    assert [state for state, _, _ in array.values()] == ["COMPLETED"] * 7, (array, fleet.said())


def compare(one, many):
    """Both pipelines have recorded, reported and issued the same, and primed nobody twice."""
    expected, found = one.facts(), many.facts()
    different = []
    for name in sorted(expected.keys() | found.keys()):
        for left, right in itertools.zip_longest(expected.get(name, []), found.get(name, []), fillvalue=""):
            if left != right:
                start = next((i for i, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), 0)
                part = slice(max(0, start - 60), start + 100)
                different.append(f"{name}: {left[part]} | {right[part]}")
    assert not different, f"{len(different)} differences\n" + "\n".join(different[:20]) + "\n" + many.said()
    assert len(expected) > 300, len(expected)


def check_slurm(attache, folder):
    """Slurm distributes two runs, with a killed, a requeued and a doubled worker, as one process performs them."""
    with contextlib.ExitStack() as stack:
        slurm = Slurm(folder / "slurm")
        stack.callback(slurm.stop)
        one, many = Fleet(attache, folder / "one"), Distributed(attache, folder / "many", slurm)
        for fleet in (one, many):
            fleet.start()
            stack.callback(fleet.stop)
        one.perform(0)
        first_run(many)
        compare(one, many)
        for fleet in (one, many):
            fleet.edit()
        one.perform(3)
        second_run(many)
        compare(one, many)
        assert not (folder / "snapshots").exists(), "a worker has made a data directory"
