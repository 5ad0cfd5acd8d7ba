"""Several requests in one, which may refer to results of earlier ones."""

import re
import urllib.parse

from refusal import Refusal

MOST_REQUESTS = 25
MOST_QUERIES = 5
REFERENCE = re.compile(r"@\{([A-Za-z_]\w*)\.([^}]+)\}")
NAME = re.compile(r"[A-Za-z_]\w*")


def composite(org, request):
    body = request.json()
    parts = body["compositeRequest"]
    if len(parts) > MOST_REQUESTS:
        raise Refusal(400, "LIMIT_EXCEEDED", f"no more than {MOST_REQUESTS} subrequests")
    names = [part["referenceId"] for part in parts]
    if len(set(names)) < len(names) or not all(NAME.fullmatch(name) for name in names):
        raise Refusal(400, "INVALID_INPUT", "a reference id is not of its own, or has other characters than letters")
    queries = sum(1 for part in parts if "/query" in part["url"] or "/composite/sobjects" in part["url"])
    if queries > MOST_QUERIES:
        raise Refusal(400, "LIMIT_EXCEEDED", f"no more than {MOST_QUERIES} queries and collections")
    done, results = {}, []
    for part in parts:
        status, answer = one(org, request, part, done)
        if status < 300:
            done[part["referenceId"]] = answer
        results.append({
            "body": answer, "httpHeaders": {}, "httpStatusCode": status, "referenceId": part["referenceId"]})
    return 200, {"compositeResponse": results}


def one(org, request, part, done):
    try:
        url = REFERENCE.sub(lambda found: urllib.parse.quote(str(value(found, done)), safe=""), part["url"])
        body = filled(part.get("body"), done)
        headers = {name.lower(): text for name, text in part.get("httpHeaders", {}).items()}
        return org.part(request, part["method"], url, body, headers)
    except Refusal as refusal:
        return refusal.status, refusal.of_resource()


def filled(body, done):
    """A body with its references resolved."""
    if isinstance(body, dict):
        return {name: filled(member, done) for name, member in body.items()}
    if isinstance(body, list):
        return [filled(item, done) for item in body]
    if isinstance(body, str):
        return REFERENCE.sub(lambda found: str(value(found, done)), body)
    return body


def value(found, done):
    """The value of a reference: `id`, or a path such as `records[0].Id`."""
    if found[1] not in done:
        raise Refusal(
            400, "PROCESSING_HALTED", f"Invalid reference specified. No value for {found[1]} found")
    place = done[found[1]]
    for name in re.findall(r"\w+", found[2]):
        try:
            place = place[int(name)] if name.isdigit() else place[name]
        except (KeyError, IndexError, TypeError):
            raise Refusal(
                400, "PROCESSING_HALTED", f"Invalid reference specified. No value for {found[0]} found") from None
    return place
