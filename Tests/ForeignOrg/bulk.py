"""Jobs of Bulk API 2.0: queries and writes that the org executes asynchronously.

A job belongs to the user who created it and finishes after a few polls. It returns rows of text in any order, with
any line ends and quotes, in pages of any length.
"""

import base64
import csv
import io

import rows
import soql
from habits import number
from identifiers import long_form
from moments import text as moment_text
from queries import Cursor
from refusal import Refusal

RUNNING = ("UploadComplete", "InProgress")
MOST_LOOKS = 3
MOST_BYTES = 150_000_000
PLACES_OF_A_LIST = 5
NULL = "#N/A"
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Table:
    """A response with rows, sent unchanged."""

    def __init__(self, content, headers=()):
        self.content = content
        self.headers = {"Content-Type": "text/csv"} | dict(headers)


class Job:
    """A job: its parameters and its state."""

    def __init__(self, identifier, kind, request, body):
        self.id = identifier
        self.kind = kind
        self.user = request.user
        self.version = request.version
        self.body = body
        self.state = "UploadComplete" if kind == "query" else "Open"
        self.looks = request.chance.randrange(MOST_LOOKS)
        self.failure = None
        # The content and the results.
        self.columns = []
        self.rows = []
        self.content = None
        self.done = []
        self.refused = []
        self.left = []

    @property
    def line_end(self):
        return "\r\n" if self.body.get("lineEnding") == "CRLF" else "\n"

    def told(self):
        """The job as shown by its resource."""
        shown = {
            "id": self.id, "operation": self.body["operation"], "object": self.body.get("object"),
            "createdById": self.user.id, "state": self.state, "concurrencyMode": "Parallel", "contentType": "CSV",
            "apiVersion": float(self.version), "lineEnding": self.body.get("lineEnding", "LF"),
            "columnDelimiter": "COMMA",
        }
        if self.kind == "ingest":
            shown["contentUrl"] = f"services/data/v{self.version}/jobs/ingest/{self.id}/batches"
            shown |= {"numberRecordsFailed": len(self.refused)}
        if self.failure:
            shown["errorMessage"] = self.failure
        processed = len(self.rows) if self.kind == "query" else len(self.done) + len(self.refused)
        return shown | {"numberRecordsProcessed": processed if self.state == "JobComplete" else 0, "retries": 0}


