#!/usr/bin/env python3
"""Loads the contacts of one org with attache and with other clients, one after the other: `peers.py ATTACHE SCRATCH`.

usage: peers.py ATTACHE SCRATCH [--scale N] [--rounds N] [--json FILE]

All of them fetch the same contacts from the same local org and write a SQLite file: attache a SmartStore with ten
indexes, the Python loop of `prime_sqlite.py` the same table, the others their own tables. Each round runs them once, in
alternating directions; the medians count. CumulusCI chooses its own way of extracting. Clients are installed as
`make test-clients` does; one that cannot be installed is skipped, and the reason is printed.

As the local org makes each page anew, attache and the Python loop then load the same pages from a server that has
recorded them. The exit status is 1 if attache is not 8 times as fast there, or if a client is ahead of it anywhere.
"""

import argparse
import http.server
import json
import os
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Tests" / "Clients"))
import run as clients  # noqa: E402

FIELDS = [
    "Id", "FirstName", "LastName", "Salutation", "Title", "Department", "Phone", "MobilePhone", "Email",
    "MailingStreet", "MailingCity", "MailingPostalCode", "LastModifiedDate",
]
STATEMENT = f"SELECT {', '.join(FIELDS)} FROM Contact"
FLAGS = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"]
STORE = {
    "soups": [{
        "soupName": "contacts",
        "indexes": [{"path": path, "type": "string"} for path in ["Id", "FirstName", "LastName", *FLAGS]]
        + [{"path": "__sync_id__", "type": "integer"}],
    }]
}
SYNCS = {
    "syncs": [{
        "syncName": "contacts", "syncType": "syncDown", "soupName": "contacts",
        "target": {"type": "soql", "query": STATEMENT}, "options": {"mergeMode": "OVERWRITE"},
    }]
}

SIMPLE = """
import json, os, sqlite3, sys
from simple_salesforce import Salesforce
statement, path = sys.argv[1:3]
sf = Salesforce(username="admin@example.com", consumer_key="clients", domain="local.my",
    consumer_secret=os.environ["ATTACHE_CLIENT_SECRET"])
store = sqlite3.connect(path)
store.execute("CREATE TABLE contacts (id TEXT PRIMARY KEY, soup TEXT)")
store.executemany("INSERT INTO contacts VALUES (?, ?)",
    ((record["Id"], json.dumps(record)) for record in sf.query_all_iter(statement)))
store.commit()
"""

CURL = """
set -euo pipefail
sqlite3 "$3" 'CREATE TABLE contacts (id TEXT PRIMARY KEY, soup TEXT)'
next=$1
while [ -n "$next" ]; do
  curl -sSf -H "Authorization: Bearer $ORG_TOKEN" "$2$next" > "$3.page"
  next=$(sqlite3 "$3" "INSERT INTO contacts SELECT json_extract(value, '\\$.Id'), value
    FROM json_each(readfile('$3.page'), '\\$.records');
    SELECT json_extract(readfile('$3.page'), '\\$.nextRecordsUrl')")
done
"""

CUMULUSCI = """
import os, sqlite3, sys
from pathlib import Path
import cumulusci_client as cumulusci
from org import Org
folder, path, fields = Path(sys.argv[1]), sys.argv[2], sys.argv[3].split(",")
if not (folder / "cumulusci.yml").exists():
    cumulusci.prepare(folder, Org())
    (folder / "peers.yml").write_text("Contact:\\n  sf_object: Contact\\n  fields: [" + ", ".join(fields) + "]\\n")
else:
    cumulusci.connect(folder, Org())
cumulusci.cci(folder, "extract_dataset", "--mapping", "peers.yml", "--database_url", "sqlite:///" + path)
"""


class Arm:
    """One way to load the contacts: its command for a file, and the table that has them."""

    def __init__(self, name, command, table, variables=None):
        self.name, self.command, self.table, self.variables = name, command, table, variables or {}
        self.runs = []

    def run(self, path, expected):
        for old in path.parent.glob(path.name + "*"):
            old.unlink()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        done = subprocess.run(
            self.command(path), env={**os.environ, **self.variables}, capture_output=True, text=True)
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{self.name}: {(done.stdout + done.stderr)[-2000:]}")
        count = sqlite3.connect(path).execute(f"SELECT count(*) FROM {self.table}").fetchone()[0]
        if count != expected:
            sys.exit(f"{self.name} has {count} of {expected} contacts")
        processor = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
        self.runs.append((wall, processor))
        print(f"  {self.name}: {wall:.2f} s, {processor:.2f} s of processor", file=sys.stderr, flush=True)

    def median(self, place):
        return statistics.median(run[place] for run in self.runs)


class Recorded:
    """A server that answers each GET as an org answered it the first time, so that a page costs nothing to make."""

    def __init__(self, org):
        answers = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                if self.path not in answers:
                    answers[self.path] = self.fetch()
                self.wfile.write(answers[self.path])

            def fetch(self):
                request = urllib.request.Request(
                    org + self.path, headers={"Authorization": self.headers.get("Authorization", "")})
                try:
                    answer = urllib.request.urlopen(request)
                except urllib.error.HTTPError as error:
                    answer = error
                with answer:
                    body = answer.read()
                    lines = [f"HTTP/1.1 {answer.status} OK", f"Content-Length: {len(body)}"]
                    for name in ("Content-Type", "Date", "Sforce-Limit-Info"):
                        if answer.headers.get(name):
                            lines.append(f"{name}: {answer.headers[name]}")
                return "\r\n".join([*lines, "", ""]).encode() + body

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()


ADDRESS = "/services/data/v66.0/query?q=" + urllib.parse.quote(STATEMENT)


