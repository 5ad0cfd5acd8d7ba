"""The IDs in a user's briefcases, page by page."""

import moments
from refusal import Refusal

RECORD_TYPES = ("012000000000000AAA", "012Fo0000000001AAA")


def priming_records(org, request):
    if float(request.version) < 54:
        raise Refusal(404, "NOT_FOUND", "The requested resource does not exist")
    token, since = request.query.get("relayToken"), request.query.get("changedAfterTimestamp")
    if token and since:
        raise Refusal(400, "INVALID_PARAMETER", "relayToken and changedAfterTimestamp exclude each other")
    if token:
        rows, start = org.relays.get(token, (None, 0))
        if rows is None:
            raise Refusal(400, "INVALID_PARAMETER", "the relay token is not known")
    else:
        after = moments.parse(since) if since else 0
        if after is None:
            raise Refusal(400, "INVALID_PARAMETER", "changedAfterTimestamp is no moment")
        rows, start = assigned(org, request.user, after), 0
    chance, size = request.chance, org.data.get("primingPage", 2000)
    if org.data.get("uneven"):
        size = chance.choice((size, 1 + chance.randrange(size), 0 if start else size))
    groups = {}
    for one, row in rows[start : start + size]:
        kind = RECORD_TYPES[ord(row["Id"][14]) % 2]
        identifier = row["Id"][:15] if chance.random() < 0.2 else row["Id"]
        entry = {"id": identifier, "systemModstamp": moments.text(row["SystemModstamp"], "Z")}
        groups.setdefault(one.name, {}).setdefault(kind, []).append(entry)
    relay = None
    if start + size < len(rows):
        relay = f"relay-{chance.getrandbits(64):016x}"
        org.relays[relay] = (rows, start + size)
    return 200, {
        "primingRecords": groups, "relayToken": relay, "ruleErrors": [],
        "stats": {"ruleCountTotal": 1, "recordCountTotal": len(rows), "ruleCountServed": 1,
                  "recordCountServed": min(start + size, len(rows))},
    }


def assigned(org, user, after):
    """The existing rows in a user's briefcases that changed after a moment."""
    return [
        (one, row) for name in org.data.get("briefcase", []) if (one := org.catalog.object(name))
        for row in org.records.rows[one.name].values()
        if not row["IsDeleted"] and row["SystemModstamp"] > after and org.records.sees(user, one, row)
        and (row["OwnerId"] == user.id or user.id in org.records.shares.get(row["Id"], ()))
    ]