class Jobs:
    """The jobs of an org."""

    def __init__(self, org):
        self.org = org
        self.jobs = {}

    # Both kinds

    def make(self, request, kind):
        """Creates a job."""
        body = request.json()
        if body.get("contentType", "CSV") != "CSV" or body.get("columnDelimiter", "COMMA") != "COMMA":
            raise invalid("only CSV with commas is taken")
        if body.get("lineEnding", "LF") not in ("LF", "CRLF"):
            raise invalid("lineEnding is LF or CRLF")
        check = self._check_query if kind == "query" else self._check_ingest
        check(body)
        # Not a counter: jobs of several users are created in any order.
        identifier = long_form(f"750Fo0{request.chance.randrange(10 ** 9):09d}")
        job = self.jobs[identifier] = Job(identifier, kind, request, body)
        if kind == "query":
            body["object"], job.columns, job.rows = self._selected(request, body)
        return 200, job.told()

    def show(self, request, kind, identifier):
        """Returns the state of a job; each poll advances it."""
        job = self._found(request, kind, identifier)
        if job.state in RUNNING:
            job.looks -= 1
            job.state = "InProgress"
            if job.looks < 0:
                self._finish(request, job)
        return 200, job.told()

    def change(self, request, kind, identifier):
        """Starts an ingest job whose rows are uploaded, or aborts a job."""
        job = self._found(request, kind, identifier)
        state = request.json().get("state")
        if state == "UploadComplete" and kind == "ingest" and job.state == "Open":
            job.state = state
        elif state == "Aborted" and job.state in ("Open", *RUNNING):
            job.state = state
            if job.content:
                self._read(job)
        else:
            raise Refusal(400, "INVALIDJOBSTATE", f"the job is {job.state}")
        return 200, job.told()

    def remove(self, request, kind, identifier):
        """Deletes a finished job."""
        job = self._found(request, kind, identifier)
        if job.state in RUNNING:
            raise Refusal(400, "INVALIDJOBSTATE", f"the job is {job.state}")
        del self.jobs[identifier]
        return 204, None

    def _found(self, request, kind, identifier):
        job = self.jobs.get(identifier)
        if job is None or job.kind != kind or job.user is not request.user:
            raise Refusal(404, "NOT_FOUND", "The requested resource does not exist")
        return job

    def _results_of(self, request, kind, identifier):
        """Finds a job whose results are requested; the org may have deleted it."""
        job = self._found(request, kind, identifier)
        if self.org.mishaps.strikes("forgotten", request, request.chance):
            del self.jobs[identifier]
            raise Refusal(404, "NOT_FOUND", "The requested resource does not exist")
        if job.version != request.version:
            raise Refusal(409, "INVALIDVERSION", "the job was made by another version")
        if job.state in ("Open", *RUNNING):
            raise Refusal(400, "INVALIDJOBSTATE", f"the job is {job.state}")
        return job

    def _finish(self, request, job):
        job.state = "JobComplete"
        if job.kind == "ingest":
            try:
                self._read(job)
                self._check_columns(job)
            except Refusal as refusal:
                job.state, job.failure = "Failed", f"{refusal.code} : {refusal.message}"
                return
            lines, job.left = job.left, []
            for line in lines:
                self._write(request, job, line)

    # Queries

    def _check_query(self, body):
        if body.get("operation") not in ("query", "queryAll"):
            raise invalid("operation is query or queryAll")

    def _selected(self, request, body):
        """The object of a statement, its fields, and the texts of its rows."""
        statement = soql.Parser(body.get("query") or "").statement()
        if statement.nested or statement.is_count or statement.offset:
            raise invalid("subqueries, counts and OFFSET are not supported in bulk queries")
        runner = soql.Runner(self.org.records, request.user, body["operation"] == "queryAll")
        one, found = runner.rows(statement)
        cursor = Cursor(runner, one, statement, found)
        columns = [
            ".".join([way.relationship for way, _ in steps] + [field.name]) for _, (steps, field) in cursor.paths]
        texts = []
        for row in found:
            cells = []
            for _, (steps, field) in cursor.paths:
                cells.append(cell(field, runner.follow(row, steps, field), request.chance))
            texts.append(cells)
        return one.name, columns, texts

    def results(self, request, identifier):
        """A page of a query's result, starting at the locator."""
        job = self._results_of(request, "query", identifier)
        if job.state != "JobComplete":
            raise Refusal(400, "INVALIDJOBSTATE", f"the job is {job.state}")
        place, is_next = place_of(request.query.get("locator", locator(0)))
        if place is None or place > len(job.rows):
            raise Refusal(400, "INVALIDLOCATOR", "the locator is none of this job")
        chance, size = request.chance, self._own_size()
        if request.query.get("maxRecords", "").isdigit():
            size = min(size, max(1, int(request.query["maxRecords"])))
        # Pages have any size; sometimes none, but not twice at one position.
        if self.org.data.get("uneven") and chance.random() < 0.2:
            size = chance.randrange(size) if is_next else 1 + chance.randrange(size)
        end = min(len(job.rows), place + size)
        order = list(range(len(job.columns)))
        chance.shuffle(order)
        lines = [[job.columns[at] for at in order]] + [[line[at] for at in order] for line in job.rows[place:end]]
        headers = {"Sforce-Locator": "null" if end == len(job.rows) else locator(end, end > place)}
        if chance.random() < 0.5:
            headers["Sforce-NumberOfRecords"] = str(end - place)
        return 200, Table(written(lines, chance, job.line_end), headers)

    def places(self, request, identifier):
        """The locators of a result's pages, five at a time."""
        job = self._results_of(request, "query", identifier)
        begin, _ = place_of(request.query.get("locator", locator(0)))
        if job.state != "JobComplete" or begin is None:
            raise Refusal(400, "INVALIDJOBSTATE", f"the job is {job.state}")
        size = self._own_size()
        starts = list(range(0, len(job.rows), size)) or [0]
        here = [place for place in starts if place >= begin][:PLACES_OF_A_LIST]
        base = f"/services/data/v{request.version}/jobs/query/{job.id}"
        answer = {
            "resultPages": [{"resultUrl": f"{base}/results?locator={locator(place)}"} for place in here], "done": True}
        following = here[-1] + size if here else len(job.rows)
        if following < len(job.rows):
            name = request.chance.choice(("nextRecordsUrl", "nextRecordUrl"))
            answer |= {"done": False, name: f"{base}/resultPages?locator={locator(following)}"}
        return 200, answer

    def _own_size(self):
        return self.org.data.get("bulkPageSize", 70)

    # Ingest

    def _check_ingest(self, body):
        if body.get("operation") not in ("insert", "update", "upsert", "delete"):
            raise invalid("operation is insert, update, upsert or delete")
        one = self.org.catalog.object(body.get("object") or "")
        if one is None or one.is_setup:
            raise invalid(f"{body.get('object')} is no object of which rows are written")
        name = body.get("externalIdFieldName")
        field = one.field(name) if name else None
        if (body["operation"] == "upsert") != bool(name) or (name and not (field and field.is_external)):
            raise invalid("an upsert, and nothing else, names an external id")

    def upload(self, request, identifier):
        """Accepts the rows, once."""
        job = self._found(request, "ingest", identifier)
        if job.state != "Open" or job.content is not None:
            raise Refusal(400, "INVALIDJOBSTATE", "the job has its rows, or takes none")
        if not request.headers.get("content-type", "").startswith("text/csv"):
            raise Refusal(415, "UNSUPPORTED_MEDIA_TYPE", "rows are text/csv")
        if len(request.body) > MOST_BYTES:
            raise Refusal(413, "REQUEST_ENTITY_TOO_LARGE", "a job has 150 MB at most")
        job.content = request.body
        return 201, Table(b"")

    @staticmethod
    def _read(job):
        """The uploaded rows, not processed yet."""
        try:
            text = job.content.decode("utf-8")
            lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            raise Refusal(400, "InvalidBatch", str(error)) from None
        job.columns, job.left = (lines[0], lines[1:]) if lines else ([], [])

    def _check_columns(self, job):
        one = self.org.catalog.object(job.body["object"])
        for name in job.columns:
            if one.field(name) is None:
                raise Refusal(400, "InvalidBatch", f"Field name not found : {name}")
        if any(len(line) != len(job.columns) for line in job.left):
            raise Refusal(400, "InvalidBatch", "a row has more or fewer fields than the header")

    def _write(self, request, job, line):
        """Processes one row."""
        org, one, operation = self.org, self.org.catalog.object(job.body["object"]), job.body["operation"]

        def change():
            # An empty cell leaves the field unchanged.
            given = {name: value_of(one.field(name), text) for name, text in zip(job.columns, line) if text != ""}
            identifier = given.pop(next((name for name in given if name.lower() == "id"), ""), None)
            if operation == "insert":
                return org.records.insert(request.user, one, given), True
            if operation == "upsert":
                return self._upsert(request, one, one.field(job.body["externalIdFieldName"]), given)
            if identifier is None:
                raise Refusal(400, "MISSING_ARGUMENT", "Id not specified", ["Id"])
            if operation == "delete":
                return org.records.delete(request.user, one, identifier), False
            return org.records.update(request.user, one, identifier, given), False

        try:
            identifier, created = rows.write(org, request, one, change)
        except Refusal as refusal:
            fields = " ".join(refusal.fields)
            job.refused.append((f"{refusal.code}:{refusal.message}:{fields} --", line))
        else:
            shown = rows.given_id(identifier, request.chance)
            job.done.append((shown, "true" if created else "false", line))

    def _upsert(self, request, one, field, given):
        name = next((name for name in given if name.lower() == field.name.lower()), "")
        value = given.pop(name, None)
        if value is None:
            raise Refusal(400, "MISSING_ARGUMENT", f"{field.name} not specified", [field.name])
        matches = self.org.records.external(one, field, value)
        if len(matches) > 1:
            raise Refusal(400, "DUPLICATE_VALUE", f"{field.name}: more than one record found for external id field")
        if matches:
            return self.org.records.update(request.user, one, matches[0]["Id"], given), False
        return self.org.records.insert(request.user, one, given | {field.name: value}), True

    def outcome(self, request, identifier, part):
        """The outcomes of rows: successful, rejected, or not processed."""
        job = self._results_of(request, "ingest", identifier)
        part = part.lower()
        if part == "successfulresults":
            above, found = ["sf__Id", "sf__Created"], [[*told, *line] for *told, line in job.done]
        elif part == "failedresults":
            failed = [["", error, *line] for error, line in job.refused]
            above, found = ["sf__Id", "sf__Error"], failed
        else:
            above, found = [], job.left
        chance = request.chance
        # Rows and columns are in any order, but the org's own columns come first.
        order = list(range(len(job.columns)))
        chance.shuffle(order)
        order = list(range(len(above))) + [len(above) + at for at in order]
        names = above + job.columns
        lines = [[line[at] for at in order] for line in found]
        chance.shuffle(lines)
        if not lines and chance.random() < 0.3:
            return 200, Table(b"")
        return 200, Table(written([[names[at] for at in order], *lines], chance, job.line_end))


