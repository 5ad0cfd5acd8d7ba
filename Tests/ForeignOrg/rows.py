"""Rows, one at a time and in collections: read, created, updated and deleted."""

import moments
from queries import attributes, shown
from refusal import Refusal

MOST_OF_A_COLLECTION = 200
MOST_RETRIEVED = 2000
MOST_RUNS_OF_A_TYPE = 10


def found(org, name):
    one = org.catalog.object(name)
    if one is None:
        raise Refusal(404, "NOT_FOUND", "The requested resource does not exist")
    return one


def record(org, request, one, row, names=None):
    """A row as JSON, with the named fields or all of them."""
    fields = one.fields.values() if names is None else [field_of(one, name) for name in names]
    values = {field.name: shown(field, row.get(field.name)) for field in fields}
    return {"attributes": attributes(one, row, request)} | values


def field_of(one, name):
    field = one.field(name)
    if field is None:
        raise Refusal(400, "INVALID_FIELD", f"No such column '{name}' on entity '{one.name}'")
    return field


def given_id(identifier, chance):
    """An ID in a result: older orgs return 15 characters."""
    return identifier[:15] if chance.random() < 0.3 else identifier


# Single rows


def create_row(org, request, name):
    one = found(org, name)
    identifier = write(org, request, one, lambda: org.records.insert(request.user, one, values(request.json())))
    return 201, {"id": given_id(identifier, request.chance), "success": True, "errors": []}


def read_row(org, request, name, identifier):
    one = found(org, name)
    row = org.records.visible(request.user, one, identifier)
    if row is None:
        raise Refusal(404, "NOT_FOUND", "The requested resource does not exist")
    since = moments.from_http(request.headers.get("if-modified-since"))
    if since is not None and row["LastModifiedDate"] <= since:
        return 304, None
    names = request.query["fields"].split(",") if "fields" in request.query else None
    return 200, record(org, request, one, row, names)


def update_row(org, request, name, identifier):
    one = found(org, name)
    given = values(request.json())
    if any(key.lower() == "id" for key in given):
        raise Refusal(400, "INVALID_FIELD", "The Id field should not be specified in the sobject data.")
    unmodified(org, request, one, identifier)
    try:
        write(org, request, one, lambda: org.records.update(request.user, one, identifier, given))
    except Refusal as refusal:
        raise of_one_row(refusal) from None
    return 204, None


def delete_row(org, request, name, identifier):
    one = found(org, name)
    try:
        write(org, request, one, lambda: org.records.delete(request.user, one, identifier))
    except Refusal as refusal:
        raise of_one_row(refusal) from None
    return 204, None


def upsert_row(org, request, name, field_name, value):
    one = found(org, name)
    field = one.field(field_name)
    if field is None or not field.is_external:
        raise Refusal(
            404, "NOT_FOUND", f"Provided external ID field does not exist or is not accessible: {field_name}")
    matches = org.records.external(one, field, value)
    if len(matches) > 1:
        return 300, [attributes(one, row, request)["url"] for row in matches]
    given = values(request.json())
    if matches:
        identifier = write(
            org, request, one, lambda: org.records.update(request.user, one, matches[0]["Id"], given))
    else:
        identifier = write(
            org, request, one, lambda: org.records.insert(request.user, one, given | {field.name: value}))
    answer = {"id": identifier, "success": True, "errors": [], "created": not matches}
    return (200 if matches else 201), answer


def unmodified(org, request, one, identifier):
    """An unmet condition prevents a change."""
    condition = request.headers.get("if-unmodified-since")
    if condition is None:
        return
    moment = moments.from_http(condition)
    if moment is None:
        raise Refusal(400, "INVALID_HTTP_HEADER", "If-Unmodified-Since is no date")
    row = org.records.visible(request.user, one, identifier)
    if row is not None and row["LastModifiedDate"] // 1000 > moment // 1000:
        raise Refusal(412, "PRECONDITION_FAILED", "One or more conditions in the request failed.")


def of_one_row(refusal):
    """A missing row is a missing resource."""
    if refusal.code == "INVALID_CROSS_REFERENCE_KEY" and not refusal.fields:
        return Refusal(404, "NOT_FOUND", "Provided external ID field does not exist or is not accessible")
    return refusal


