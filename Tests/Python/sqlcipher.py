#!/usr/bin/env python3
"""Runs statements on a sealed store with SQLCipher itself, which shares no code with attache.

    sqlcipher.py FILE KDF-ITERATIONS SALT|- STATEMENT...

The passphrase is read from the environment variable PASSPHRASE. For the file of an iOS app group, SALT
has its external salt in hexadecimal digits. Prints the rows of each statement as one line of JSON.
"""
import json
import os
import sys

import sqlcipher3.dbapi2 as sqlcipher

path, iterations, salt, *statements = sys.argv[1:]
connection = sqlcipher.connect(path, isolation_level=None)
connection.execute("PRAGMA key = '%s'" % os.environ["PASSPHRASE"].replace("'", "''"))
connection.execute("PRAGMA kdf_iter = %d" % int(iterations))
if salt != "-":
    connection.execute("PRAGMA cipher_plaintext_header_size = 32")
    connection.execute("PRAGMA cipher_salt = \"x'%s'\"" % salt)
for statement in statements:
    rows = connection.execute(statement).fetchall()
    print(json.dumps(rows, default=lambda value: value.hex()))
connection.close()
