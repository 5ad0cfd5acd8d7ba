"""The SOQL that clients use: parsed into a statement, and run on rows.

It is as strict as orgs about common mistakes: mixed AND and OR need parentheses, a field is selected only once,
dates are unquoted and texts quoted, and long text is neither compared nor sorted.
"""

import datetime
import re

import identifiers
import moments
from refusal import Refusal

TOKENS = re.compile(
    r"\s*(?:(?P<text>'(?:[^'\\]|\\.)*')"
    r"|(?P<moment>\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:?\d\d))|(?P<date>\d{4}-\d\d-\d\d)"
    r"|(?P<time>\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)"
    r"|(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][\w.]*(?::\d+)?)|(?P<mark><=|>=|!=|<>|[=<>(),]))",
    re.S,
)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
OPERATORS = {"=", "!=", "<>", "<", "<=", ">", ">=", "like", "in", "not"}
FUNCTIONS = {"tolabel", "format"}
CLAUSES = {"from", "where", "order", "limit", "offset", "for", "all", "using", "group", "having", "with"}


def malformed(message):
    return Refusal(400, "MALFORMED_QUERY", message)


class Statement:
    """A parsed statement."""

    def __init__(self):
        self.fields = []
        # The functions of fields: the name, the field's path, and the name in the record.
        self.functions = []
        self.nested = []
        self.is_count = False
        self.source = ""
        self.condition = None
        self.order = []
        self.limit = None
        self.offset = 0


class Parser:
    """Parses a statement."""

    def __init__(self, text):
        self.tokens = []
        at = 0
        text = text.strip()
        while at < len(text):
            found = TOKENS.match(text, at)
            if not found or found.end() == at:
                raise malformed(f"unexpected token: '{text[at:at + 12]}'")
            self.tokens.append((found.lastgroup, found.group(found.lastgroup)))
            at = found.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def word(self):
        kind, text = self.peek()
        return text.lower() if kind in ("word", "mark") else ""

    def take(self):
        token = self.peek()
        self.at += 1
        return token

    def expect(self, text):
        if self.word() != text:
            raise malformed(f"expecting '{text}', found '{self.peek()[1] or '<EOF>'}'")
        self.at += 1

    def accept(self, text):
        if self.word() == text:
            self.at += 1
            return True
        return False

    def statement(self):
        """The whole text, which must end with the statement."""
        result = self.select()
        if self.peek()[0] != "end":
            raise malformed(f"unexpected token: '{self.peek()[1]}'")
        return result

    def select(self):
        result = Statement()
        self.expect("select")
        while True:
            if self.accept("("):
                result.nested.append(self.select())
                self.expect(")")
            else:
                name = self.name()
                if self.accept("("):
                    self.function(name.lower(), result)
                else:
                    result.fields.append(name)
            if not self.accept(","):
                break
        self.expect("from")
        result.source = self.name()
        if self.peek()[0] == "word" and self.word() not in CLAUSES:
            self.take()
        if self.accept("where"):
            result.condition = self.conditions()
        if self.accept("order"):
            self.expect("by")
            result.order = self.order()
        if self.accept("limit"):
            result.limit = self.integer()
        if self.accept("offset"):
            result.offset = self.integer()
        if self.accept("for"):
            self.take()
        return result

    def function(self, name, statement):
        """A function in the list of fields, with its alias; without one it is named after its field."""
        if name == "count" and self.accept(")"):
            statement.is_count = True
            return
        if name not in FUNCTIONS:
            raise malformed(f"unexpected token: '{name}'")
        path = self.name()
        self.expect(")")
        has_alias = self.peek()[0] == "word" and self.word() not in CLAUSES
        statement.functions.append((name, path, self.take()[1] if has_alias else path.split(".")[-1]))

    def name(self):
        kind, text = self.take()
        if kind != "word":
            raise malformed(f"unexpected token: '{text}'")
        return text

    def integer(self):
        kind, text = self.take()
        if kind != "number" or not text.isdigit():
            raise malformed(f"unexpected token: '{text}'")
        return int(text)

    def order(self):
        terms = []
        while True:
            name, descends, nulls = self.name(), False, None
            if not self.accept("asc"):
                descends = self.accept("desc")
            if self.accept("nulls"):
                nulls = self.take()[1].lower()
            terms.append((name, descends, nulls or "first"))
            if not self.accept(","):
                return terms

    def conditions(self):
        """Terms with the same operator between them; mixing operators needs parentheses."""
        terms = [self.condition()]
        joint = self.word() if self.word() in ("and", "or") else None
        while joint and self.accept(joint):
            terms.append(self.condition())
        if self.word() in ("and", "or"):
            raise malformed(f"unexpected token: {self.peek()[1]}")
        return (joint, terms) if joint else terms[0]

    def condition(self):
        if self.accept("not"):
            return ("negation", self.condition())
        if self.accept("("):
            inner = self.conditions()
            self.expect(")")
            return inner
        name = self.name()
        operator = self.take()[1].lower()
        if operator not in OPERATORS:
            raise malformed(f"unexpected token: '{operator}'")
        if operator == "not":
            self.expect("in")
            operator = "not in"
        if operator in ("in", "not in"):
            self.expect("(")
            if self.word() == "select":
                value = ("select", self.select())
            else:
                value = ("list", self.list())
            self.expect(")")
        else:
            value = self.value()
        return ("comparison", name, "!=" if operator == "<>" else operator, value)

    def list(self):
        values = [self.value()]
        while self.accept(","):
            values.append(self.value())
        return values

    def value(self):
        kind, text = self.take()
        if kind == "text":
            return ("text", re.sub(r"\\(.)", lambda one: ESCAPES.get(one[1], one[1]), text[1:-1]))
        if kind == "moment":
            return ("moment", moments.parse(text))
        if kind in ("date", "time", "number"):
            return (kind, float(text) if kind == "number" else text)
        if kind == "word" and text.lower() in ("true", "false", "null"):
            return ("literal", {"true": True, "false": False, "null": None}[text.lower()])
        raise malformed(f"unexpected token: '{text}'")