def attache_arm(attache, folder, url, token):
    """attache into a new SmartStore."""
    return Arm(
        "attache", lambda path: [
            attache, "sync", "run", "--store", path, "--config", folder / "syncs.json", "--store-config",
            folder / "store.json", "--all", "--quiet", "--platform", "android", "--org-url", url, "--token-env",
            "ORG_TOKEN"],
        "TABLE_2", {"ORG_TOKEN": token})


def python_arm(url, token):
    """The script that a user would write, into the same table."""
    return Arm(
        "Python loop", lambda path: [
            sys.executable, HERE / "prime_sqlite.py", url + ADDRESS, token, path, "0"], "TABLE_1")


def arms(attache, folder, python, missing, addresses, environment, token):
    """The clients to compare, attache first."""
    address = ADDRESS
    extract = [name for name in FIELDS if name not in ("Id", "LastModifiedDate")]
    (folder / "cci").mkdir()
    found = [
        attache_arm(attache, folder, addresses["url"], token),
        python_arm(addresses["url"], token),
        Arm(
            "simple-salesforce, sqlite3", lambda path: [python, "-c", SIMPLE, STATEMENT, path], "contacts", environment),
        Arm(
            "CumulusCI extract_dataset", lambda path: [
                python, "-c", CUMULUSCI, folder / "cci", path, ",".join(extract)], "Contact", environment),
        Arm(
            "curl, sqlite3", lambda path: ["bash", "-c", CURL, "curl", address, addresses["url"], path], "contacts",
            {"ORG_TOKEN": token}),
    ]
    needs = {"simple-salesforce, sqlite3": "simple-salesforce", "CumulusCI extract_dataset": "cumulusci"}
    for arm in found:
        if needs.get(arm.name) in missing:
            print(f"{arm.name}: skipped, it cannot be installed", file=sys.stderr)
    return [arm for arm in found if needs.get(arm.name) not in missing]


# How many times as fast as the Python loop attache loads recorded pages, at least.
LEAST = 8


def faults(live, recorded):
    """The bounds that were missed."""
    found = [
        f"{arm.name} is ahead of attache" for arm in [*live[1:], *recorded[1:]]
        if arm.median(0) < (live if arm in live else recorded)[0].median(0)]
    times = recorded[1].median(0) / recorded[0].median(0)
    if times < LEAST:
        found.append(f"attache is {times:.1f} times as fast as the Python loop from recorded pages; {LEAST} is the least")
    return found


def table(found, contacts, rounds, pages):
    """The medians, and each as a multiple of attache's."""
    lines = [
        f"{contacts:,} contacts of one local org, on the same machine, {pages}; medians of {rounds} runs.", "",
        "| | s | s of processor | records/s | x attache |", "|---|---|---|---|---|"]
    for arm in found:
        wall = arm.median(0)
        lines.append(
            f"| {arm.name} | {wall:.2f} | {arm.median(1):.2f} | {int(contacts / wall):,} | "
            f"{wall / found[0].median(0):.1f} |")
    return "\n".join(lines)


def play(found, folder, contacts, rounds):
    """Runs the clients, in alternating directions."""
    for turn in range(rounds):
        for arm in found if turn % 2 == 0 else reversed(found):
            arm.run(folder / "peer.db", contacts)


def main():
    parser = argparse.ArgumentParser(description="Loads the contacts of one org by attache and by others.")
    parser.add_argument("attache", type=Path)
    parser.add_argument("scratch", type=Path)
    parser.add_argument("--scale", type=int, default=20, help="how large the org is (default: 20)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where the figures are written, too")
    words = parser.parse_args()
    attache = words.attache.resolve()
    words.scratch.mkdir(parents=True, exist_ok=True)
    python, missing = clients.install(words.scratch.resolve())
    with tempfile.TemporaryDirectory(dir=words.scratch) as name:
        folder = Path(name).resolve()
        environment = clients.entrance()
        seed = [attache, "org", "seed", "--data", folder / "org", "--scale", str(words.scale)]
        subprocess.run(seed, check=True, capture_output=True)
        process, addresses = clients.serve(attache, folder, environment)
        try:
            environment.update(clients.directions(folder, addresses))
            os.environ.update({name: word for name, word in environment.items() if name != "PYTHONPATH"})
            from org import Org

            org = Org()
            contacts = org.call("GET", "/services/data/v66.0/query?q=SELECT+count()+FROM+Contact")["totalSize"]
            (folder / "store.json").write_text(json.dumps(STORE))
            (folder / "syncs.json").write_text(json.dumps(SYNCS))
            live = arms(attache, folder, python, missing, addresses, environment, org.token)
            play(live, folder, contacts, words.rounds)
            server = Recorded(addresses["url"])
            recorded = [attache_arm(attache, folder, server.url, org.token), python_arm(server.url, org.token)]
            # The first runs record.
            play(recorded, folder, contacts, 1)
            for arm in recorded:
                arm.runs.clear()
            play(recorded, folder, contacts, words.rounds)
            server.stop()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
        print(table(live, contacts, words.rounds, "which makes each page"))
        print()
        print(table(recorded, contacts, words.rounds, "from recorded pages"))
        missed = faults(live, recorded)
        if words.json:
            def figures(found):
                return {arm.name: {"seconds": arm.median(0), "processorSeconds": arm.median(1)} for arm in found}

            words.json.write_text(json.dumps({
                "contacts": contacts, "rounds": words.rounds, "peers": figures(live),
                "recorded": figures(recorded), "missed": missed,
            }, indent=2) + "\n")
        for fault in missed:
            print("MISSED: " + fault, file=sys.stderr)
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
