"""The org: its data, its resources, and the processing of requests."""

import json
import re
import threading
import urllib.parse

import briefcase
import bulk
import changes
import composite
import moments
import rows
import soap
import soql
from catalog import Catalog
from habits import Habits, with_extras
from logins import Logins
from mishaps import Mishaps
from queries import Cursor, Queries
from records import Records
from refusal import Refusal

NOT_FOUND = Refusal(404, "NOT_FOUND", "The requested resource does not exist")
LONGEST_ADDRESS = 16_384
# Moments, also in addresses, and in the format of header fields.
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:T|%20| )\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?(?:Z|(?:[+-]|%2B)\d\d:?\d\d)?"
    r"|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")
DAY = 86_400_000


class Request:
    """A request, or a part of a composite one."""

    def __init__(self, method, address, headers, body, entry):
        self.method = method
        self.path, _, text = address.partition("?")
        # A plus sign is a space.
        self.query = dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
        self.headers = headers
        self.body = body
        self.entry = entry
        self.user = None
        # The user, also in a login and with an expired session.
        self.asker = None
        self.chance = None
        self.version = "0.0"
        scheme, _, token = headers.get("authorization", "").partition(" ")
        self.token = token if scheme == "Bearer" else None
        self.is_soap = self.path.startswith("/services/Soap/")
        if self.is_soap:
            self.token = soap.token(body)

    @property
    def username(self):
        return self.user.username if self.user else None

    def json(self):
        if not isinstance(self.body, bytes):
            return self.body
        if "json" not in self.headers.get("content-type", ""):
            raise Refusal(415, "UNSUPPORTED_MEDIA_TYPE", "The Content-Type of the request is not supported")
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Refusal(400, "JSON_PARSER_ERROR", str(error)) from None


