#!/usr/bin/env python3
"""Compares stores with the org: `judge.py ADDRESS SYNCS.json STORE USERNAME …`, each store after its syncs.

For each sync down it gets the user's records directly from the org, without any habits, and compares every field of
every record with the store's soup. Prints one line per difference; the exit status is then 1.
"""

import json
import re
import sqlite3
import sys
import urllib.request

REPLACED = re.compile("[\ud800-\udfff]")


def expected(sync):
    """For each soup of a sync down: the statement that selects its records."""
    target = sync["target"]
    if target["type"] == "soql":
        return [(sync["soupName"], target["query"])]
    if target["type"] == "briefcase":
        return [
            (info["soupName"], f"SELECT Id, {', '.join(info['fieldlist'])} FROM {info['sobjectType']}")
            for info in target["infos"]
        ]
    parent, child = target["parent"], target["children"]
    condition = target["parentSoqlFilter"]
    parents = f"SELECT Id FROM {parent['sobjectType']} WHERE {condition}"
    return [
        (parent["soupName"], parents.replace("SELECT Id", "SELECT Id, " + ", ".join(target["parentFieldlist"]))),
        (child["soupName"],
         f"SELECT Id, {child['parentIdFieldName']}, {', '.join(target['childrenFieldlist'])} "
         f"FROM {child['sobjectType']} WHERE {child['parentIdFieldName']} IN ({parents})"),
    ]


def asked(address, username, statement):
    """The org's records for a user, by ID."""
    order = json.dumps({"as": username, "q": statement}).encode()
    with urllib.request.urlopen(urllib.request.Request(address + "/foreign/select", order)) as answer:
        return {record["Id"]: record for record in json.load(answer)}


def held(store, soup):
    """The content of a soup by ID, and the number of its elements."""
    table = store.execute("SELECT ROWID FROM soup_attrs WHERE soupName = ?", (soup,)).fetchone()[0]
    elements = [json.loads(text) for (text,) in store.execute(f"SELECT soup FROM TABLE_{table}")]
    return {element.get("Id"): element for element in elements}, len(elements)


def plain(value):
    """A value in a form that is equal for equal values."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items() if name != "attributes"}
    if isinstance(value, str):
        # A store has a replacement character for an unpaired surrogate.
        return REPLACED.sub("\ufffd", value)
    return value


def differences(address, syncs, path, username):
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for sync in syncs:
        if sync["syncType"] != "syncDown":
            continue
        for soup, statement in expected(sync):
            truth = asked(address, username, statement)
            found, count = held(store, soup)
            if count != len(found):
                yield f"{soup}: {count} elements have {len(found)} ids"
            for identifier in sorted(truth.keys() | found.keys()):
                if identifier not in found:
                    yield f"{soup}: {identifier} is missing"
                elif identifier not in truth:
                    yield f"{soup}: {identifier} is not the user's"
                else:
                    for name, value in plain(truth[identifier]).items():
                        if plain(found[identifier].get(name)) != value:
                            yield f"{soup}: {identifier}.{name} is {found[identifier].get(name)!r}, not {value!r}"


def main():
    address, *rest = sys.argv[1:]
    found = []
    for file, path, username in zip(rest[::3], rest[1::3], rest[2::3]):
        with open(file, encoding="utf-8") as text:
            syncs = json.load(text)["syncs"]
        found += [f"{username}: {line}" for line in differences(address, syncs, path, username)]
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
