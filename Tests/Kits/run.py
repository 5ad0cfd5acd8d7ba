#!/usr/bin/env python3
"""Tests the kits of `clients/` on bundles of a served org: `run.py ATTACHE SCRATCH`."""

import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from scene import Scene, make_delta, sign

ROOT = Path(__file__).resolve().parents[2]
JDBC = "/usr/share/java/sqlite-jdbc.jar"
PLATFORMS = ("ios", "android")
METHODS = ("archive", "sqlcipher")
# SQLCipher's own build, with which the kits open sealed stores: make deps-test.
SQLCIPHER = ROOT / ".build" / "python-sqlcipher" / "bin" / "python"


def fixtures(scene, folder):
    """The bundles of two generations with the deltas between them, which the tests of both kits read."""
    folder.mkdir()
    generations = []
    for number in (1, 2):
        if number == 2:
            for record in scene.request("GET", "/query?q=SELECT+Id+FROM+Account+LIMIT+3")["records"]:
                scene.change("Account", record["Id"], Phone="+1 555 0001")
        generations.append(scene.publish())
        for method in METHODS:
            scene.seal(folder, number, method)
        shutil.copytree(generations[-1], folder / str(number), ignore=lambda _, names: [
            name for name in names if not name.startswith(PLATFORMS) or "." not in name])
    for platform in PLATFORMS:
        name = f"{platform}.delta.1-2.zip"
        if scene.has_deltas:
            for ending in ("", ".sig"):
                shutil.copy(generations[1] / (name + ending), folder)
        else:
            bundles = [folder / str(number) / f"{platform}.bundle.zip" for number in (1, 2)]
            make_delta(*bundles, folder / name, scene.folder / "sign.key")
    for platform, method in itertools.product(PLATFORMS, METHODS):
        one, two, sealed = (folder / f"{platform}.{name}.{method}.zip" for name in ("1", "2", "1-2"))
        scene.run("bundle", "delta", str(one), str(two), "--out", str(sealed), "--passphrase-file", "bundles.key")
        with zipfile.ZipFile(sealed) as archive:
            sign(archive.read("delta.json"), Path(f"{sealed}.sig"), scene.folder / "sign.key")
    document = b"A document."
    (folder / "document").write_bytes(document)
    sign(document, folder / "document.sig", scene.folder / "other.key")
    manifest = scene.manifest(folder / "1" / "ios.bundle.zip")
    (folder / "scene.json").write_text(
        json.dumps({**scene.keys, "org": manifest["org"], "user": manifest["user"],
                    "sqlcipher": [str(SQLCIPHER), str(ROOT / "Tests" / "Kits" / "cipher.py")]
                    if SQLCIPHER.exists() else []}))
    if not SQLCIPHER.exists():
        print("sealed stores: skipped, because SQLCipher is missing: make deps-test")
    return manifest


