"""tap-salesforce, unmodified: discovers an org and copies it, by REST and by Bulk."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from org import Org, same

STREAMS = {
    "Account": ["Id", "Name", "Site", "NumberOfEmployees", "IsDeleted"],
    "Contact": ["Id", "LastName", "AccountId", "DoNotCall", "Birthdate", "IsDeleted"],
}
TAP = str(Path(sys.executable).parent / "tap-salesforce")


def run(folder, api, refresh_token):
    config = folder / "config.json"
    config.write_text(
        json.dumps(
            {
                "client_id": "clients", "client_secret": os.environ["ATTACHE_CLIENT_SECRET"],
                "refresh_token": refresh_token, "start_date": "2000-01-01T00:00:00Z", "api_type": api,
                "select_fields_by_default": "true",
            }
        )
    )

    def tap(*more):
        done = subprocess.run([TAP, "--config", config, *more], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    catalog = json.loads(tap("--discover"))
    names = {stream["stream"] for stream in catalog["streams"]}
    assert set(STREAMS) <= names, names
    print(f"{api}: {len(names)} streams are discovered", flush=True)
    for stream in catalog["streams"]:
        if stream["stream"] in STREAMS:
            for entry in stream["metadata"]:
                if not entry["breadcrumb"]:
                    entry["metadata"]["selected"] = True
    chosen = folder / "catalog.json"
    chosen.write_text(json.dumps(catalog))
    found = {name: [] for name in STREAMS}
    for line in tap("--properties", chosen).splitlines():
        message = json.loads(line)
        if message["type"] == "RECORD":
            found[message["stream"]].append(message["record"])
    return found


if __name__ == "__main__":
    org = Org()
    org.clear("Contact", "Account")
    accounts = org.create(
        "Account", [{"Name": f"T{n}", "Site": "a,\"b\"\nc" if n % 2 else None, "NumberOfEmployees": n} for n in range(2500)]
    )
    org.create(
        "Contact",
        [
            {"LastName": f"C{n} ☃", "AccountId": accounts[n], "DoNotCall": n % 2 == 0, "Birthdate": "2001-02-03"}
            for n in range(300)
        ],
    )
    token = org.admin("refresh-tokens", {"user": "admin@example.com", "app": "clients"})["refresh_token"]
    for api in ("REST", "BULK"):
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder), api, token)
        for name, fields in STREAMS.items():
            seen = [{field: record.get(field) for field in fields} for record in found[name]]
            for record in seen:
                # The tap treats every date as a moment.
                if record.get("Birthdate"):
                    record["Birthdate"] = record["Birthdate"].removesuffix("T00:00:00.000000Z")
            same(seen, org.query(f"SELECT {', '.join(fields)} FROM {name}", "queryAll"), f"{api} {name}")
    org.clear("Contact", "Account")
