#!/usr/bin/env python3
"""Builds the images of packaging/ from the package and starts them: `image.py PACKAGE SCRATCH`.

buildah builds it in a separate Debian system below SCRATCH, so that this machine needs no container engine. The base
image, debian:…-slim, is created here too; packages come from this machine's own sources.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run import skip, suite, unpacked

RECIPE = Path(__file__).resolve().parents[2] / "packaging/Containerfile"
# The image with a pipeline, for workers.
ENGINES = RECIPE.parent / "engines/Containerfile"
BUILDAH = ["buildah", "crun", "ca-certificates", "mount"]
# Only packages are downloaded, and no namespaces are needed.
SCRIPT = """
set -e
mount --bind "$1" "$1" && cd "$1"
mount -t proc proc proc && mount -t tmpfs tmpfs run && mount --rbind /dev dev && mount --rbind /sys sys
cp /etc/resolv.conf etc/resolv.conf
exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 STORAGE_DRIVER=vfs \\
  BUILDAH_ISOLATION=chroot FROM="$2" /bin/sh -e /image/build
"""
BUILD = """
cd /image
mkdir -p /etc/containers
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
base=$(buildah from scratch)
buildah add --quiet $base base.tar / >/dev/null
buildah commit --quiet $base docker.io/library/$FROM >/dev/null
buildah bud --quiet --pull-never -f Containerfile -t attache deb >/dev/null
buildah inspect --type image attache >config.json
one=$(buildah from --pull-never attache)
buildah run $one -- /bin/sh -c 'id -un; pwd; echo $ATTACHE_DATA; attache --version; ls -A /var/lib/apt/lists /tmp' >said
buildah run $one -- /usr/bin/attache demo >demo
buildah bud --quiet --pull-never -f Worker --target worker -t worker pipeline >/dev/null
buildah inspect --type image worker >worker.json
two=$(buildah from --pull-never worker)
buildah run $two -- /usr/lib/attache/step --version >worker
buildah run $two -- /bin/sh -c 'id -un; ls /etc/attache' >>worker
"""


def outside(package, scratch):
    """Creates the Debian system for the build, and checks the result."""
    if not shutil.which("mmdebstrap") or os.geteuid() != 0:
        skip("it takes root and mmdebstrap: make deps-test")
    origin = re.search(r"^FROM (debian:(\w+)-slim)$", RECIPE.read_text(), re.M)
    assert origin, "the recipe begins with no debian:…-slim"
    if origin[2] != suite():
        skip(f"the recipe is for {origin[2]}, and the package was made on {suite()}")
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        builder, base = unpacked(BUILDAH, scratch), unpacked([], scratch, "minbase")
    except subprocess.CalledProcessError as error:
        skip(f"Debian cannot be unpacked here: {error}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir=scratch) as root:
        os.chmod(root, 0o755)
        subprocess.run(["tar", "-xf", builder, "-C", root, "--exclude=./dev/*"], check=True)
        place = Path(root) / "image"
        (place / "deb").mkdir(parents=True)
        shutil.copy(package, place / "deb")
        shutil.copy(RECIPE, place)
        shutil.copy(ENGINES, place / "Worker")
        (place / "pipeline").mkdir()
        (place / "pipeline" / "field-service.json").write_text("{}")
        shutil.copy(base, place / "base.tar")
        (place / "build").write_text(BUILD)
        done = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh", root, origin[1]],
            capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return f"it ended with {done.returncode}:\n{done.stdout}{done.stderr}", start
        return judge(place), start


def judge(place):
    """The fault of the image; None if there is none."""
    user, directory, data, version, *left = (place / "said").read_text().split("\n")
    if (user, directory, data) != ("attache", "/var/lib/attache", "/var/lib/attache"):
        return f"it runs as {user} in {directory} with data in {data}"
    if not re.fullmatch(r"attache \d+\.\d+\.\d+", version):
        return f"its version is {version}"
    if any(name.endswith(".deb") or "Packages" in name for name in left):
        return f"the build left {left}"
    if "nothing to the org." not in (place / "demo").read_text():
        return "its demo does not end"
    config = json.loads((place / "config.json").read_text())["OCIv1"]["config"]
    found = {key: config.get(key) for key in ("User", "Entrypoint", "Cmd", "WorkingDir", "Volumes")}
    wanted = {"User": "attache", "Entrypoint": ["/usr/bin/attache"], "Cmd": ["help"], "WorkingDir": "/var/lib/attache",
              "Volumes": {"/var/lib/attache": {}}}
    if found != wanted:
        return f"it is set up as {found}"
    said = (place / "worker").read_text().split("\n")
    if said[:3] != [version, "attache", "field-service.json"]:
        return f"the image of a worker shows {said}"
    entry = json.loads((place / "worker.json").read_text())["OCIv1"]["config"]["Entrypoint"]
    return None if entry == ["/usr/lib/attache/step"] else f"a worker starts {entry}"


if __name__ == "__main__":
    fault, begun = outside(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    word = f"failed: {fault}" if fault else "passed"
    print(f"install: The image is built, starts and plays the demo: {word} after {time.monotonic() - begun:.1f} s")
    print(f"{0 if fault else 1} passed, {1 if fault else 0} failed, 0 skipped")
    sys.exit(1 if fault else 0)