def check_signatures(scene, folder):
    """Stock ssh-keygen accepts a bundle and a delta, and refuses every changed byte, as the kits and attache do."""
    allowed = folder / "allowed_signers"
    allowed.write_text(f"attache {scene.keys['sign']}\n")

    def verifies(document, signature):
        return subprocess.run(
            ["ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "attache", "-n", "attache-manifest", "-s", signature],
            input=document, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def check(case):
        document, signature, name, place, value = case
        changed = bytearray(document if name else signature.read_bytes())
        changed[place] ^= value
        if name:
            return None if not verifies(bytes(changed), signature) else f"byte {place} of {name}"
        other = signature.with_name(f"{signature.name}.{place}")
        other.write_bytes(changed)
        found = None if not verifies(document, other) else f"byte {place} of {signature.name}"
        other.unlink()
        return found

    cases = []
    archives = {"manifest.json": folder / "1" / "ios.bundle.zip", "delta.json": folder / "ios.delta.1-2.zip"}
    for name, archive in archives.items():
        with zipfile.ZipFile(archive) as opened:
            document = opened.read(name)
        signature = Path(f"{archive}.sig")
        if not verifies(document, signature):
            raise SystemExit(f"ssh-keygen refuses {archive.name}")
        cases += [(document, signature, name, place, 1 << place % 8) for place in range(len(document))]
        # It skips white space in a signature, and reads nothing after its last line; the kits and attache refuse both.
        cases += [(document, signature, None, place, 0x80 if byte == 0x0A else 1 << place % 5)
                  for place, byte in enumerate(signature.read_bytes()[:-1])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        accepted = [one for one in pool.map(check, cases) if one]
    if accepted:
        raise SystemExit(f"ssh-keygen accepts {accepted}")
    print(f"ssh-keygen: {len(cases)} passed, 0 failed")


def compile_java(folder):
    sources = [str(path) for path in sorted((ROOT / "clients" / "java").rglob("*.java"))]
    subprocess.run(["javac", "--release", "11", "-Xlint:all,-try,-serial", "-Werror", "-cp", JDBC,
                    "-d", folder, *sources], check=True)
    return ["java", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={folder}", "-cp", f"{folder}:{JDBC}"]


class Phone:
    """A phone with one of the examples as its app."""

    def __init__(self, scene, manifest, platform, command, folder):
        self.scene, self.platform, self.command = scene, platform, command
        self.root, self.served = folder / platform, folder / f"{platform}-served"
        self.served.mkdir()
        self.words = [self.root, manifest["org"], manifest["user"], scene.keys["sign"], self.served, scene.inbox]
        path = scene.manifest(scene.user / "1" / f"{platform}.bundle.zip")["stores"][0]["path"]
        self.store = self.root / path

    def serve(self, generation, since=None):
        for ending in ("", ".sig"):
            shutil.copy(generation / f"{self.platform}.bundle.zip{ending}", self.served / f"{self.platform}.zip{ending}")
        if since is not None and not self.scene.has_deltas:
            bundles = [place / f"{self.platform}.bundle.zip" for place in (since, generation)]
            make_delta(*bundles, self.served / f"{self.platform}.delta.{since.name}.zip", self.scene.folder / "sign.key")
        for delta in self.scene.user.glob(f"latest/{self.platform}.delta.*"):
            shutil.copy(delta, self.served)

    def sync(self, *expected):
        printed = subprocess.run([*self.command, *map(str, self.words)], check=True, capture_output=True, text=True)
        lines = printed.stdout.splitlines()
        if lines[-1] not in expected:
            raise SystemExit(f"{self.platform}: {lines} instead of {expected}")
        return lines[:-1]

    def edit(self, row, phone):
        """Edits an account as the SDK does; returns its ID."""
        with sqlite3.connect(self.store) as database:
            (number,) = database.execute("SELECT id FROM soup_attrs WHERE soupName = 'accounts'").fetchone()
            table = f"TABLE_{number}"
            (entry, text, modified) = database.execute(
                f"SELECT id, soup, lastModified FROM {table} ORDER BY id LIMIT 1 OFFSET ?", [row]).fetchone()
            element = {**json.loads(text), "Phone": phone, "__local__": True, "__locally_updated__": True}
            element["_soupLastModifiedDate"] = modified + 1000
            columns = {"soup": json.dumps(element), "lastModified": modified + 1000}
            for path, column in database.execute(
                    "SELECT path, columnName FROM soup_index_map WHERE soupName = 'accounts'"):
                if path in ("__local__", "__locally_updated__"):
                    columns[column] = "true" if self.platform == "android" else "1"
            names = ", ".join(f"{name} = ?" for name in columns)
            database.execute(f"UPDATE {table} SET {names} WHERE id = ?", [*columns.values(), entry])
        database.close()
        return element["Id"]


def play(scene, manifest, commands, folder):
    """A phone of each platform installs, edits, returns and installs again, through the example of its kit."""
    folder.mkdir()
    phones = [Phone(scene, manifest, *pair, folder) for pair in commands.items()]
    second = scene.user / "2"
    for phone in phones:
        phone.serve(second)
        phone.sync("install 2")
        phone.sync("wait 2")
    edited = [phone.edit(row, f"+1 555 010{row}") for row, phone in enumerate(phones)]
    for phone in phones:
        phone.sync("return 2")
        phone.sync("wait 2")
    third = scene.publish()
    for row, (phone, record) in enumerate(zip(phones, edited)):
        sent = scene.request("GET", f"/sobjects/Account/{record}")["Phone"]
        if sent != f"+1 555 010{row}":
            raise SystemExit(f"{phone.platform}: {record} has {sent}")
        phone.serve(third, since=second)
        if phone.sync("delta 3") or phone.sync("wait 3"):
            raise SystemExit(f"{phone.platform}: a resolved edit came back")
    # The org changes the same fields, so the edits are conflicts and come back with their reasons.
    for row, phone in enumerate(phones):
        scene.change("Account", phone.edit(row + 5, "+1 555 0300"), Phone="+1 555 0200")
        phone.sync("return 3")
    fourth = scene.publish()
    for phone in phones:
        phone.serve(fourth)
        reasons = phone.sync("install 4", "delta 4")
        if len(reasons) != 1 or "+1 555 0200" not in reasons[0]:
            raise SystemExit(f"{phone.platform}: {reasons}")
        phone.sync("wait 4")


def check_page():
    """The page for apps shows the examples as they are compiled, each of at most 40 lines."""
    page = (ROOT / "docs" / "app-integration.md").read_text()
    for example in ("swift/Example/FieldApp.swift", "java/example/FieldApp.java"):
        text = (ROOT / "clients" / example).read_text()
        if text not in page or text.count("\n") > 40:
            raise SystemExit(f"docs/app-integration.md does not show clients/{example}")


def main(attache, scratch):
    check_page()
    # Java spells the names of files in the encoding of the locale.
    os.environ["LC_ALL"] = "C.UTF-8"
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="attache-kits.", dir=memory) as folder:
        folder = Path(folder)
        package = ["--package-path", ROOT / "clients" / "swift", "--scratch-path", Path(scratch) / "kit"]
        building = subprocess.Popen(["swift", "build", *package, "--build-tests", "-Xswiftc", "-warnings-as-errors"],
                                    stdout=sys.stderr)
        scene = Scene(attache, folder / "scene")
        scene.start()
        try:
            manifest = fixtures(scene, folder / "fixtures")
            check_signatures(scene, folder / "fixtures")
            phones = {"ios": [Path(scratch) / "kit" / "debug" / "Phone"]}
            if shutil.which("javac") and os.path.exists(JDBC):
                java = compile_java(folder / "classes")
                subprocess.run([*java, "attache.kit.KitTest", ROOT / "clients" / "decisions.json", folder / "fixtures"],
                               check=True)
                phones["android"] = [*java, "-XX:TieredStopAtLevel=1", "Phone"]
            else:
                print("android: skipped, because Java or its SQLite is missing: make deps-test")
            if building.wait() != 0:
                raise SystemExit("the Swift kit does not compile")
            subprocess.run(["swift", "test", *package, "--skip-build", "--disable-xctest"],
                           check=True, env={**os.environ, "ATTACHE_KIT_SCENE": str(folder / "fixtures"),
                                       "TMPDIR": str(folder)})
            play(scene, manifest, phones, folder / "phones")
        finally:
            building.kill()
            scene.stop()
    print(f"phones: {len(phones)} passed, 0 failed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