class Org:
    """The whole state of a process."""

    def __init__(self, data, seed, instances):
        self.data = data
        self.lock = threading.Lock()
        self.log = []
        self.relays = {}
        self.habits = Habits(seed)
        self.mishaps = Mishaps(data.get("mishaps", {}))
        self.catalog = Catalog(data["objects"])
        self.records = Records(self.catalog, data.get("clockOffsetSeconds", 0))
        self.queries = Queries(self)
        self.jobs = bulk.Jobs(self)
        self.logins = Logins(data["organization"], data["apps"], data["users"], self.records, instances)
        self.used_requests = data.get("requestsUsed", 0)
        self._fill(data)
        # Chance only affects responses; the records are those in the data file.
        self.routes = [
            (method, re.compile(pattern + "/?$"), action) for method, pattern, action in ROUTES]

    # Data

    def _fill(self, data):
        keys = {}
        for line in data.get("records", []):
            self._add(line, keys)
        for line in data.get("many", []):
            for number in range(line["count"]):
                values = {
                    name: value.replace("#", str(number)) if isinstance(value, str) else value
                    for name, value in line["values"].items()}
                self._add({"object": line["object"], "owner": line["owner"], "values": values}, keys)
        # The initial records are some weeks old, and several rows have the same second.
        self.records.ticks = 0
        filled = [row for row, one in self._all_rows() if not one.is_setup]
        start = (self.records.now() - 30 * DAY) // 1000
        for place, row in enumerate(filled):
            moment = (start + place // 3 * 3 * 20 * DAY // 1000 // len(filled)) * 1000
            row |= {"CreatedDate": moment, "LastModifiedDate": moment, "SystemModstamp": moment}

    def _add(self, line, keys):
        user = self.logins.users[line["owner"].lower()]
        values = {name: self._value(value, keys) for name, value in line["values"].items()}
        identifier = self.records.insert(user, self.catalog.object(line["object"]), values)
        if "key" in line:
            keys[line["key"]] = identifier
        for name in line.get("shared", []):
            self.records.shares.setdefault(identifier, set()).add(self.logins.users[name.lower()].id)

    @staticmethod
    def _value(value, keys):
        """`@name` is the ID of the record with that key, `{d83d}` an unpaired surrogate."""
        if not isinstance(value, str):
            return value
        if value.startswith("@"):
            return keys[value[1:]]
        return re.sub(r"\{([0-9a-f]{4})\}", lambda found: chr(int(found[1], 16)), value)

    def _all_rows(self):
        return [(row, one) for one in self.catalog.objects.values() for row in self.records.rows[one.name].values()]

    def dump(self):
        """What happened so far, and the users."""
        return {
            "grants": self.logins.granted, "mishaps": self.mishaps.happened,
            "users": {user.username: user.id for user in self.logins.users.values()},
        }

    def shown(self, order):
        """All rows of an object, including deleted ones, without any habits."""
        one = self.catalog.object(order["object"])
        return [
            {field.name: rows.shown(field, row.get(field.name)) for field in one.fields.values()}
            for row in self.records.rows[one.name].values()]

    def select(self, order):
        """The result of a statement for a user, from the rows, without any habits."""
        user = self.logins.users[order["as"].lower()]
        statement = soql.Parser(order["q"]).statement()
        request = Request("GET", "", {}, b"", {})
        runner = soql.Runner(self.records, user)
        one, found = runner.rows(statement)
        cursor = Cursor(runner, one, statement, found)
        return [cursor.record(row, request) for row in found]

    def change(self, order):
        """A change by another user of the org: a record created, updated or deleted."""
        user = self.logins.users[order["as"].lower()]
        one = self.catalog.object(order["object"])
        if order.get("delete"):
            return {"id": self.records.delete(user, one, order["id"])}
        if "id" in order:
            return {"id": self.records.update(user, one, order["id"], order["values"])}
        return {"id": self.records.insert(user, one, order["values"])}

    # Processing of a request

    def answer(self, request):
        """The status and the value of the response; failures are raised."""
        request.user = self.logins.tokens.get(request.token)
        request.asker, asked = self._asked(request)
        request.chance = self.habits.draw(request.asker, asked)
        request.entry["user"] = request.username
        self.mishaps.before(request, request.chance, self.logins)
        if len(request.path) > LONGEST_ADDRESS:
            raise Refusal(414, "URI_TOO_LONG", "URI Too Long")
        status, value = self._dispatch(request)
        self.mishaps.after(request, request.chance)
        if isinstance(value, dict):
            value = with_extras(value, request.chance)
        return status, value

    def _asked(self, request):
        """The user and the request, without parts that change over time, so that a seed can be replayed."""
        if request.path == "/services/oauth2/token":
            form = dict(urllib.parse.parse_qsl(request.body.decode("utf-8", "replace")))
            return self.logins.named(form.pop("assertion", "")), repr((request.path, sorted(form.items())))
        # The token differs each time.
        body = request.body if not request.is_soap else re.sub(rb"sessionId>[^<]*<", b"", request.body)
        words = repr((request.method, request.path, sorted(request.query.items()), body))
        return self.logins.owners.get(request.token), MOMENT.sub("(a moment)", words)

    def _dispatch(self, request):
        if request.path == "/services/oauth2/token":
            form = dict(urllib.parse.parse_qsl(request.body.decode()))
            return 200, self.logins.grant(form, request.headers.get("host"), request.chance)
        if request.path.rstrip("/") == "/services/data":
            return 200, [
                {"label": f"Release {one}", "url": f"/services/data/v{one}", "version": one}
                for one in self.data["versions"]]
        request.user = self.logins.session(request.token)
        if request.path == "/services/oauth2/userinfo":
            return self._user_info(request)
        if request.user is None:
            raise Refusal(401, "INVALID_SESSION_ID", "Session expired or invalid")
        self.used_requests += 1
        if request.is_soap:
            return 200, soap.call(self, request)
        return self.resource(request)

    def resource(self, request):
        """A data resource of a version that the org has."""
        found = re.match(r"/services/data/v(\d+\.\d)/(.*)$", request.path)
        if not found or found[1] not in self.data["versions"]:
            raise NOT_FOUND
        request.version = found[1]
        for method, pattern, action in self.routes:
            match = pattern.match(found[2])
            if match and method == request.method:
                names = [urllib.parse.unquote(name) for name in match.groups()]
                return action(self, request, *names)
        raise NOT_FOUND

    def part(self, request, method, address, body, headers):
        """A part of a composite request."""
        inner = Request(method, address, headers | {"authorization": "Bearer " + request.token}, body, request.entry)
        inner.user, inner.asker, inner.chance = request.user, request.asker, request.chance
        return self.resource(inner)

    def _user_info(self, request):
        if request.user is None:
            raise Refusal(403, "Bad_OAuth_Token", "Bad_OAuth_Token")
        return 200, {
            "user_id": request.user.id, "organization_id": self.logins.organization,
            "preferred_username": request.user.username, "name": request.user.username, "active": True,
        }

    def headers(self):
        """The header fields of every response."""
        most = self.data.get("dailyRequests", 100_000)
        return {
            "Date": moments.http(self.records.now()), "Sforce-Limit-Info": f"api-usage={self.used_requests}/{most}"}


def limits(org, request):
    most = org.data.get("dailyRequests", 100_000)
    return 200, {"DailyApiRequests": {"Max": most, "Remaining": most - org.used_requests}}


def describe(org, request, name):
    return 200, org.catalog.described(rows.found(org, name), request.version)


def describe_all(org, request):
    summaries = [org.catalog.summary(one, request.version) for one in org.catalog.objects.values()]
    return 200, {"encoding": "UTF-8", "maxBatchSize": 200, "sobjects": summaries}


def recent(org, request, name):
    one = rows.found(org, name)
    seen = [row for row in org.records.rows[one.name].values() if org.records.visible(request.user, one, row["Id"])]
    items = [rows.record(org, request, one, row, ["Id"]) for row in seen[:5]]
    return 200, {"objectDescribe": org.catalog.summary(one, request.version), "recentItems": items}


ROUTES = [
    ("GET", r"query", lambda org, request: (200, org.queries.first(request, "query"))),
    ("GET", r"queryAll", lambda org, request: (200, org.queries.first(request, "queryAll"))),
    ("GET", r"(?:query|queryAll)/([^/]+)", lambda org, request, locator: (200, org.queries.next(request, locator))),
    ("GET", r"limits", limits),
    ("GET", r"sobjects", describe_all),
    ("GET", r"sobjects/([^/]+)", recent),
    ("GET", r"sobjects/([^/]+)/describe", describe),
    ("GET", r"sobjects/([^/]+)/deleted", changes.deleted),
    ("GET", r"sobjects/([^/]+)/updated", changes.updated),
    ("GET", r"sobjects/([^/]+)/([^/]+)", rows.read_row),
    ("POST", r"sobjects/([^/]+)", rows.create_row),
    ("PATCH", r"sobjects/([^/]+)/([^/]+)", rows.update_row),
    ("DELETE", r"sobjects/([^/]+)/([^/]+)", rows.delete_row),
    ("PATCH", r"sobjects/([^/]+)/([^/]+)/([^/]+)", rows.upsert_row),
    ("POST", r"composite", composite.composite),
    ("POST", r"composite/sobjects", rows.create_rows),
    ("PATCH", r"composite/sobjects", rows.update_rows),
    ("DELETE", r"composite/sobjects", rows.delete_rows),
    ("POST", r"composite/sobjects/([^/]+)", rows.retrieve),
    ("PATCH", r"composite/sobjects/([^/]+)/([^/]+)", rows.upsert_rows),
    ("GET", r"connect/briefcase/priming-records", briefcase.priming_records),
    *bulk.ROUTES,
]
