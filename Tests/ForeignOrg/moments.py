"""Moments in milliseconds since 1970, and the texts that an org writes and reads for them."""

import datetime
import email.utils
import functools
import re

UTC = datetime.timezone.utc
SHAPE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?(Z|[+-]\d\d:?\d\d)$"
)


def parse(text):
    """The milliseconds of an ISO 8601 text; None for another form."""
    found = SHAPE.match(text) if isinstance(text, str) else None
    if not found:
        return None
    parts = [int(part) for part in found.groups()[:6]]
    try:
        moment = datetime.datetime(*parts, tzinfo=UTC)
    except ValueError:
        return None
    milliseconds = int(moment.timestamp()) * 1000 + int((found[7] or "0").ljust(3, "0"))
    if found[8] != "Z":
        sign = -1 if found[8][0] == "+" else 1
        digits = found[8][1:].replace(":", "")
        milliseconds += sign * (int(digits[:2]) * 60 + int(digits[2:])) * 60_000
    return milliseconds


def of_day(text):
    """A time of day as orgs write it; None for another form."""
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?Z?", str(text))
    return f"{found[1]}:{found[2]}:{found[3]}.{(found[4] or '').ljust(3, '0')}Z" if found else None


@functools.lru_cache(maxsize=10_000)
def text(milliseconds, zone="+0000"):
    """The format of a row: to the second, with three zeros."""
    moment = datetime.datetime.fromtimestamp(milliseconds // 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + ".000" + zone


def http(milliseconds):
    """The format of a header field."""
    return email.utils.formatdate(milliseconds // 1000, usegmt=True)


def from_http(value):
    """The milliseconds of a header field; None for another form."""
    try:
        return int(email.utils.parsedate_to_datetime(value).timestamp()) * 1000
    except (TypeError, ValueError):
        return None
