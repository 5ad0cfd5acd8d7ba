"""CumulusCI, unmodified: loads, extracts and deletes a data set, by Bulk, by REST and by its own choice."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from org import Org, same

CCI = str(Path(sys.executable).parent / "cci")
HOST = "https://local.my.salesforce.com"
APIS = ("rest", "bulk", "smart")

PROJECT = """\
minimum_cumulusci_version: '4.0.0'
project:
  name: clients
  package:
    name: clients
    api_version: '59.0'
"""

MAPPING = """
Account:
  sf_object: Account
  api: {api}
  fields: [Name, Site, External_Id__c]
Contact:
  sf_object: Contact
  api: {api}
  fields: [LastName, Email, DoNotCall]
  lookups:
    AccountId: {{table: Account}}
Site_Visit__c:
  sf_object: Site_Visit__c
  api: {api}
  fields: [Name, External_Id__c, Visit_Date__c]
"""

UPSERT = """
Account:
  sf_object: Account
  api: {api}
  action: upsert
  update_key: External_Id__c
  fields: [Name, Site, External_Id__c]
"""


def data():
    """The rows of the tables, as they are in the org afterwards."""
    sites = ["plain", 'say "hi"', "two\nlines", "a,b", "naïve ☃"]
    accounts = [(f"Account-{n}", f"A{n}", sites[n % 5], f"cci-{n}") for n in range(450)]
    contacts = [
        (f"Contact-{n}", f"C{n}", f"c{n}@example.com", "true" if n % 2 else "false", f"Account-{n}")
        for n in range(250)
    ]
    visits = [(f"Visit-{n}", f"V{n}", f"v-{n}", "2024-01-31") for n in range(20)]
    return accounts, contacts, visits


def script(accounts, contacts, visits):
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE "Account" (id VARCHAR(255) PRIMARY KEY, "Name" TEXT, "Site" TEXT, "External_Id__c" TEXT)')
    database.execute(
        'CREATE TABLE "Contact" (id VARCHAR(255) PRIMARY KEY, "LastName" TEXT, "Email" TEXT, "DoNotCall" TEXT, "AccountId" TEXT)'
    )
    database.execute('CREATE TABLE "Site_Visit__c" (id VARCHAR(255) PRIMARY KEY, "Name" TEXT, "External_Id__c" TEXT, "Visit_Date__c" TEXT)')
    database.executemany('INSERT INTO "Account" VALUES (?, ?, ?, ?)', accounts)
    database.executemany('INSERT INTO "Contact" VALUES (?, ?, ?, ?, ?)', contacts)
    database.executemany('INSERT INTO "Site_Visit__c" VALUES (?, ?, ?, ?)', visits)
    return "\n".join(database.iterdump())


def cci(folder, task, *words):
    command = [CCI, "task", "run", task, "--org", "local", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def extracted(path):
    """The contacts and accounts of an extracted script, joined by its generated IDs."""
    database = sqlite3.connect(":memory:")
    database.executescript(path.read_text())
    accounts = database.execute('SELECT "Name", "Site", "External_Id__c" FROM "Account"').fetchall()
    contacts = database.execute(
        'SELECT c."LastName", c."Email", lower(c."DoNotCall"), a."Name" FROM "Contact" c '
        'LEFT JOIN "Account" a ON a.id = c."AccountId"'
    ).fetchall()
    visits = database.execute('SELECT "Name", "External_Id__c", "Visit_Date__c" FROM "Site_Visit__c"').fetchall()
    return accounts, contacts, visits


def loaded(org):
    accounts = [tuple(one.values()) for one in org.query("SELECT Name, Site, External_Id__c FROM Account")]
    contacts = [
        (one["LastName"], one["Email"], str(one["DoNotCall"]).lower(), one["Account"]["Name"])
        for one in org.query("SELECT LastName, Email, DoNotCall, Account.Name FROM Contact")
    ]
    visits = [tuple(one.values()) for one in org.query("SELECT Name, External_Id__c, Visit_Date__c FROM Site_Visit__c")]
    return accounts, contacts, visits


def prepare(folder, org):
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    subprocess.run(
        ["git", "remote", "add", "origin", "https://github.invalid/example/clients"], cwd=folder, check=True
    )
    (folder / "cumulusci.yml").write_text(PROJECT)
    for api in APIS:
        (folder / f"{api}.yml").write_text(MAPPING.format(api=api))
        (folder / f"upsert-{api}.yml").write_text(UPSERT.format(api=api))
    # Otherwise the tool looks online for its newest version.
    home = folder / ".home" / ".cumulusci"
    home.mkdir(parents=True)
    (home / "cumulus_timestamp").write_text(str(time.time()))
    connect(folder, org)


def connect(folder, org):
    """Registers the org with the tool."""
    identity = org.call("GET", "/services/oauth2/userinfo")
    os.environ.update(
        HOME=str(folder / ".home"), CUMULUSCI_KEY="0123456789abcdef", CUMULUSCI_DISABLE_REFRESH="1",
        CUMULUSCI_ORG_local=json.dumps(
            {
                "access_token": org.token, "instance_url": HOST, "refresh_token": "none", "connected_app": "x",
                "id": f"{HOST}/id/{identity['organization_id']}/{identity['user_id']}", "scratch": False,
            }
        ),
    )


if __name__ == "__main__":
    org = Org()
    org.clear("Site_Visit__c", "Contact", "Account")
    accounts, contacts, visits = data()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, org)
        (folder / "in.sql").write_text(script(accounts, contacts, visits))
        names = {one[0]: one[1] for one in accounts}
        expected = (
            [one[1:] for one in accounts], [(*one[1:4], names[one[4]]) for one in contacts],
            [one[1:] for one in visits],
        )
        for api in APIS:
            load = ("load_dataset", "--sql_path", "in.sql", "--mapping")
            cci(folder, *load, f"{api}.yml")
            for what, wanted, seen in zip(("accounts", "contacts", "visits"), expected, loaded(org)):
                same(wanted, seen, f"{api}: loaded {what}")
            cci(folder, "extract_dataset", "--mapping", f"{api}.yml", "--sql_path", f"out-{api}.sql")
            for what, wanted, seen in zip(
                ("accounts", "contacts", "visits"), expected, extracted(folder / f"out-{api}.sql")
            ):
                same(wanted, seen, f"{api}: extracted {what}")
            changed = "/services/data/v66.0/sobjects/Account/External_Id__c/cci-3"
            org.call("PATCH", changed, {"Site": "elsewhere"})
            cci(folder, *load, f"upsert-{api}.yml")
            same(expected[0], loaded(org)[0], f"{api}: upserted accounts")
            cci(folder, "delete_data", "--objects", "Site_Visit__c,Contact,Account", "--api", api)
            assert all(not records for records in loaded(org)), loaded(org)
            print(f"{api}: deleted", flush=True)
