"""Failures of the org: ordered by a test, or random.

An order names a kind, and optionally a method, a part of the path, a user and the number of the matching request.
For random failures, each kind has a rate and a limit per user, so that a client that retries properly succeeds, and
the order between users has no effect.
"""

from refusal import Refusal

PAGE = "<html><head><title>Down for maintenance</title></head><body><p>We will be back.</p></body></html>"
REQUESTS_TO_A_SESSION = 8


class Cut(Exception):
    """The connection breaks; the request was executed or not."""


class Page(Exception):
    """An HTML page with this status."""

    def __init__(self, status, headers=()):
        super().__init__()
        self.status = status
        self.headers = dict(headers)


class Mishaps:
    """The orders, the rates, and the failures so far."""

    def __init__(self, rates):
        self.rates = rates
        self.orders = []
        self.happened = {}
        self.met = {}

    def order(self, one):
        self.orders.append({"nth": 1, "times": 1, "seen": 0} | one)

    def strikes(self, kind, request, chance):
        """Whether this failure happens to this request; called once per kind."""
        by_order = False
        for one in self.orders:
            if one["kind"] == kind and self._fits(one, request):
                one["seen"] += 1
                by_order |= one["nth"] <= one["seen"] < one["nth"] + one["times"]
        rate, most = self.rates.get(kind, (0, 0))
        key = (kind, request.asker)
        by_chance = chance.random() < rate and self.met.get(key, 0) < most
        if by_order or by_chance:
            self.happened[kind] = self.happened.get(kind, 0) + 1
            self.met[key] = self.met.get(key, 0) + 1
        return by_order or by_chance

    @staticmethod
    def _fits(order, request):
        return (
            request.method == order.get("method", request.method) and order.get("path", "") in request.path
            and order.get("user", request.username) == request.username
        )

    def before(self, request, chance, logins):
        """Failures before the org processes a request."""
        is_new = logins.used.get(request.token, 0) < REQUESTS_TO_A_SESSION
        ordered = any(one["kind"] == "session" for one in self.orders)
        if (ordered or not is_new) and self.strikes("session", request, chance):
            logins.end(request.token)
        if self.strikes("cut before", request, chance):
            raise Cut
        for kind, page in (
            ("page 200", Page(200)), ("page 503", Page(503)),
            ("page 502", Page(502)), ("redirect", Page(302, {"Location": "https://elsewhere.example.com/"})),
        ):
            if self.strikes(kind, request, chance):
                raise page
        if self.strikes("unavailable", request, chance):
            raise Refusal(503, "SERVER_UNAVAILABLE", "The server is too busy. Please try again later.")
        if self.strikes("busy", request, chance):
            raise Refusal(429, "TOO_MANY_REQUESTS", "Too many requests.")
        if self.strikes("limit", request, chance):
            raise Refusal(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")
        if self.strikes("error 500", request, chance):
            raise Refusal(500, "UNKNOWN_EXCEPTION", "An unexpected error occurred. Please include this ErrorId: 1-2.")

    def after(self, request, chance):
        """Failures after the org has executed it."""
        if self.strikes("page 500 after", request, chance):
            raise Page(500)
        if self.strikes("cut after", request, chance):
            raise Cut
