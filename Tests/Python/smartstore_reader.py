#!/usr/bin/env python3
"""Reads a SmartStore file by the rules of the format and reports violations.

    smartstore_reader.py FILE [--platform ios|android] [--json]

It shares no code with attache: it uses only the standard library and was written from the
description of the format. Exit status 0: sound; 1: violations, one per line; 2: the file is unreadable.
"""
from decimal import Decimal
import json
import math
import re
import sqlite3
import sys

SHADOWS = ("data", "idx", "content", "docsize", "config")
TYPES = {"string": "TEXT", "integer": "INTEGER", "floating": "REAL", "full_text": "TEXT", "json1": None}
MISSING = object()


class Number(str):
    """A JSON number in its original spelling."""

    @property
    def integral(self):
        return re.fullmatch(r"-?\d+", self) is not None

    def as_long(self):
        if self.integral and -2**63 <= int(self) < 2**63:
            return int(self)
        return None


class Reader:
    def __init__(self, path, platform=None):
        self.db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.db.text_factory = lambda raw: raw.decode("utf-8")
        self.scratch = sqlite3.connect(":memory:")
        for kind, column in TYPES.items():
            if column:
                self.scratch.execute(f"CREATE TABLE {kind} (c {column})")
                self.scratch.execute(f"INSERT INTO {kind} VALUES (NULL)")
        self.path = path
        self.found = []
        self.platform = platform
        self.counts = {}

    def say(self, where, what):
        self.found.append(f"{where}: {what}")

    def rows(self, sql, *args):
        return self.db.execute(sql, args).fetchall()

    # the file

    def run(self):
        self.header()
        for line, in self.rows("PRAGMA integrity_check"):
            if line != "ok":
                self.say("file", line)
        names = {name for name, in self.rows("SELECT name FROM sqlite_master")}
        for table in ("soup_index_map", "soup_attrs", "long_operations_status"):
            if table not in names:
                self.say(table, "missing")
                return
        has_android_index = "soup_index_map_0" in names
        if self.platform is None:
            self.platform = "android" if has_android_index else "ios"
        if has_android_index != (self.platform == "android"):
            self.say("soup_index_map_0", f"wrong for {self.platform}")
        version = self.rows("PRAGMA user_version")[0][0]
        if version != (3 if self.platform == "android" else 0):
            self.say("file", f"user_version {version}")
        self.meta()
        expected = self.soups()
        for kind, name, sql in self.rows("SELECT type, name, sql FROM sqlite_master"):
            if name not in expected:
                self.say(name, f"a {kind} that no soup explains")
        for name in expected - names:
            self.say(name, "missing")

    def header(self):
        with open(self.path, "rb") as file:
            head = file.read(100)
        if head[:16] != b"SQLite format 3\0":
            self.say("file", "no SQLite file")
        if int.from_bytes(head[16:18], "big") != 4096:
            self.say("file", "page size is not 4096")
        if head[20] != 80:
            self.say("file", "80 bytes a page are not reserved")
        if head[18] != 1 or head[19] != 1:
            self.say("file", "left in write-ahead-log mode")
        if int.from_bytes(head[56:60], "big") != 1:
            self.say("file", "text is not UTF-8")
        if int.from_bytes(head[52:56], "big") != 0:
            self.say("file", "auto-vacuum is on")

    def meta(self):
        def columns(table):
            return [(row[1], row[2], row[5]) for row in self.rows(f"PRAGMA table_xinfo({table})")]

        text = lambda *names: [(name, "TEXT", 0) for name in names]
        if columns("soup_index_map") != text("soupName", "path", "columnName", "columnType"):
            self.say("soup_index_map", "wrong columns")
        if columns("soup_attrs")[:2] != [("id", "INTEGER", 1), ("soupName", "TEXT", 0)]:
            self.say("soup_attrs", "wrong columns")
        wanted = [("id", "INTEGER", 1)] + text("type", "details", "status")
        wanted += [("created", "INTEGER", 0), ("lastModified", "INTEGER", 0)]
        if columns("long_operations_status") != wanted:
            self.say("long_operations_status", "wrong columns")
        if self.rows("SELECT count(*) FROM long_operations_status")[0][0]:
            self.say("long_operations_status", "an operation was interrupted")
        self.check_sql("soup_attrs_0", "CREATE INDEX soup_attrs_0 on soup_attrs ( soupName )")
        if self.platform == "android":
            self.check_sql(
                "soup_index_map_0", "CREATE INDEX soup_index_map_0 on soup_index_map ( soupName )")

    def check_sql(self, name, sql):
        row = self.rows("SELECT sql FROM sqlite_master WHERE name = ?", name)
        if not row:
            self.say(name, "missing")
        elif row[0][0] != sql:
            self.say(name, f"is not {sql}")

    # soups

    def soups(self):
        expected = {"soup_index_map", "soup_attrs", "soup_attrs_0", "long_operations_status",
                    "sqlite_sequence"}
        if self.platform == "android":
            expected.add("soup_index_map_0")
            # Android's SQLite creates it in any database that it opens for writing.
            made = self.rows("SELECT sql FROM sqlite_master WHERE name = 'android_metadata'")
            if made == [("CREATE TABLE android_metadata (locale TEXT)",)]:
                expected.add("android_metadata")
        names = set()
        last = self.rows("SELECT max(id) FROM soup_attrs")[0][0] or 0
        sequence = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'soup_attrs'")
        if len(sequence) > 1 or (last and (not sequence or sequence[0][0] < last)):
            self.say("sqlite_sequence", "soup_attrs is behind its largest id")
        for number, soup in self.rows("SELECT id, soupName FROM soup_attrs ORDER BY id"):
            if soup in names:
                self.say("soup_attrs", f"soup {soup} is there twice")
            names.add(soup)
            expected |= self.soup(number, soup)
        for soup, in self.rows("SELECT DISTINCT soupName FROM soup_index_map"):
            if soup not in names:
                self.say("soup_index_map", f"indexes of {soup}, which is no soup")
        return expected

    def soup(self, number, soup):
        table = f"TABLE_{number}"
        specs = self.rows(
            "SELECT path, columnName, columnType FROM soup_index_map WHERE soupName = ? "
            "ORDER BY rowid", soup)
        if not specs:
            self.say("soup_attrs", f"soup {soup} has no index")
        on = "ON" if self.platform == "ios" else "on"
        objects = {table, f"{table}_created_idx", f"{table}_lastModified_idx"}
        self.check_sql(f"{table}_created_idx", f"CREATE INDEX {table}_created_idx {on} {table} ( created )")
        self.check_sql(
            f"{table}_lastModified_idx",
            f"CREATE INDEX {table}_lastModified_idx {on} {table} ( lastModified )")
        columns = []
        for place, (path, column, kind) in enumerate(specs):
            if kind not in TYPES and self.platform == "ios":
                kind = "string"
            if kind not in TYPES:
                self.say(f"soup_index_map {soup} {path}", f"unknown type {kind}")
                continue
            quoted = path.replace("'", "''")
            wanted = f"{table}_{place}" if TYPES[kind] else f"json_extract(soup, '$.{quoted}')"
            if column != wanted:
                self.say(f"soup_index_map {soup} {path}", f"column is not {wanted}")
            index = f"{table}_{place}_idx"
            objects.add(index)
            self.check_sql(index, f"CREATE INDEX {index} {on} {table} ( {wanted} )")
            if TYPES[kind]:
                columns.append((path, wanted, kind))
            if path == "__local__" and kind != "string":
                self.say(f"soup_index_map {soup} {path}", "must be a string index")
        self.table(table, columns)
        if soup == "syncs_soup":
            self.syncs(table)
        words = [entry for entry in columns if entry[2] == "full_text"]
        if words:
            objects.add(f"{table}_fts")
            objects |= {f"{table}_fts_{shadow}" for shadow in SHADOWS}
            self.words(table, words)
        return objects

    def table(self, table, columns):
        have = [(row[1], row[2], row[5]) for row in self.rows(f"PRAGMA table_xinfo({table})")]
        wanted = [("id", "INTEGER", 1), ("soup", "TEXT", 0), ("created", "INTEGER", 0),
                  ("lastModified", "INTEGER", 0)]
        wanted += [(name, TYPES[kind], 0) for _, name, kind in columns]
        if have != wanted:
            self.say(table, "wrong columns")
            return
        sql = self.rows("SELECT sql FROM sqlite_master WHERE name = ?", table)[0][0]
        if "AUTOINCREMENT" not in sql:
            self.say(table, "ids are not AUTOINCREMENT")
        last = 0
        ids = {}
        fields = ", ".join(["id", "created", "lastModified", "soup"] + [c[1] for c in columns])
        count = 0
        for row in self.db.execute(f"SELECT {fields} FROM {table} ORDER BY id"):
            count += 1
            last = row[0]
            self.row(f"{table} row {row[0]}", row, columns, ids)
        self.counts[table] = count
        sequence = self.rows("SELECT seq FROM sqlite_sequence WHERE name = ?", table)
        if len(sequence) > 1 or (count and (not sequence or sequence[0][0] < last)):
            self.say("sqlite_sequence", f"{table} is behind its largest id")

    def syncs(self, table):
        names = {}
        for identity, text in self.rows(f"SELECT id, soup FROM {table} ORDER BY id"):
            where = f"{table} row {identity}"
            sync = json.loads(text)
            if sync.get("type") not in ("syncDown", "syncUp"):
                self.say(where, "is no sync of an SDK")
            if sync.get("status") not in ("NEW", "STOPPED", "RUNNING", "DONE", "FAILED"):
                self.say(where, "is in no state of an SDK")
            name = sync.get("name")
            if name is not None and names.setdefault(name, identity) != identity:
                self.say(where, f"has the name of row {names[name]}")

    def row(self, where, row, columns, ids):
        identity, created, modified, soup = row[:4]
        if not isinstance(created, int) or not isinstance(modified, int):
            self.say(where, "created or lastModified is no integer")
        elif created > modified:
            self.say(where, "created is after lastModified")
        if not isinstance(soup, str):
            self.say(where, "the element is no text")
            return

        def members(pairs):
            if len(dict(pairs)) < len(pairs):
                self.say(where, "a name is there twice")
            return dict(pairs)

        try:
            element = json.loads(
                soup, parse_int=Number, parse_float=Number, parse_constant=self.bad,
                object_pairs_hook=members)
        except ValueError:
            self.say(where, "the element is no JSON")
            return
        if not isinstance(element, dict):
            self.say(where, "the element is no object")
            return
        if element.get("_soupEntryId") != str(identity):
            self.say(where, "_soupEntryId is not the id")
        if element.get("_soupLastModifiedDate") != str(modified):
            self.say(where, "_soupLastModifiedDate is not lastModified")
        if "_soupCreatedDate" in element:
            self.say(where, "_soupCreatedDate is in the element")
        if isinstance(element.get("Id"), str):
            if element["Id"] in ids and any(path == "Id" for path, _, _ in columns):
                self.say(where, f"has the Id of row {ids[element['Id']]}")
            ids[element["Id"]] = identity
        for (path, name, kind), stored in zip(columns, row[4:]):
            if self.platform == "ios" and path in ("_soupEntryId", "_soupLastModifiedDate"):
                continue
            if not self.agrees(project(element, path.split(".")), kind, stored):
                self.say(f"{where} path {path}", "the column does not match the element's value")

    @staticmethod
    def bad(name):
        raise ValueError(name)

    # values

    def agrees(self, value, kind, stored):
        if value is MISSING or value is None:
            return stored is None
        if isinstance(value, (dict, list)):
            if self.platform == "android" and kind in ("integer", "floating"):
                return stored is None
            if not isinstance(stored, str):
                return False
            try:
                return same(json.loads(stored, parse_int=Number, parse_float=Number), value)
            except ValueError:
                return False
        wanted = self.android(value, kind) if self.platform == "android" else self.ios(value)
        # The column's affinity, applied by SQLite itself.
        self.scratch.execute(f"UPDATE {kind} SET c = ?", (wanted,))
        made = self.scratch.execute(f"SELECT c FROM {kind}").fetchone()[0]
        return type(made) is type(stored) and made == stored

    @staticmethod
    def ios(value):
        if value is True or value is False:
            return int(value)
        if isinstance(value, Number):
            whole = value.as_long()
            return whole if whole is not None else (str(value) if value.integral else float(value))
        return value

    @staticmethod
    def android(value, kind):
        text = kind in ("string", "full_text")
        if value is True or value is False:
            return ("true" if value else "false") if text else None
        if not isinstance(value, Number):
            return value if text else None
        whole = value.as_long()
        if text:
            return str(whole) if whole is not None else java(float(value))
        if kind == "floating":
            return float(value)
        if whole is not None:
            return whole
        return max(-2**63, min(2**63 - 1, int(float(value)) if math.isfinite(float(value))
                               else int(math.copysign(2**70, float(value)))))

    # full text

    def words(self, table, words):
        fts = f"{table}_fts"
        names = [name for _, name, _ in words]
        self.check_sql(fts, f"CREATE VIRTUAL TABLE {fts} USING fts5({','.join(names)})")
        fields = ", ".join(names)
        left = self.rows(f"SELECT id, {fields} FROM {table} ORDER BY id")
        right = {row[0]: row[1:] for row in self.rows(f"SELECT rowid, {fields} FROM {fts}")}
        for identity, *columns in left:
            if identity not in right:
                self.say(f"{fts} row {identity}", "missing")
                continue
            for name, column, word in zip(names, columns, right.pop(identity)):
                if word is not None and not isinstance(word, str):
                    word = self.scratch.execute("SELECT CAST(? AS TEXT)", (word,)).fetchone()[0]
                if word != column:
                    self.say(f"{fts} row {identity}", f"{name} is not the soup's")
        for identity in right:
            self.say(f"{fts} row {identity}", "left over")
        for identity, in self.rows(
                f"SELECT id FROM {fts}_docsize EXCEPT SELECT id FROM {fts}_content"):
            self.say(f"{fts} row {identity}", "a length without words")
        copy = sqlite3.connect(":memory:")
        self.db.backup(copy)
        try:
            copy.execute(f"INSERT INTO {fts}({fts}) VALUES ('integrity-check')")
        except sqlite3.DatabaseError as error:
            self.say(fts, f"the index is not the content's ({error})")