def values(body):
    if not isinstance(body, dict):
        raise Refusal(400, "JSON_PARSER_ERROR", "The body is no object")
    return {name: value for name, value in body.items() if name != "attributes"}


def write(org, request, one, body):
    """Executes a write, unless another user has locked the row; successful writes are logged."""
    if org.mishaps.strikes("lock", request, request.chance):
        raise Refusal(400, "UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access to this record or 1 records: 001")
    identifier = body()
    request.entry["did"] += 1
    return identifier


# Collections


def retrieve(org, request, name):
    one = found(org, name)
    body = request.json()
    if len(body["ids"]) > MOST_RETRIEVED:
        raise Refusal(400, "EXCEEDED_MAX_SIZE_REQUEST", "record limit reached. cannot submit more than 2000 records")
    for name in body["fields"]:
        field_of(one, name)
    rows = [org.records.visible(request.user, one, identifier) for identifier in body["ids"]]
    return 200, [row and record(org, request, one, row, body["fields"]) for row in rows]


def create_rows(org, request):
    return save(org, request, lambda one, given: org.records.insert(request.user, one, given))


def update_rows(org, request):
    def update(one, given):
        name = next((name for name in given if name.lower() == "id"), None)
        if name is None:
            raise Refusal(400, "MISSING_ARGUMENT", "Id not specified in an update call", ["Id"])
        identifier = given.pop(name)
        return org.records.update(request.user, one, identifier, given)

    return save(org, request, update)


def upsert_rows(org, request, name, field_name):
    target = found(org, name)
    field = target.field(field_name)
    if field is None or not (field.is_external or field.type == "id"):
        raise Refusal(400, "INVALID_FIELD", f"{field_name} is no external id of {name}")

    def upsert(one, given):
        if one is not target:
            raise Refusal(400, "INVALID_FIELD", f"the records must be of {target.name}")
        value = given.pop(field.name, None)
        if value is None:
            raise Refusal(400, "MISSING_ARGUMENT", f"{field.name} not specified", [field.name])
        matches = org.records.external(one, field, value)
        if len(matches) > 1:
            raise Refusal(400, "DUPLICATE_VALUE", f"{field.name}: more than one record found for external id field")
        if matches:
            return org.records.update(request.user, one, matches[0]["Id"], given), False
        return org.records.insert(request.user, one, given | {field.name: value}), True

    return save(org, request, upsert)


def delete_rows(org, request):
    identifiers_given = [one for one in request.query.get("ids", "").split(",") if one]
    check_size(identifiers_given)
    results = []
    for identifier in identifiers_given:
        one = org.catalog.of_prefix(identifier)
        results.append(result(org, request, one, lambda: org.records.delete(request.user, one, identifier)))
    return 200, results


def save(org, request, change):
    body = request.json()
    given = body["records"]
    check_size(given)
    types = [one["attributes"]["type"].lower() for one in given]
    runs = sum(1 for place, name in enumerate(types) if place == 0 or types[place - 1] != name)
    if runs > MOST_RUNS_OF_A_TYPE:
        raise Refusal(
            400, "INVALID_INPUT",
            "Cannot have more than 10 chunks in a single operation. Please rearrange the data to reduce chunking.")
    results = []
    for each in given:
        one = org.catalog.object(each["attributes"]["type"])
        results.append(result(org, request, one, lambda: change(one, values(each))))
    return 200, results


def check_size(given):
    if len(given) > MOST_OF_A_COLLECTION:
        raise Refusal(400, "EXCEEDED_MAX_SIZE_REQUEST", "record limit reached. cannot submit more than 200 records")


def result(org, request, one, body):
    """The result of one row in a collection."""
    try:
        if one is None:
            raise Refusal(400, "INVALID_TYPE", "sObject type is not supported")
        answer = write(org, request, one, body)
    except Refusal as refusal:
        return {"success": False, "errors": [refusal.of_row()]}
    identifier, created = answer if isinstance(answer, tuple) else (answer, None)
    done = {"id": given_id(identifier, request.chance), "success": True, "errors": []}
    return done if created is None else done | {"created": created}
