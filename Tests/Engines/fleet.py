"""A served org with fourteen technicians, and a pipeline that primes each of them as an order of its own."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "Tests" / "Kits"), str(ROOT / "Tests" / "Install")]
from phone import Phone
from scene import Scene

USERS = 14
# What two fleets cannot have in common: this machine's times and durations (the org's clock starts at 08:00 and moves
# by whole seconds with writes), the costs of a run, and what is random or depends on these.
DIFFERENT = re.compile(
    r"(?!2026-01-31T08)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)"
    r"|\b(?!17698\d{5}000\b)\d{13}\b|\b[0-9a-f]{16,64}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|http://127\.0\.0\.1:\d+|\"(seconds|requests|bytes)\":[0-9.]+|\"stages\":\[.*?\](,\"work\":{.*?})?")


class Fleet(Scene):
    """The same calls make the same org, so that two fleets can be compared."""

    serving = ("--admin",)

    @property
    def data(self):
        return self.folder / "data" / "visits"

    def pipeline(self):
        self.names = [f"tech{number:02}@example.com" for number in range(USERS)]
        self.seed()
        super().pipeline()
        path = self.folder / "visits.json"
        pipeline = json.loads(path.read_text())
        pipeline["users"]["list"] = self.names
        pipeline["org"]["concurrency"] = 8
        pipeline["pack"]["sign"]["key"] = {"env": "SIGN_KEY"}
        self.environment["ATTACHE_DATA"] = str(self.folder / "data")
        self.environment["SIGN_KEY"] = (self.folder / "sign.key").read_text()
        pipeline["work"] = {"store": {"directory": str(self.folder / "work")}, "ordersOf": 1}
        path.write_text(json.dumps(pipeline, indent=2))

    def seed(self):
        """Creates the technicians and gives each of them ten accounts and ten contacts."""
        def query(text):
            return [record["Id"] for record in self.request("GET", "/query?q=" + text.replace(" ", "+"))["records"]]

        (ada,) = self.request("GET", "/query?q=SELECT+ProfileId+FROM+User+WHERE+Username='ada@example.com'")["records"]
        self.users = [self.request("POST", "/sobjects/User", {
            "Username": name, "LastName": name.split("@")[0], "Email": name, "Alias": name[:6],
            "ProfileId": ada["ProfileId"]})["id"] for name in self.names]
        for object in ("Contact", "Account"):
            records = query(f"SELECT Id FROM {object} ORDER BY Id LIMIT {10 * USERS}")
            for start in range(0, len(records), 200):
                self.request("PATCH", "/composite/sobjects", {"allOrNone": True, "records": [
                    {"attributes": {"type": object}, "id": record, "OwnerId": self.users[(start + index) % USERS]}
                    for index, record in enumerate(records[start:start + 200])]})
        # One account of each of them, in their order; the second's also belongs to the third.
        self.accounts = records[:USERS]
        self.admin("share", record=self.accounts[1], user=self.names[2], edit=True)

    def admin(self, path, **body):
        """Changes the org as its administrator can, or injects a fault."""
        secret = (self.folder / "org" / "admin-secret").read_text().strip()
        request = urllib.request.Request(
            f"{self.url}/attache/{path}", json.dumps(body).encode(), method="POST",
            headers={"X-Attache-Admin": secret, "Content-Type": "application/json"})
        urllib.request.urlopen(request).close()

    def perform(self, status):
        """Runs the pipeline in one process."""
        done = subprocess.run([self.attache, "run", self.folder / "visits.json"], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}{done.stderr}"

    def edit(self):
        """Phones return edits, of which some are conflicts; the org changes and deletes records; a user leaves."""
        for number, account in ((0, 0), (1, 1), (2, 1), (3, 3)):
            place = self.folder / f"phone{number}"
            bundle = self.data / "users" / self.users[number] / "latest" / "ios.zip"
            self.run("bundle", "extract", str(bundle), str(place))
            phone = Phone(next(path for path in place.rglob("store.sqlite") if self.users[number] in str(path)))
            phone.edit("accounts", "Phone", f"+1 555 020{number}", self.accounts[account])
            shutil.copy(phone.hand_back(), self.inbox / f"{number}.sqlite")
        for number in (3, 5, 6, 7, 8):
            self.change("Account", self.accounts[number], Phone=f"+1 555 040{number}")
        self.request("DELETE", f"/sobjects/Account/{self.accounts[9]}")
        self.admin("users", user=self.names[13], active=False)

    def facts(self):
        """What the pipeline has recorded, reported and issued, by name, without what must differ."""
        facts = {}
        for table, rows in tables(self.data / "state.sqlite"):
            # One process has no store of orders.
            facts[f"ledger: {table}"] = [row for row in rows if not row.startswith("name work store,")]
        for path in sorted(self.data.glob("reports/*/report.json")):
            facts.setdefault("reports", []).extend(path.read_text().splitlines())
        for path in sorted(self.data.glob("users/*/[0-9]*/generation.json")):
            facts[str(path.relative_to(self.data))] = path.read_text().splitlines()
        for path in self.data.rglob("*"):
            name = str(path.relative_to(self.data))
            if name.startswith(("users", "global", "issued")) and path.suffix in (".sqlite", ".db"):
                for table, rows in tables(path):
                    facts[f"{name}: {table}"] = rows
        facts["files"] = [str(path.relative_to(self.data)) for path in self.data.rglob("*")]
        return {DIFFERENT.sub("…", name): sorted(DIFFERENT.sub("…", row).replace(str(self.folder), "…") for row in rows)
                for name, rows in facts.items()}


def tables(path):
    """Each table of a database with its rows as lines, without columns of times."""
    with sqlite3.connect(path) as database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')]
            rows = [", ".join(f"{column} {value}" for column, value in zip(columns, row))
                    for row in database.execute(f'SELECT * FROM "{name}"')]
            yield name, rows
    database.close()
