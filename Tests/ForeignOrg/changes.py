"""The records deleted or changed between two minutes."""

import moments
from refusal import Refusal
from rows import found


def span(request):
    start, end = (moments.parse(request.query.get(name, "")) for name in ("start", "end"))
    if start is None or end is None or start >= end:
        raise Refusal(400, "INVALID_REPLICATION_DATE", "start must be before end")
    return start // 60_000 * 60_000, end // 60_000 * 60_000


def deleted(org, request, name):
    one, (start, end) = found(org, name), span(request)
    rows = [
        {"id": row["Id"], "deletedDate": moments.text(row["SystemModstamp"])}
        for row in org.records.rows[one.name].values()
        if row["IsDeleted"] and start <= row["SystemModstamp"] < end and org.records.sees(request.user, one, row)
    ]
    earliest = moments.text(org.records.now() - 15 * 86_400_000)
    return 200, {"deletedRecords": rows, "earliestDateAvailable": earliest, "latestDateCovered": moments.text(end)}


def updated(org, request, name):
    one, (start, end) = found(org, name), span(request)
    identifiers = [
        row["Id"] for row in org.records.rows[one.name].values()
        if not row["IsDeleted"] and start <= row["SystemModstamp"] < end and org.records.sees(request.user, one, row)
    ]
    return 200, {"ids": identifiers, "latestDateCovered": moments.text(end)}