def project(value, names):
    if not names:
        return value
    if isinstance(value, dict):
        return project(value[names[0]], names[1:]) if names[0] in value else MISSING
    if isinstance(value, list):
        found = [part for part in (project(each, names) for each in value) if part is not MISSING]
        return found or MISSING
    return MISSING


def same(left, right):
    if isinstance(left, Number) and isinstance(right, Number):
        return left == right or float(left) == float(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def java(value):
    """Double.toString."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    sign = "-" if value < 0 else ""
    digits = Decimal(repr(abs(value))).normalize().as_tuple()
    point = len(digits.digits) + digits.exponent
    text = "".join(map(str, digits.digits))
    if 1e-3 <= abs(value) < 1e7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{text}"
        text = text.ljust(point, "0")
        return f"{sign}{text[:point]}.{text[point:] or '0'}"
    return f"{sign}{text[0]}.{text[1:] or '0'}E{point - 1}"


def main(arguments):
    platform = None
    as_json = False
    paths = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--platform":
            platform = next(rest, None)
        elif argument == "--json":
            as_json = True
        else:
            paths.append(argument)
    if not paths or platform not in (None, "ios", "android"):
        print(__doc__, file=sys.stderr)
        return 2
    status = 0
    for path in paths:
        reader = Reader(path, platform)
        try:
            reader.run()
        except (sqlite3.DatabaseError, UnicodeDecodeError, OSError) as error:
            reader.say("file", str(error))
        if as_json:
            print(json.dumps({"path": path, "platform": reader.platform, "rows": reader.counts,
                              "violations": reader.found}))
        else:
            for line in reader.found:
                print(f"{path}: {line}")
        status = max(status, 1 if reader.found else 0)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
