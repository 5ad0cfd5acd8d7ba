"""Record IDs: 15 case-sensitive characters, or 18 with a suffix that encodes the case."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def long_form(short):
    """The 18 characters of a 15-character ID."""
    tail = ""
    for start in (0, 5, 10):
        group = short[start : start + 5]
        tail += LETTERS[sum(1 << place for place, letter in enumerate(group) if "A" <= letter <= "Z")]
    return short + tail


def normal(text):
    """The 18 characters of an ID in either form; None for an invalid ID."""
    if not isinstance(text, str) or not text.isascii() or not text.isalnum():
        return None
    if len(text) == 15:
        return long_form(text)
    if len(text) == 18 and long_form(text[:15]).lower() == text.lower():
        return long_form(text[:15])
    return None


def make(prefix, number):
    """The ID of the record with this number."""
    digits = ""
    for _ in range(9):
        number, digit = divmod(number, 62)
        digits = DIGITS[digit] + digits
    return long_form(prefix + "Fo0" + digits)
