#!/usr/bin/env python3
"""Installs the package in a bare Debian without network and works as an operator: `run.py PACKAGE SCRATCH`.

The Debian system is unpacked below SCRATCH once, with the package's dependencies, cron, logrotate and an adjustable
clock. It runs in separate namespaces with only the loopback address; the org runs there too. If systemd can be booted
in them, the service runs with all its restrictions.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from debian import Debian, loopback_up
from steps import STEPS, Skipped

TOOLS = ["mmdebstrap", "dpkg-deb", "unshare", "chroot", "openssl", "readelf"]
# The packages that the operator's examples need, in addition to the package's dependencies.
BESIDE = ["cron", "logrotate", "faketime", "bash-completion", "systemd-sysv", "dbus"]


def needs(package):
    """The names of the package's dependencies, without versions."""
    field = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True, capture_output=True, text=True).stdout
    return sorted(part.split("|")[0].split("(")[0].strip() for part in field.split(","))


def suite():
    """This machine's Debian release."""
    return subprocess.run(
        ["sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"], capture_output=True, text=True
    ).stdout.strip()


def unpacked(wanted, scratch, variant="essential"):
    """An archive of a Debian system with some packages, created on the first call."""
    name = hashlib.sha256(" ".join([suite(), variant, *wanted]).encode()).hexdigest()[:12]
    archive = scratch / f"debian-{name}.tar"
    if not archive.exists():
        half = archive.with_name(".half-" + archive.name)
        # It comes from this machine's own sources.
        sources = [p for p in [Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d/debian.sources")] if p.is_file()]
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=" + variant, "--format=tar", *(f"--include={name}" for name in wanted),
             suite(), half, *sources],
            check=True, stdin=subprocess.DEVNULL,
        )
        half.rename(archive)
    return archive


def skip(reason):
    """Reports why the tests cannot run, and exits."""
    print(f"install: skipped, {reason}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def outside(package, scratch):
    """Creates the Debian system, and continues in new namespaces."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        skip(f"there is no {', '.join(missing)}: make deps-test")
    if os.geteuid() != 0:
        skip("only root may make a root directory of its own")
    if subprocess.run(["unshare", "--net", "--mount-proc", "--pid", "--fork", "true"]).returncode != 0:
        skip("this machine gives no namespaces")
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        archive = unpacked(needs(package) + BESIDE, scratch)
    except subprocess.CalledProcessError as error:
        skip(f"Debian cannot be unpacked here: {error}")
    with tempfile.TemporaryDirectory(dir=scratch) as root, tempfile.TemporaryDirectory(dir=scratch) as other:
        for place in (root, other):
            os.chmod(place, 0o755)
            subprocess.run(["tar", "-xf", archive, "-C", place, "--exclude=./dev/*"], check=True)
        return subprocess.run(
            ["unshare", "--net", "--mount-proc", "--pid", "--fork", "--kill-child", sys.executable, __file__,
             "--inside", package, root, other]
        ).returncode


def inside(package, root, other):
    """Runs every step; a failed step ends those that depend on it."""
    loopback_up()
    debian = Debian(root, other)
    debian.boot()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    try:
        for step in STEPS:
            start = time.monotonic()
            try:
                step(debian, package)
                word, more = "passed", ""
            except Skipped as reason:
                word, more = "skipped", f", {reason}"
            except AssertionError as error:
                word, more = "failed", f": {error}"
            counts[word] += 1
            print(f"install: {step.__doc__.splitlines()[0].rstrip('.')}: {word}{more} after {time.monotonic() - start:.1f} s",
                  flush=True)
            if word == "failed":
                break
    finally:
        debian.stop()
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        sys.exit(inside(Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])))
    sys.exit(outside(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
