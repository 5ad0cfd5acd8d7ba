"""A served org and a signing pipeline on it, whose bundles the kits of `clients/` install."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import urllib.request
import zipfile
from pathlib import Path

SOUPS = {"accounts": "Account", "contacts": "Contact"}
PASSPHRASE = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ="
FLAGS = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"]
FIELDS = {
    "accounts": ["Name", "Phone", "Industry"],
    "contacts": ["FirstName", "LastName", "Title", "Phone", "AccountId"],
    "products": ["Name", "ProductCode"],
}
OBJECTS = {**SOUPS, "products": "Product2"}


class Scene:
    # More options of the org's server.
    serving = ()

    def __init__(self, attache, folder):
        self.attache = str(Path(attache).resolve())
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.has_deltas = self.run("bundle", "delta", "--help", check=False).returncode == 0
        self.environment = {**os.environ, "ATTACHE_CLIENT_SECRET": "scene"}

    def run(self, *words, check=True):
        done = subprocess.run([self.attache, *words], cwd=self.folder, capture_output=True, text=True)
        if check and done.returncode not in (0, 3):
            raise SystemExit(f"attache {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def start(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=app",
             "-keyout", "jwt.key", "-out", "jwt.crt"],
            cwd=self.folder, check=True, capture_output=True)
        (self.folder / "jwt.key").chmod(0o600)
        self.run("org", "seed", "--data", "org", "--clock", "2026-01-31T08:00:00Z")
        self.server = subprocess.Popen(
            [self.attache, "org", "serve", "--data", "org", "--clock", "2026-01-31T08:00:00Z",
             "--app", "app=jwt.crt", "--client", "admin=admin@example.com", *self.serving],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        self.url = self.server.stdout.readline().strip()
        self.keys = {}
        self.keys["sign"] = self.run("key", "make", "sign.key").stdout.splitlines()[0]
        # ssh-keygen reads the public key of a PEM file from a second file.
        (self.folder / "sign.key.pub").write_text(self.keys["sign"] + "\n")
        other = self.folder / "other.key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
        self.keys["other"] = Path(f"{other}.pub").read_text().strip()
        self.pipeline()

    def stop(self):
        self.server.terminate()
        self.server.wait()

    def pipeline(self):
        def write(name, value):
            (self.folder / name).write_text(json.dumps(value, indent=2))

        def schema(soups):
            return {"soups": [{
                "soupName": soup,
                "indexes": [{"path": "Id", "type": "string"}, {"path": FIELDS[soup][0], "type": "full_text"}]
                + [{"path": flag, "type": "string"} for flag in FLAGS]
                + [{"path": "__sync_id__", "type": "integer"}]} for soup in soups]}

        def syncs(soups):
            down = [{
                "syncName": f"down-{soup}", "syncType": "syncDown", "soupName": soup,
                "target": {"type": "soql", "query":
                           f"SELECT Id, {', '.join(FIELDS[soup])}, LastModifiedDate FROM {OBJECTS[soup]}"},
                "options": {"mergeMode": "OVERWRITE"}} for soup in soups]
            up = [{
                "syncName": f"up-{soup}", "syncType": "syncUp", "soupName": soup,
                "target": {"createFieldlist": FIELDS[soup], "updateFieldlist": FIELDS[soup]},
                "options": {"fieldlist": FIELDS[soup], "mergeMode": "LEAVE_IF_CHANGED"}}
                for soup in soups if soup in SOUPS]
            return {"syncs": down + up}

        write("user.json", schema(SOUPS))
        write("usersyncs.json", syncs(SOUPS))
        write("global.json", schema(["products"]))
        write("globalsyncs.json", syncs(["products"]))
        pack = {"format": "zip", "sign": {"key": {"file": "sign.key"}}, "expiresAfterDays": 35}
        if self.has_deltas:
            pack["deltas"] = {}
        write("visits.json", {
            "format": 1, "name": "visits",
            "org": {"url": self.url, "login": {
                "method": "jwt", "clientId": "app", "key": {"file": "jwt.key"},
                "integrationUser": "attache@example.com"}},
            "users": {"list": ["ada@example.com"]},
            "stores": [
                {"schema": "user.json", "syncs": "usersyncs.json"},
                {"scope": "global", "schema": "global.json", "syncs": "globalsyncs.json"}],
            "platforms": ["ios", "android"], "pack": pack, "inbox": {"settleSeconds": 0},
            "reconcile": {"unansweredWaitSeconds": 0}})

    def publish(self):
        """Runs the pipeline; returns the directory of the user's newest generation."""
        self.run("run", "--data", "data", "visits.json")
        (self.user,) = (self.folder / "data" / "visits" / "users").iterdir()
        numbers = [int(path.name) for path in self.user.iterdir() if path.name.isdigit()]
        return self.user / str(max(numbers))

    def seal(self, folder, number, method):
        """Copies the newest bundles, and their signatures, from a pipeline that seals."""
        shutil.rmtree(self.folder / "sealed", ignore_errors=True)
        shutil.copytree(self.folder / "data", self.folder / "sealed", symlinks=True)
        plain = (self.folder / "visits.json").read_text()
        pipeline = json.loads(plain)
        pipeline["pack"]["seal"] = {"with": method, "passphrase": {"file": "bundles.key"}}
        key = self.folder / "bundles.key"
        key.write_text(PASSPHRASE)
        key.chmod(0o600)
        # A data directory belongs to one file.
        (self.folder / "visits.json").write_text(json.dumps(pipeline))
        self.run("pack", "--data", "sealed", "visits.json")
        (self.folder / "visits.json").write_text(plain)
        latest = self.folder / "sealed" / "visits" / "users" / self.user.name / "latest"
        for platform in ("ios", "android"):
            for ending in ("", ".sig"):
                shutil.copy(latest / f"{platform}.zip{ending}", folder / f"{platform}.{number}.{method}.zip{ending}")

    @staticmethod
    def manifest(bundle):
        with zipfile.ZipFile(bundle) as archive:
            return json.loads(archive.read("manifest.json"))

    @property
    def inbox(self):
        path = self.folder / "data" / "visits" / "inbox"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def request(self, method, path, body=None):
        if not hasattr(self, "token"):
            form = b"grant_type=client_credentials&client_id=admin&client_secret=scene"
            with urllib.request.urlopen(self.url + "/services/oauth2/token", form) as answer:
                self.token = json.load(answer)["access_token"]
        request = urllib.request.Request(
            f"{self.url}/services/data/v66.0{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def change(self, name, identifier, **fields):
        self.request("PATCH", f"/sobjects/{name}/{identifier}", fields)


def make_delta(old, new, path, key):
    """Writes and signs the delta between two bundles, as docs/on-disk.md describes it."""
    folder = path.parent / (path.name + ".work")
    folder.mkdir()
    with zipfile.ZipFile(old) as one, zipfile.ZipFile(new) as other:
        was, now = json.loads(one.read("manifest.json")), json.loads(other.read("manifest.json"))
        stores = []
        for index, (left, right) in enumerate(zip(was["stores"], now["stores"])):
            names = [folder / f"{index}.old", folder / f"{index}.new", folder / f"{index}.delta"]
            names[0].write_bytes(one.read(left["path"]))
            names[1].write_bytes(other.read(right["path"]))
            write_rows(*names)
            content = names[2].read_bytes()
            stores.append({
                "path": right["path"], "file": right["path"] + ".delta", "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "from": {"stampId": left["stampId"], "generation": left["generation"]}, "changes": {}})
    delta = {"format": 1, "from": {"generation": was["generation"]}, "to": now, "stores": stores}
    canonical = json.dumps(delta, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    delta["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    text = json.dumps(delta, indent=2, ensure_ascii=False).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("delta.json", text)
        for index, store in enumerate(stores):
            archive.writestr(store["file"], (folder / f"{index}.delta").read_bytes())
    sign(text, Path(f"{path}.sig"), key)


def sign(content, path, key, namespace="attache-manifest"):
    with open(path, "wb") as file:
        subprocess.run(["ssh-keygen", "-Y", "sign", "-q", "-n", namespace, "-f", str(key)],
                       input=content, stdout=file, stderr=subprocess.DEVNULL, check=True)


def write_rows(old, new, path):
    database = sqlite3.connect(path)
    database.execute("ATTACH ? AS old", [str(old)])
    database.execute("ATTACH ? AS new", [str(new)])
    run = database.execute
    run("CREATE TABLE stamp (was TEXT, now TEXT)")
    run("CREATE TABLE soups (name TEXT, number INTEGER, changed INTEGER, was INTEGER, now INTEGER, "
        "rows INTEGER, dates INTEGER, words INTEGER)")
    run("CREATE TABLE indexes (soup TEXT, path TEXT, column TEXT, type TEXT)")
    run("CREATE TABLE syncs (id INTEGER PRIMARY KEY, maxTimeStamp INTEGER)")
    run("CREATE TABLE gone (soup INTEGER, id INTEGER, PRIMARY KEY (soup, id)) WITHOUT ROWID")
    run("INSERT INTO indexes SELECT soupName, path, columnName, columnType FROM new.soup_index_map")
    for name, number in run("SELECT soupName, id FROM new.soup_attrs ORDER BY id").fetchall():
        table = f"TABLE_{number}"
        columns = [row[0] for row in run("SELECT name FROM pragma_table_info(?, 'new')", [table])]
        words = [row[0] for row in run("SELECT name FROM pragma_table_info(?, 'new')", [table + "_fts"])]
        run(f"INSERT INTO gone SELECT ?, id FROM old.{table} WHERE id NOT IN (SELECT id FROM new.{table})",
            [number])
        wanted = "1" if name == "attache_stamp" else " OR ".join(f"n.{one} IS NOT o.{one}" for one in columns)
        changed = f"SELECT n.* FROM new.{table} n LEFT JOIN old.{table} o ON o.id = n.id WHERE {wanted}"
        has_rows = run(changed).fetchone() is not None
        if has_rows:
            run(f"CREATE TABLE r_{table} (id INTEGER PRIMARY KEY, {', '.join(columns[1:])})")
            run(f"INSERT INTO r_{table} {changed}")
            if words:
                run(f"CREATE TABLE r_{table}_fts (id INTEGER PRIMARY KEY, {', '.join(words)})")
                run(f"INSERT INTO r_{table}_fts SELECT rowid, {', '.join(words)} FROM new.{table}_fts "
                    f"WHERE rowid IN (SELECT id FROM r_{table})")
        count = f"(SELECT count(*) FROM new.{table}_fts_docsize)" if words else "0"
        run("INSERT INTO soups SELECT ?, ?, ?, coalesce((SELECT seq FROM old.sqlite_sequence WHERE name = ?), 0), "
            "(SELECT seq FROM new.sqlite_sequence WHERE name = ?), count(*), "
            f"coalesce(sum(lastModified % 1000000007 * (id % 997 + 1)), 0), {count} FROM new.{table}",
            [name, number, has_rows, table, table])
        if name == "syncs_soup":
            run(f"INSERT INTO syncs SELECT id, json_extract(soup, '$.maxTimeStamp') FROM old.{table}")
        if name == "attache_stamp":
            stamp = "SELECT json_extract(soup, '$.stampId') FROM"
            run(f"INSERT INTO stamp SELECT ({stamp} old.{table}), ({stamp} new.{table})")
    database.commit()
    database.close()
