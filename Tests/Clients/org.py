"""Direct access to the local org, to compare it with what a client read or wrote."""

import json
import os
import urllib.parse
import urllib.request

URL = os.environ["ATTACHE_ORG_URL"]
SECRET = os.environ["ATTACHE_CLIENT_SECRET"]


class Org:
    def __init__(self):
        form = {"grant_type": "client_credentials", "client_id": "clients", "client_secret": SECRET}
        body = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"{URL}/services/oauth2/token", body) as answer:
            self.token = json.load(answer)["access_token"]

    def call(self, method, path, body=None):
        request = urllib.request.Request(URL + path, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def query(self, soql, resource="query"):
        """All records, without their attributes."""
        page = self.call("GET", f"/services/data/v66.0/{resource}?q=" + urllib.parse.quote(soql))
        records = page["records"]
        while not page["done"]:
            page = self.call("GET", page["nextRecordsUrl"])
            records += page["records"]
        for record in records:
            del record["attributes"]
        return records

    def create(self, name, records):
        """Creates many records and returns their IDs."""
        ids = []
        for start in range(0, len(records), 200):
            body = {
                "records": [
                    {"attributes": {"type": name}, **record} for record in records[start : start + 200]
                ]
            }
            for result in self.call("POST", "/services/data/v66.0/composite/sobjects", body):
                assert result["success"], result
                ids.append(result["id"])
        return ids

    def clear(self, *names):
        for name in names:
            ids = [record["Id"] for record in self.query(f"SELECT Id FROM {name}")]
            for start in range(0, len(ids), 200):
                part = ",".join(ids[start : start + 200])
                self.call("DELETE", f"/services/data/v66.0/composite/sobjects?ids={part}")

    def admin(self, path, body):
        request = urllib.request.Request(f"{URL}/attache/{path}", json.dumps(body).encode())
        request.add_header("X-Attache-Admin", os.environ["ATTACHE_ADMIN_SECRET"])
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None


def same(left, right, what):
    """Fails if two lists of records differ, and shows the first difference."""
    left, right = (sorted(side, key=lambda one: json.dumps(one, sort_keys=True)) for side in (left, right))
    assert len(left) == len(right), f"{what}: {len(left)} records against {len(right)}"
    for one, other in zip(left, right):
        assert one == other, f"{what}: {one} is not {other}"
    print(f"{what}: {len(left)} records are the same", flush=True)
