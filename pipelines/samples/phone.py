#!/usr/bin/env python3
"""Simulates an app on a phone for docs/tutorial.md: it changes a store as the Mobile SDK does.

phone.py install STORE                        mark a store as newly installed
phone.py edit STORE SOUP NAME FIELD=VALUE...  edit the record of this name
phone.py return STORE FILE                    copy the store to FILE, to be ingested
"""
import json, os, shutil, sqlite3, sys, time, uuid


class Store:
    def __init__(self, path):
        self.database = sqlite3.connect(path)
        # Android's SDK numbers its stores 3; iOS leaves 0. They index booleans differently.
        (version,) = self.database.execute("PRAGMA user_version").fetchone()
        self.booleans = ("false", "true") if version == 3 else ("0", "1")

    def table(self, soup):
        (number,) = self.database.execute(
            "SELECT id FROM soup_attrs WHERE soupName = ?", [soup]).fetchone()
        return f"TABLE_{number}"

    def element(self, soup, matches):
        rows = self.database.execute(f"SELECT soup FROM {self.table(soup)}")
        found = [element for element in (json.loads(text) for (text,) in rows) if matches(element)]
        if len(found) != 1:
            sys.exit(f"{len(found)} records match in {soup}")
        return found[0]

    def save(self, soup, element):
        """Replaces an element, as an upsert of the SDK does: its JSON and its index columns."""
        now = int(time.time() * 1000)
        element["_soupLastModifiedDate"] = now
        columns = {"soup": json.dumps(element), "lastModified": now}
        indexes = self.database.execute(
            "SELECT path, columnName FROM soup_index_map WHERE soupName = ? AND columnType != 'json1'",
            [soup])
        for path, column in indexes:
            value = element
            for name in path.split("."):
                value = value.get(name) if isinstance(value, dict) else None
            if isinstance(value, bool):
                value = self.booleans[value]
            columns[column] = json.dumps(value) if isinstance(value, (dict, list)) else value
        assignments = ", ".join(f"{name} = ?" for name in columns)
        with self.database:
            self.database.execute(f"UPDATE {self.table(soup)} SET {assignments} WHERE id = ?",
                                  [*columns.values(), element["_soupEntryId"]])

    def stamp(self):
        return self.element("attache_stamp", lambda _: True)


def main(command, path, *words):
    store = Store(path)
    if command == "install":
        store.save("attache_stamp", {**store.stamp(), "install": str(uuid.uuid4()), "handback": 0})
    elif command == "edit":
        soup, name, *changes = words
        element = store.element(soup, lambda element: element.get("Name") == name)
        element.update(change.split("=", 1) for change in changes)
        element.update(__local__=True, __locally_updated__=True)
        store.save(soup, element)
    elif command == "return":
        stamp = store.stamp()
        store.save("attache_stamp", {**stamp, "handback": stamp["handback"] + 1})
        shutil.copyfile(path, words[0] + ".part")
        os.rename(words[0] + ".part", words[0])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("install", "edit", "return"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
