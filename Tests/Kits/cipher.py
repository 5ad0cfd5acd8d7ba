#!/usr/bin/env python3
"""SQLCipher's own build as a database of the kits: `cipher.py FILE`.

Each line of the input is a statement with its arguments, `[SQL, [ARGUMENT...]]`; each line of the output has its rows,
with every value as text, or its error.
"""

import json
import sys

import sqlcipher3.dbapi2 as sqlcipher

connection = sqlcipher.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    sql, arguments = json.loads(line)
    try:
        rows = connection.execute(sql, arguments).fetchall()
        answer = {"rows": [[None if value is None else str(value) for value in row] for row in rows]}
    except sqlcipher.Error as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
connection.close()