def invalid(words):
    return Refusal(400, "INVALIDJOB", words)


def locator(place, is_next=True):
    """An opaque locator of a position; that of an empty page differs from the one that led to it."""
    return base64.urlsafe_b64encode(f"{place}{'' if is_next else '.'}".encode()).decode().rstrip("=")


def place_of(text):
    """The position in a locator, and whether it is the first one for that position."""
    try:
        words = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        return int(words.rstrip(".")), not words.endswith(".")
    except ValueError:
        return None, True


def cell(field, value, chance):
    """A value as a cell of a result; empty for null."""
    if value is None:
        return ""
    if field.type == "boolean":
        return "true" if value else "false"
    if field.type == "datetime":
        return moment_text(value, "Z")
    if isinstance(value, float):
        # The digits of the number, or a power of ten: clients must accept both.
        if chance.random() < 0.3 and value == int(value):
            return f"{int(value)}.0" if chance.random() < 0.5 else str(int(value))
        return number(value)
    # Every character of the value, including NUL, as in a page of a query.
    return str(value)


def value_of(field, text):
    """The value of a cell."""
    if text == NULL:
        return None
    if field.type == "boolean":
        if text.lower() not in BOOLEANS:
            raise wrong(field, text)
        return BOOLEANS[text.lower()]
    if field.type in ("double", "currency", "percent", "int"):
        try:
            return int(text) if field.type == "int" else float(text)
        except ValueError:
            raise wrong(field, text) from None
    return text


