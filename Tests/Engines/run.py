#!/usr/bin/env python3
"""Tests the templates of `packaging/engines`: `run.py ATTACHE SCRATCH`.

They are validated with the engines' published schemas, their scripts run with stand-ins, and Slurm, started on this
machine, distributes runs of a pipeline, which are compared with those of one process.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from distributed import check_slurm
from scripts import CHECKS
from slurm import CannotStart

TEMPLATES = Path(__file__).resolve().parent / "templates.py"
# The kinds of templates, with the environment and the package that validate them.
KINDS = {"kubernetes": ("python-kubernetes", "kubernetes_validate"), "aws-batch": ("python-moto", "botocore")}


class Skipped(Exception):
    """The reason that a check cannot run here."""


def check_template(kind, scratch):
    place, module = KINDS[kind]
    python = scratch / place / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode != 0:
        raise Skipped(f"there is no {module} in {place}: make deps-test")
    done = subprocess.run([python, TEMPLATES, kind], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def main(attache, scratch):
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    checks = [(f"The templates for {kind} are valid", check_template, kind, scratch) for kind in KINDS]
    checks += [(check.__doc__, check) for check in CHECKS]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="attache-engines.", dir=memory) as folder:
        checks.append((check_slurm.__doc__, check_slurm, attache, Path(folder)))
        for name, check, *words in checks:
            start = time.monotonic()
            try:
                check(*words)
                word, more = "passed", ""
            except (Skipped, CannotStart) as reason:
                word, more = "skipped", f", {reason}"
            except (AssertionError, subprocess.SubprocessError, SystemExit) as error:
                word, more = "failed", f": {error}"
            counts[word] += 1
            print(f"engines: {name.rstrip('.')}: {word}{more} after {time.monotonic() - start:.1f} s", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
