#!/usr/bin/env python3
"""Applies deltas to stores with SQLCipher itself, by statements that it is given.

Each line of the input is a job as JSON:

    device      the store
    key, rekey  its passphrase, or null, and the one to give it first
    export      whether the plain store is first exported under `rekey`, as an app does
    delta       the delta, with the passphrase `deltaKey` or null
    checks      queries that return 0
    changes     the statements of the delta
    results     queries that return 0 after them
    mark        the statement that marks the installation
    kills       the numbers of changes after which the program is killed on a copy

Each line of the output is what differs from what is expected, or null, and the seconds of its own processor time
from ATTACH to COMMIT.

The delta is applied under the passphrases. The openings before and after it take the key derived once.
"""
import functools
import hashlib
import json
import os
import shutil
import signal
import sys
import time

import sqlcipher3.dbapi2 as sqlcipher


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


@functools.cache
def derived(passphrase, salt):
    return hashlib.pbkdf2_hmac("sha512", passphrase.encode(), salt, 4000, 32)


def raw(path, passphrase):
    """The key of a file in SQLCipher's form, with which it derives none; nothing for a plain file."""
    if passphrase is None:
        return None
    with open(path, "rb") as file:
        salt = file.read(16)
    return f"x'{derived(passphrase, salt).hex()}{salt.hex()}'"


def opened(path, key):
    connection = sqlcipher.connect(path, isolation_level=None)
    if key is not None:
        connection.execute(f"PRAGMA key = {quoted(key)}")
        connection.execute("PRAGMA kdf_iter = 4000")
    return connection


def attached(connection, job, key):
    connection.execute("PRAGMA cipher_default_kdf_iter = 4000")
    connection.execute(f"ATTACH DATABASE {quoted(job['delta'])} AS delta KEY {quoted(key or '')}")
    connection.execute("BEGIN IMMEDIATE")


def rows(path, key):
    """A digest of every row of a store, which its full-text and other checks have passed."""
    connection = opened(path, raw(path, key))
    digest = hashlib.sha256()
    tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for name, sql in tables:
        if "_fts_" in name:
            continue
        if sql.startswith("CREATE VIRTUAL TABLE"):
            connection.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
        for row in connection.execute(f"SELECT rowid, * FROM {name} ORDER BY rowid"):
            digest.update(repr(row).encode())
    if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        raise ValueError("the store is damaged")
    if key is not None and connection.execute("PRAGMA cipher_integrity_check").fetchall():
        raise ValueError("a page of the store is damaged")
    connection.close()
    return digest.hexdigest()


def answers(connection, queries):
    return [connection.execute(query).fetchone()[0] for query in queries]


def kill(job, key, count):
    """A copy of the store, on which the program is killed after a number of changes."""
    copy = job["device"] + ".killed"
    for ending in ("", "-journal", "-wal", "-shm"):
        if os.path.exists(copy + ending):
            os.remove(copy + ending)
    shutil.copy(job["device"], copy)
    store, delta = raw(copy, key), raw(job["delta"], job["deltaKey"])
    child = os.fork()
    if child == 0:
        try:
            connection = opened(copy, store)
            # Pages go to the file before the commit, and the journal has to undo them.
            connection.execute("PRAGMA cache_size = 2")
            attached(connection, job, delta)
            for sql in job["changes"][:count]:
                connection.execute(sql)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise ValueError(f"the program ended by itself before change {count}")
    return copy


def apply(job):
    device, key = job["device"], job["key"]
    if job["export"]:
        connection = opened(device, None)
        target = device + ".exported"
        connection.execute(f"ATTACH DATABASE {quoted(target)} AS encrypted KEY {quoted(job['rekey'])}")
        connection.execute("PRAGMA encrypted.kdf_iter = 4000")
        connection.execute("SELECT sqlcipher_export('encrypted')").fetchall()
        # The export leaves it at 0, with which Android's SDK does not open the store.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA encrypted.user_version = {version}")
        connection.execute("DETACH DATABASE encrypted")
        connection.close()
        os.replace(target, device)
        key = job["rekey"]
    elif job["rekey"] is not None:
        connection = opened(device, key)
        connection.execute(f"PRAGMA rekey = {quoted(job['rekey'])}")
        connection.close()
        key = job["rekey"]
    before = rows(device, key) if job["kills"] else None
    for count in job["kills"]:
        copy = kill(job, key, count)
        if rows(copy, key) != before:
            return f"killed after change {count}, it is another store", 0
    connection = opened(device, key)
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    start = time.process_time()
    attached(connection, job, job["deltaKey"])
    if any(answers(connection, job["checks"])):
        return "the store is refused", 0
    for sql in job["changes"]:
        connection.execute(sql)
    if any(answers(connection, job["results"])):
        return "the result is refused", 0
    connection.execute(job["mark"], ["new"])
    connection.execute("COMMIT")
    seconds = time.process_time() - start
    connection.execute("DETACH DATABASE delta")
    connection.close()
    # It is no longer the store that the delta is for.
    connection = opened(device, raw(device, key))
    attached(connection, job, raw(job["delta"], job["deltaKey"]))
    if not any(answers(connection, job["checks"])):
        return "the delta is not refused by its own result", seconds
    connection.execute("ROLLBACK")
    connection.close()
    rows(device, key)
    return None, seconds


for line in sys.stdin:
    try:
        fault, taken = apply(json.loads(line))
    except (sqlcipher.Error, ValueError, OSError) as error:
        fault, taken = f"{type(error).__name__}: {error}", 0
    print(json.dumps({"fault": fault, "seconds": taken}), flush=True)
