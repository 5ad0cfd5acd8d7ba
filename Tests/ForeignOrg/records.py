"""The rows of the org, their visibility, and writes."""

import re
import time

import identifiers
import moments
from refusal import Refusal

TEXTS = {"string", "textarea", "phone", "email", "url", "picklist"}


class Records:
    """Rows by object and ID. A date is stored in milliseconds, everything else as in JSON."""

    def __init__(self, catalog, offset_seconds):
        self.catalog = catalog
        self.rows = {one.name: {} for one in catalog.objects.values()}
        self.shares = {}
        self.offset = offset_seconds * 1000
        self.ticks = 0
        # By object: the order of two writes is random.
        self.last_numbers = {}

    def now(self):
        """The org's clock; it advances a second with each write, so that no two share one."""
        return int(time.time() * 1000) + self.offset + self.ticks * 1000

    # Reading

    def row(self, one, identifier):
        return self.rows[one.name].get(identifiers.normal(identifier) or "")

    def sees(self, user, one, row):
        """Whether a user may read a row: an own one, a shared one, or a public one."""
        if user.sees_all or one.is_setup or one.name == "Product2":
            return True
        return row["OwnerId"] == user.id or user.id in self.shares.get(row["Id"], ())

    def may_edit(self, user, one, row):
        return not one.is_setup and self.sees(user, one, row) and (one.name != "Product2" or user.sees_all)

    def visible(self, user, one, identifier):
        """An existing row that the user may read; None otherwise."""
        row = self.row(one, identifier)
        if row is None or row.get("IsDeleted") or not self.sees(user, one, row):
            return None
        return row

    # Writing

    def insert(self, user, one, values):
        self._may_write(one)
        now = self._tick()
        row = {name: None for name in (field.name for field in one.fields.values())}
        for field in one.fields.values():
            if field.type == "boolean":
                row[field.name] = False
        row.update(self._converted(user, one, values, None, is_new=True))
        number = self.last_numbers[one.name] = self.last_numbers.get(one.name, 0) + 1
        identifier = identifiers.make(one.prefix, number)
        for field in one.fields.values():
            if field.is_auto:
                row[field.name] = field.is_auto.replace("0" * 8, f"{number:08d}")
            if field.is_required and row[field.name] is None:
                raise self._missing(field)
        self._check(one, row)
        row |= {"Id": identifier, "CreatedById": user.id, "CreatedDate": now, "IsDeleted": False}
        row["OwnerId"] = row["OwnerId"] or user.id
        self._stamp(row, user, now)
        self.rows[one.name][identifier] = row
        return identifier

    def update(self, user, one, identifier, values):
        row = self._writable(user, one, identifier)
        changed = self._converted(user, one, values, row, is_new=False)
        self._check(one, row | changed)
        row |= changed
        self._stamp(row, user, self._tick())
        return row["Id"]

    def delete(self, user, one, identifier):
        row = self._writable(user, one, identifier)
        now = self._tick()
        row["IsDeleted"] = True
        self._stamp(row, user, now)
        return row["Id"]

    def undelete(self, user, one, identifier):
        """Restores a row from the recycle bin."""
        row = self.row(one, identifier)
        if row is None or not self.sees(user, one, row) or not row["IsDeleted"]:
            raise Refusal(500, "UNDELETE_FAILED", "Entity is not in the recycle bin")
        if not self.may_edit(user, one, row):
            raise Refusal(500, "INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id")
        row["IsDeleted"] = False
        self._stamp(row, user, self._tick())
        return row["Id"]

    def external(self, one, field, value):
        """The existing rows with a value in an external ID."""
        wanted = str(value).lower()
        return [
            row for row in self.rows[one.name].values()
            if not row["IsDeleted"] and row[field.name] is not None and str(row[field.name]).lower() == wanted
        ]

    def _tick(self):
        self.ticks += 1
        return self.now() // 1000 * 1000

    def _stamp(self, row, user, now):
        row |= {"LastModifiedById": user.id, "LastModifiedDate": now, "SystemModstamp": now}

    def _may_write(self, one):
        if one.is_setup:
            raise Refusal(400, "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", f"{one.name} cannot be written")

    def _writable(self, user, one, identifier):
        self._may_write(one)
        if identifiers.normal(identifier) is None:
            raise Refusal(400, "MALFORMED_ID", f"{one.name} ID: id value of incorrect type: {identifier}", ["Id"])
        row = self.row(one, identifier)
        if row is None or not self.sees(user, one, row):
            raise Refusal(400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")
        if row["IsDeleted"]:
            raise Refusal(404, "ENTITY_IS_DELETED", "entity is deleted")
        if not self.may_edit(user, one, row):
            raise Refusal(400, "INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id")
        return row

    def _converted(self, user, one, values, row, is_new):
        result = {}
        for name, value in values.items():
            field = one.field(name)
            if field is None:
                raise Refusal(400, "INVALID_FIELD", f"No such column '{name}' on sobject of type {one.name}")
            if not (field.is_createable if is_new else field.is_updateable):
                raise Refusal(
                    400, "INVALID_FIELD_FOR_INSERT_UPDATE",
                    f"Unable to create/update fields: {field.name}. Please check the security settings of this field "
                    "and verify that it is read/write for your profile or permission set.", [field.name])
            value = self._value(user, one, field, value)
            if value is None and field.is_required:
                raise self._missing(field)
            if field.is_external and value is not None:
                others = [other for other in self.external(one, field, value) if other is not row]
                if others:
                    raise Refusal(
                        400, "DUPLICATE_VALUE",
                        f"duplicate value found: {field.name} duplicates value on record with id: {others[0]['Id']}")
            result[field.name] = value
        return result

    def _value(self, user, one, field, value):
        if field.type == "boolean":
            if not isinstance(value, bool):
                raise self._wrong(field, value)
            return value
        if value is None or value == "":
            return None
        if field.type in TEXTS:
            if not isinstance(value, str):
                raise self._wrong(field, value)
            value = value.strip(" ") or None
            if value and len(value) > field.length:
                words = f"{field.name}: data value too large: {value[:40]} (max length={field.length})"
                raise Refusal(400, "STRING_TOO_LONG", words, [field.name])
            if field.values and value not in field.values:
                raise Refusal(
                    400, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
                    f"{field.name}: bad value for restricted picklist field: {value}", [field.name])
            return value
        if field.type == "reference":
            return self._reference(user, field, value)
        if field.type == "datetime":
            moment = moments.parse(value)
            if moment is None:
                raise self._wrong(field, value)
            return moment
        if field.type in ("double", "currency", "percent", "int"):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise self._wrong(field, value)
            return int(value) if field.type == "int" else float(value)
        if field.type == "time":
            moment = moments.of_day(value)
            if moment is None:
                raise self._wrong(field, value)
            return moment
        if field.type == "date" and not re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)):
            raise self._wrong(field, value)
        return value

    def _reference(self, user, field, value):
        identifier = identifiers.normal(value)
        if identifier is None:
            raise Refusal(400, "MALFORMED_ID", f"{field.name}: id value of incorrect type: {value}", [field.name])
        target = self.catalog.object(field.to)
        row = self.row(target, identifier)
        if row is not None and row.get("IsDeleted"):
            raise Refusal(400, "ENTITY_IS_DELETED", "entity is deleted", [field.name])
        if row is None or not self.sees(user, target, row):
            raise Refusal(400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", [field.name])
        return identifier

    @staticmethod
    def _missing(field):
        return Refusal(400, "REQUIRED_FIELD_MISSING", f"Required fields are missing: [{field.name}]", [field.name])

    @staticmethod
    def _wrong(field, value):
        return Refusal(
            400, "JSON_PARSER_ERROR", f"Cannot deserialize instance of {field.type} from {value!r} at {field.name}",
            [field.name])

    @staticmethod
    def _check(one, row):
        """The validation rules: a field with a value must match."""
        for rule in one.rules:
            value = row.get(rule["field"])
            if value is not None and not re.fullmatch(rule["matches"], str(value)):
                raise Refusal(400, "FIELD_CUSTOM_VALIDATION_EXCEPTION", rule["message"], [rule["field"]])
