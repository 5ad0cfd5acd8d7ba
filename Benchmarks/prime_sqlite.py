#!/usr/bin/env python3
"""The script that a user would write: it loads the pages of a query with urllib and json into a SmartStore file.

usage: prime_sqlite.py FIRST-URL TOKEN STORE NOW
"""
import json
import os
import resource
import sqlite3
import sys
import time
import urllib.parse
import urllib.request

url, token, path, now = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
if os.path.exists(path):
    os.remove(path)
start = time.monotonic()
store = sqlite3.connect(path)
columns = ["Id", "FirstName", "LastName"]
indexed = ["created", "lastModified"] + [f"TABLE_1_{place}" for place in range(8)]
store.execute(
    "CREATE TABLE TABLE_1 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER, lastModified INTEGER, "
    + ", ".join(f"TABLE_1_{place} {'INTEGER' if place == 7 else 'TEXT'}" for place in range(8)) + ")")
entry = 0
while url:
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
    with urllib.request.urlopen(request) as response:
        page = json.load(response)
    rows = []
    for record in page["records"]:
        entry += 1
        record.update({
            "__local__": False, "__locally_created__": False, "__locally_updated__": False,
            "__locally_deleted__": False, "__sync_id__": 1, "_soupEntryId": entry, "_soupLastModifiedDate": now})
        rows.append([entry, json.dumps(record), now, now] + [record.get(name) for name in columns] + ["false"] * 4 + [1])
    store.executemany("INSERT INTO TABLE_1 VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", rows)
    url = urllib.parse.urljoin(url, page["nextRecordsUrl"]) if not page["done"] else None
loaded = time.monotonic()
for column in indexed:
    store.execute(f"CREATE INDEX {column}_idx ON TABLE_1 ( {column} )")
store.commit()
store.close()
end = time.monotonic()
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "arm": "Python", "records": entry, "wallMilliseconds": int((end - start) * 1000),
    "pagesMilliseconds": int((loaded - start) * 1000), "indexesMilliseconds": int((end - loaded) * 1000),
    "userMilliseconds": int(used.ru_utime * 1000), "systemMilliseconds": int(used.ru_stime * 1000),
    "peakKiB": used.ru_maxrss}))