class Runner:
    """Runs statements on the records as one user."""

    def __init__(self, records, user, includes_deleted=False):
        self.records = records
        self.catalog = records.catalog
        self.user = user
        self.includes_deleted = includes_deleted

    def object(self, name):
        one = self.catalog.object(name)
        if one is None:
            raise Refusal(400, "INVALID_TYPE", f"sObject type '{name}' is not supported.")
        return one

    def rows(self, statement):
        """The rows that a statement selects, in its order and within its limits."""
        one = self.object(statement.source)
        for name in statement.fields:
            self.path(one, name)
        for _, name, _ in statement.functions:
            self.path(one, name)
        names = [name.lower() for name in statement.fields] + [label.lower() for _, _, label in statement.functions]
        doubles = [name for name in names if names.count(name) > 1]
        if doubles:
            raise malformed(f"duplicate field selected: {doubles[0]}")
        for nested in statement.nested:
            self.child(one, nested)
        matches = self.predicate(one, statement.condition)
        found = [
            row for row in self.records.rows[one.name].values()
            if (self.includes_deleted or not row.get("IsDeleted")) and self.records.sees(self.user, one, row)
            and matches(row)
        ]
        for name, descends, nulls in reversed(statement.order):
            steps, field = self.path(one, name)
            if not field.is_filterable:
                raise Refusal(400, "INVALID_FIELD", f"field '{name}' can not be sorted in a query call")
            self.sort(found, lambda row: self.follow(row, steps, field), descends, nulls)
        if statement.offset > 2000:
            raise Refusal(400, "NUMBER_OUTSIDE_VALID_RANGE", "Maximum SOQL offset allowed is 2000")
        end = None if statement.limit is None else statement.offset + statement.limit
        return one, found[statement.offset : end]

    @staticmethod
    def sort(rows, value, descends, nulls):
        def key(row):
            found = value(row)
            return found.lower() if isinstance(found, str) and len(found) != 18 else found

        empty = [row for row in rows if value(row) is None]
        full = sorted((row for row in rows if value(row) is not None), key=key, reverse=descends)
        rows[:] = empty + full if nulls == "first" else full + empty

    def path(self, one, name):
        """The relationships in the path of a name, and the field at its end."""
        steps, parts = [], name.split(".")
        for part in parts[:-1]:
            field = next(
                (each for each in one.fields.values() if (each.relationship or "").lower() == part.lower()), None)
            if field is None:
                raise Refusal(400, "INVALID_FIELD", f"Didn't understand relationship '{part}' in field path.")
            steps.append((field, self.object(field.to)))
            one = steps[-1][1]
        field = one.field(parts[-1])
        if field is None and parts[-1].lower() == "type" and steps and steps[-1][0].others:
            # Every object that the reference may refer to has a type: its own name.
            field = self.catalog.type
        if field is None:
            raise Refusal(
                400, "INVALID_FIELD",
                f"\nERROR at Row:1:Column:8\nNo such column '{name}' on entity '{one.name}'. If you are attempting to "
                "use a custom field, be sure to append the '__c' after the custom field name.")
        return steps, field

    def follow(self, row, steps, field):
        for way, target in steps:
            row = self.records.rows[target.name].get(row[way.name] or "")
            if row is None:
                return None
        return self.catalog.of_prefix(row["Id"]).name if field is self.catalog.type else row.get(field.name)

    def child(self, one, nested):
        """The object and the field of a subquery's relationship."""
        for child, field in self.catalog.children(one):
            if (field.children or "").lower() == nested.source.lower():
                return child, field
        raise Refusal(
            400, "INVALID_TYPE", f"Didn't understand relationship '{nested.source}' in FROM part of query call.")

    def predicate(self, one, condition):
        if condition is None:
            return lambda row: True
        if condition[0] in ("and", "or"):
            parts = [self.predicate(one, part) for part in condition[1]]
            quantifier = all if condition[0] == "and" else any
            return lambda row: quantifier(part(row) for part in parts)
        if condition[0] == "negation":
            inner = self.predicate(one, condition[1])
            return lambda row: not inner(row)
        _, name, operator, value = condition
        steps, field = self.path(one, name)
        if not field.is_filterable:
            raise Refusal(400, "INVALID_FIELD", f"field '{name}' can not be filtered in a query call")
        if operator in ("in", "not in"):
            wanted = self.wanted(field, value)
            is_in = operator == "in"
            return lambda row: (folded(field, self.follow(row, steps, field)) in wanted) == is_in
        return self.comparison(steps, field, operator, self.literal(field, value))

    def wanted(self, field, value):
        if value[0] == "list":
            return {folded(field, self.literal(field, one)) for one in value[1]}
        inner = Runner(self.records, self.user, self.includes_deleted)
        one, rows = inner.rows(value[1])
        steps, selected = self.path(one, value[1].fields[0])
        if selected.type not in ("id", "reference"):
            raise malformed("The inner select field must be an id")
        return {folded(field, inner.follow(row, steps, selected)) for row in rows}

    def comparison(self, steps, field, operator, wanted):
        if operator == "like":
            pattern = re.compile(
                "".join({"%": ".*", "_": "."}.get(one, re.escape(one)) for one in wanted or ""), re.I | re.S)
            return lambda row: bool(pattern.fullmatch(self.follow(row, steps, field) or ""))
        wanted = folded(field, wanted)

        def holds(row):
            value = folded(field, self.follow(row, steps, field))
            if operator in ("=", "!="):
                return (value == wanted) == (operator == "=")
            if value is None or wanted is None:
                return False
            if operator == "<":
                return value < wanted
            if operator == "<=":
                return value <= wanted
            return value > wanted if operator == ">" else value >= wanted

        return holds

    def literal(self, field, value):
        """A value in the form of the field's rows; refused if its form does not fit the field's type."""
        kind, content = value
        if kind == "literal" and (content is None or field.type == "boolean"):
            return content
        if field.type == "datetime":
            if kind == "moment" and content is not None:
                return content
        elif field.type == "date":
            if kind == "date":
                return datetime.date.fromisoformat(content).isoformat()
        elif field.type == "time":
            if kind == "time":
                return moments.of_day(content)
        elif field.type in ("double", "currency", "percent", "int"):
            if kind == "number":
                return content
        elif field.type in ("id", "reference") and kind == "text":
            identifier = identifiers.normal(content)
            if identifier is None and content:
                raise Refusal(400, "INVALID_QUERY_FILTER_OPERATOR", f"invalid ID field: {content}")
            return identifier
        elif field.type != "boolean" and kind == "text":
            return content
        raise Refusal(
            400, "INVALID_FIELD",
            f"value of filter criterion for field '{field.name}' must be of type {field.type} and should "
            + ("not be enclosed in quotes" if kind == "text" else "be enclosed in quotes"))


def folded(field, value):
    """A value for comparison: texts ignoring case, IDs with case."""
    if isinstance(value, str) and field.type not in ("id", "reference"):
        return value.lower()
    return value
