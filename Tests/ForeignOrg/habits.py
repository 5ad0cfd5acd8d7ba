"""The variations in the org's responses, drawn from a seed for each request.

A draw depends on the seed, the user, the request and the number of earlier such requests, so that the order between
users has no effect. Concurrent requests of one user may still arrive in another order.
"""

import hashlib
import json
import random

ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Habits:
    """The seed, and the count of each request."""

    def __init__(self, seed):
        self.seed = seed
        self.made = {}
        # Habits that one org always has, and another never.
        own = random.Random(seed)
        self.blank = own.choice(("", "", " "))
        self.slash = own.choice(("/", "\\/"))

    def draw(self, *what):
        """The random generator for the next request of this kind."""
        key = hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).hexdigest()
        self.made[key] = self.made.get(key, 0) + 1
        return random.Random(f"{self.seed}:{key}:{self.made[key]}")

    def write(self, value, chance):
        """A value as JSON: members in any order, letters escaped or not, with or without white space."""
        pieces = []
        Writer(chance, self.blank, self.slash, chance.choice((0.0, 0.0, 0.05, 1.0)), pieces.append).put(value)
        return "".join(pieces).encode("utf-8")


class Writer:
    """Writes one response."""

    def __init__(self, chance, blank, slash, escapes, put):
        self.chance = chance
        self.blank = blank
        self.slash = slash
        self.escapes = escapes
        self.out = put

    def put(self, value):
        if isinstance(value, str):
            self.out('"' + self.text(value) + '"')
        elif isinstance(value, bool) or value is None or isinstance(value, int):
            self.out(json.dumps(value))
        elif isinstance(value, float):
            self.out(number(value))
        elif isinstance(value, dict):
            members = list(value.items())
            self.chance.shuffle(members)
            self.out("{" + self.blank)
            for place, (name, member) in enumerate(members):
                self.out(("," if place else "") + json.dumps(name) + ":" + self.blank)
                self.put(member)
            self.out(self.blank + "}")
        else:
            self.out("[" + self.blank)
            for place, item in enumerate(value):
                self.out("," if place else "")
                self.put(item)
            self.out(self.blank + "]")

    def text(self, text):
        is_plain = text.isascii() and text.isprintable() and not any(letter in text for letter in '"\\/')
        return text if not self.escapes and is_plain else "".join(self.letter(letter) for letter in text)

    def letter(self, letter):
        code = ord(letter)
        is_escaped = self.escapes and self.chance.random() < self.escapes
        if letter == "/":
            return self.slash
        if letter in ESCAPES:
            return ESCAPES[letter]
        # An unpaired surrogate must be escaped; an org that truncated a text inside a character writes it this way.
        if code < 0x20 or 0xD800 <= code < 0xE000 or is_escaped:
            if code > 0xFFFF:
                code -= 0x10000
                return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04X}"
            return f"\\u{code:04x}"
        return letter


def number(value):
    """A double as Java writes it: 5.0, 1.39E8, 1.0E-4."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    mantissa, exponent = f"{value:.17e}".split("e")
    for digits in range(1, 18):
        text = f"{value:.{digits}e}"
        if float(text) == value:
            mantissa, exponent = text.split("e")
            break
    mantissa = mantissa.rstrip("0")
    return mantissa + ("0" if mantissa.endswith(".") else "") + "E" + str(int(exponent))


def with_extras(value, chance):
    """An object that sometimes has members unknown to clients."""
    if chance.random() < 0.3:
        return value | {"futureMember": chance.choice((None, 1, [{"a": {}}], {"done": False, "records": []}))}
    return value
