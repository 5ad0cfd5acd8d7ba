"""A simulated phone: it edits a row of its store as an app with the Mobile SDK does."""

import json
import sqlite3
import time
import uuid


class Phone:
    """An iOS store that was unpacked from a bundle."""

    def __init__(self, path):
        self.path = path
        with sqlite3.connect(path) as store:
            self._stamp(store, install=str(uuid.uuid4()), handback=0)
        store.close()

    def _table(self, store, soup):
        """A soup's table, and its index columns by path."""
        number, = store.execute("SELECT id FROM soup_attrs WHERE soupName = ?", (soup,)).fetchone()
        columns = dict(
            store.execute("SELECT path, columnName FROM soup_index_map WHERE soupName = ?", (soup,)).fetchall())
        return f"TABLE_{number}", columns

    def _write(self, store, soup, row, element):
        """Replaces a row's element and its index columns."""
        table, columns = self._table(store, soup)
        flags = {True: "1", False: "0"}
        values = {"soup": json.dumps(element), "lastModified": int(time.time() * 1000)}
        for path, column in columns.items():
            value = element.get(path)
            values[column] = flags[value] if isinstance(value, bool) else value
        names = ", ".join(f"{name} = ?" for name in values)
        store.execute(f"UPDATE {table} SET {names} WHERE id = ?", (*values.values(), row))

    def _stamp(self, store, **members):
        table, _ = self._table(store, "attache_stamp")
        row, text = store.execute(f"SELECT id, soup FROM {table}").fetchone()
        self._write(store, "attache_stamp", row, {**json.loads(text), **members})
        return json.loads(text)

    def edit(self, soup, field, value, record=None):
        """Changes a field of a record, by default of the first one, and returns its ID."""
        with sqlite3.connect(self.path) as store:
            table, _ = self._table(store, soup)
            row, text = store.execute(
                f"SELECT id, soup FROM {table} WHERE coalesce(json_extract(soup, '$.Id') = ?, 1) ORDER BY id LIMIT 1",
                (record,)).fetchone()
            element = json.loads(text)
            element.update({field: value, "__local__": True, "__locally_updated__": True})
            self._write(store, soup, row, element)
        store.close()
        return element["Id"]

    def hand_back(self):
        """Increments the return counter and returns the file."""
        with sqlite3.connect(self.path) as store:
            before = self._stamp(store)
            self._stamp(store, handback=before.get("handback", 0) + 1)
        store.close()
        return self.path
