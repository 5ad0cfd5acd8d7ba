"""The variations in the org's responses, drawn from a seed for each request.

A draw depends on the seed, the user, the request and the number of earlier such requests, so that the order between
users has no effect. Concurrent requests of one user may still arrive in another order.
"""

import hashlib
import json
import random
import re

ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
PLAIN = re.compile(r'[ !#-.0-\[\]-~]*')


class Habits:
    """The seed, and the count of each request."""

    def __init__(self, seed):
        self.seed = seed
        self.made = {}
        # Habits that one org always has, and another never.
        own = random.Random(seed)
        self.blank = own.choice(("", "", " "))
        slash = own.choice(("/", "\\/"))
        self.letters = Letters(slash, False), Letters(slash, True)

    def draw(self, *what):
        """The random generator for the next request of this kind."""
        key = hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).hexdigest()
        self.made[key] = self.made.get(key, 0) + 1
        return random.Random(f"{self.seed}:{key}:{self.made[key]}")

    def write(self, value, chance):
        """A value as JSON: members in any order, letters escaped or not, with or without white space."""
        pieces = []
        Writer(chance, self.blank, self.letters, chance.choice((0.0, 0.0, 0.05, 1.0)), pieces.append).put(value)
        return "".join(pieces).encode("utf-8")


class Letters(dict):
    """What a letter is written as, computed once: escaped where it must be, or always."""

    def __init__(self, slash, escapes_all):
        super().__init__({ord("/"): slash} | {ord(letter): text for letter, text in ESCAPES.items()})
        self.escapes_all = escapes_all

    def __missing__(self, code):
        # An unpaired surrogate must be escaped; an org that truncated a text inside a character writes it this way.
        text = chr(code)
        if code < 0x20 or 0xD800 <= code < 0xE000 or self.escapes_all:
            if code > 0xFFFF:
                text = f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code - 0x10000 & 0x3FF):04X}"
            else:
                text = f"\\u{code:04x}"
        self[code] = text
        return text


class Writer:
    """Writes one response."""

    def __init__(self, chance, blank, letters, escapes, put):
        self.chance = chance
        self.blank = blank
        self.plain, self.escaped = letters
        self.escapes = escapes
        self.out = put
        self.names = {}

    def put(self, value):
        if isinstance(value, str):
            self.out('"' + self.text(value) + '"')
        elif isinstance(value, dict):
            members = list(value.items())
            self.chance.shuffle(members)
            self.out("{" + self.blank)
            comma = ""
            for name, member in members:
                self.out(comma + self.name(name))
                self.put(member)
                comma = ","
            self.out(self.blank + "}")
        elif value is None or isinstance(value, bool):
            self.out("null" if value is None else "true" if value else "false")
        elif isinstance(value, int):
            self.out(str(value))
        elif isinstance(value, float):
            self.out(number(value))
        else:
            self.out("[" + self.blank)
            for place, item in enumerate(value):
                self.out("," if place else "")
                self.put(item)
            self.out(self.blank + "]")

    def name(self, name):
        """A member's name with its colon; a response has the same few many times."""
        text = self.names.get(name)
        if text is None:
            text = self.names[name] = json.dumps(name) + ":" + self.blank
        return text

    def text(self, text):
        if not self.escapes:
            return text if PLAIN.fullmatch(text) else text.translate(self.plain)
        if self.escapes == 1:
            return text.translate(self.escaped)
        plain, escaped, chance, escapes = self.plain, self.escaped, self.chance.random, self.escapes
        return "".join([(escaped if chance() < escapes else plain)[ord(letter)] for letter in text])


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
