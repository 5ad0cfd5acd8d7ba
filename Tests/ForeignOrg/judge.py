"""Compares stores with the org, each after its syncs.

For each sync down it gets the user's records directly from the org, without any habits, and compares every field of
every record with the store's soup.
"""

import contextlib
import functools
import json
import re
import sqlite3

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


def differences(org, order):
    """One line for each difference; `order` has the store, the file of its syncs and the user of each store."""
    @functools.cache
    def asked(username, statement):
        """The org's records for a user, by ID, as JSON has them."""
        records = json.loads(json.dumps(org.select({"as": username, "q": statement})))
        return {record["Id"]: record for record in records}

    found = []
    for one in order:
        with open(one["syncs"], encoding="utf-8") as text:
            syncs = json.load(text)["syncs"]
        with contextlib.closing(sqlite3.connect(f"file:{one['store']}?mode=ro", uri=True)) as store:
            for sync in syncs:
                if sync["syncType"] == "syncDown":
                    for soup, statement in expected(sync):
                        lines = compared(soup, asked(one["username"], statement), *held(store, soup))
                        found += [f"{one['username']}: {line}" for line in lines]
    return found


def compared(soup, truth, found, count):
    if count != len(found):
        yield f"{soup}: {count} elements have {len(found)} ids"
    for identifier in sorted(truth.keys() | found.keys()):
        if identifier not in found:
            yield f"{soup}: {identifier} is missing"
        elif identifier not in truth:
            yield f"{soup}: {identifier} is not the user's"
        else:
            for name, value in truth[identifier].items():
                other = found[identifier].get(name)
                if name != "attributes" and other != value and plain(other) != plain(value):
                    yield f"{soup}: {identifier}.{name} is {other!r}, not {value!r}"
