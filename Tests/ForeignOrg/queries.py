"""query, queryAll and their further pages."""

import moments
import soql
from refusal import Refusal

CURSORS_OF_A_USER = 10


class Queries:
    """The open cursors, the oldest first."""

    def __init__(self, org):
        self.org = org
        self.cursors = {}

    def first(self, request, resource):
        """The first page of a statement."""
        text = request.query.get("q")
        if not text:
            raise Refusal(400, "MALFORMED_QUERY", "A query has to be specified")
        statement = soql.Parser(text).statement()
        if statement.source.lower() == "userrecordaccess":
            return self._whole(request, self._access(request, statement))
        runner = soql.Runner(self.org.records, request.user, resource == "queryAll")
        one, rows = runner.rows(statement)
        if statement.is_count:
            return {"totalSize": len(rows), "done": True, "records": []}
        cursor = Cursor(runner, one, statement, rows)
        # Not a counter: cursors of several users are opened in any order.
        name = f"0r8Fo0{request.chance.randrange(10 ** 9):09d}AAA"
        return self._page(request, name, cursor, 0)

    def next(self, request, locator):
        """The page of a locator: the cursor, and the position to continue at."""
        name, _, place = locator.partition("-")
        if self.org.mishaps.strikes("locator", request, request.chance):
            self.forget(request.user)
        cursor = self.cursors.get(name)
        if cursor is None or cursor.runner.user is not request.user or not place.isdigit():
            raise Refusal(400, "INVALID_QUERY_LOCATOR", "invalid query locator")
        return self._page(request, name, cursor, int(place))

    def forget(self, user):
        """Closes all cursors of a user."""
        self.cursors = {name: one for name, one in self.cursors.items() if one.runner.user is not user}

    def _page(self, request, name, cursor, place):
        chance, left = request.chance, len(cursor.rows) - place
        size = self._batch_size(request)
        if self.org.data.get("uneven"):
            # Pages have any size; sometimes none, but not twice at one position.
            size = chance.choice((size, size, 1 + chance.randrange(size)))
            if cursor.empty != place and left > 1 and chance.random() < 0.2:
                cursor.empty = place
                size = 0
        records = [cursor.record(row, request) for row in cursor.rows[place : place + size]]
        page = {"totalSize": len(cursor.rows), "done": left <= size, "records": records}
        if left > size:
            self.cursors.pop(name, None)
            self.cursors[name] = cursor
            self._close_oldest(request.user)
            page["nextRecordsUrl"] = f"/services/data/v{request.version}/query/{name}-{place + size}"
        return page

    def _close_oldest(self, user):
        own = [name for name, one in self.cursors.items() if one.runner.user is user]
        for name in own[:-CURSORS_OF_A_USER]:
            del self.cursors[name]

    def _batch_size(self, request):
        size = self.org.data.get("pageSize", 2000)
        for option in request.headers.get("sforce-query-options", "").split(","):
            name, _, value = option.strip().partition("=")
            if name == "batchSize" and value.isdigit():
                size = min(size, max(200, min(int(value), 2000)))
        return size

    def _access(self, request, statement):
        """UserRecordAccess has no rows: it is computed for the requested IDs."""
        wanted, identifiers = None, []
        for _, name, _, value in statement.condition[1]:
            if name.lower() == "userid":
                wanted = value[1]
            elif name.lower() == "recordid":
                identifiers = [one[1] for one in value[1]] if value[0] == "list" else [value[1]]
        user = next((one for one in self.org.logins.users.values() if one.id == wanted), None)
        if user is None or len(identifiers) > 200:
            raise Refusal(400, "MALFORMED_QUERY", "UserRecordAccess needs a UserId and at most 200 of RecordId")
        for identifier in identifiers:
            one = self.org.catalog.of_prefix(identifier)
            row = self.org.records.visible(user, one, identifier) if one else None
            if row is not None:
                may = self.org.records.may_edit(user, one, row)
                yield {
                    "attributes": {"type": "UserRecordAccess"}, "RecordId": row["Id"], "HasReadAccess": True,
                    "HasEditAccess": may, "HasDeleteAccess": may,
                }

    @staticmethod
    def _whole(request, records):
        found = list(records)
        return {"totalSize": len(found), "done": True, "records": found}


class Cursor:
    """The rows that a statement selected, in order."""

    def __init__(self, runner, one, statement, rows):
        self.runner = runner
        self.one = one
        self.statement = statement
        self.rows = rows
        self.empty = 0
        self.paths = [(name, runner.path(one, name)) for name in statement.fields]
        self.functions = [
            (name, label, runner.path(one, path)) for name, path, label in statement.functions]

    def record(self, row, request):
        """A row as JSON, with the rows of its subqueries."""
        record = {"attributes": attributes(self.one, row, request)}
        for name, (steps, field) in self.paths:
            put(record, self.runner, row, name.split("."), steps, field, request)
        for name, label, (steps, field) in self.functions:
            value = shown(field, self.runner.follow(row, steps, field))
            record[label] = written(field, value) if name == "format" else value
        for nested in self.statement.nested:
            record.update(self._children(row, nested, request))
        return record

    def _children(self, row, nested, request):
        child, field = self.runner.child(self.one, nested)
        inner = soql.Statement()
        inner.__dict__.update(nested.__dict__)
        inner.source = child.name
        own = ("comparison", field.name, "=", ("text", row["Id"]))
        inner.condition = own if nested.condition is None else ("and", [own, nested.condition])
        one, rows = self.runner.rows(inner)
        if not rows:
            return {field.children: None}
        cursor = Cursor(self.runner, one, inner, rows)
        records = [cursor.record(each, request) for each in rows]
        return {field.children: {"totalSize": len(rows), "done": True, "records": records}}


def attributes(one, row, request):
    """The member at the start or end of every record."""
    return {"type": one.name, "url": f"/services/data/v{request.version}/sobjects/{one.name}/{row['Id']}"}


def put(record, runner, row, names, steps, field, request):
    """Stores a field's value at its path, in objects of the related records."""
    for name, (way, target) in zip(names, steps):
        row = runner.records.rows[target.name].get(row[way.name] or "")
        if row is None:
            record[way.relationship] = None
            return
        record = record.setdefault(way.relationship, {"attributes": attributes(target, row, request)})
    record[field.name] = shown(field, runner.follow(row, [], field))


def written(field, value):
    """A value as a page shows it to an American reader."""
    if value is None or field.type not in ("double", "currency", "percent", "int"):
        return value
    return f"{value:,.0f}" if field.type == "int" else f"{value:,.2f}"


def shown(field, value):
    """A value in the form of rows."""
    if field.type == "datetime" and value is not None:
        return moments.text(value)
    return value