def wrong(field, text):
    words = f"{field.name}: value not of required type: {text}"
    return Refusal(400, "INVALID_TYPE_ON_FIELD_IN_RECORD", words, [field.name])


def written(lines, chance, line_end):
    """Rows as text, with all fields quoted or only where needed, and with any line ends."""
    out = io.StringIO(newline="")
    quoting = chance.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL))
    end = chance.choice((line_end, line_end, "\r\n", "\n"))
    writer = csv.writer(out, quoting=quoting, lineterminator=end)
    for line in lines:
        writer.writerow(line)
    # An org may have an unpaired surrogate, which text cannot contain.
    return out.getvalue().encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def route(name):
    """The method of `Jobs` for a resource."""
    return lambda org, request, *words: getattr(org.jobs, name)(request, *words)


ROUTES = [
    ("POST", r"jobs/(query|ingest)", route("make")),
    ("GET", r"jobs/(query|ingest)/([^/]+)", route("show")),
    ("PATCH", r"jobs/(query|ingest)/([^/]+)", route("change")),
    ("DELETE", r"jobs/(query|ingest)/([^/]+)", route("remove")),
    ("GET", r"jobs/query/([^/]+)/results", route("results")),
    ("GET", r"jobs/query/([^/]+)/resultPages", route("places")),
    ("PUT", r"jobs/ingest/([^/]+)/batches", route("upload")),
    ("GET", r"jobs/ingest/([^/]+)/((?i:successfulResults|failedResults|unprocessedrecords))", route("outcome")),
]
