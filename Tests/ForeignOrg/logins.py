"""Users, connected apps, and the tokens that they get."""

import base64
import hashlib
import hmac
import json

import identifiers
import signature
from refusal import Refusal

JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class User:
    """The acting user."""

    def __init__(self, identifier, line):
        self.id = identifier
        self.username = line["username"]
        self.sees_all = line.get("seesAll", False)


class Logins:
    """The token endpoint, and the active sessions."""

    def __init__(self, organization, apps, lines, records, instances):
        self.organization = organization
        self.apps = apps
        self.records = records
        self.instances = instances
        self.users = {}
        self.tokens = {}
        # The user names of all tokens, including those no longer valid.
        self.owners = {}
        self.used = {}
        self.refresh_tokens = {}
        self.granted = 0
        profiles = {}
        for number, line in enumerate(lines):
            name = line["profile"]
            if name not in profiles:
                profiles[name] = identifiers.make("00e", len(profiles) + 1)
                self._row("Profile", profiles[name], {"Name": name})
            user = User(identifiers.make("005", number + 1), line)
            self.users[user.username.lower()] = user
            self._row("User", user.id, {
                "Username": user.username, "Name": user.username.split("@")[0], "IsActive": True,
                "ProfileId": profiles[name], "Email": user.username,
            })
            self.refresh_tokens["refresh-" + user.username] = user

    def _row(self, name, identifier, values):
        one = self.records.catalog.object(name)
        row = {field.name: None for field in one.fields.values()}
        now = self.records.now() // 1000 * 1000
        dates = {"CreatedDate": now, "LastModifiedDate": now, "SystemModstamp": now}
        self.records.rows[one.name][identifier] = row | dates | values | {"Id": identifier}

    # Sessions

    def session(self, token):
        """The user of a token, counting its use; None if it is no longer valid."""
        user = self.tokens.get(token)
        if user is not None:
            self.used[token] = self.used.get(token, 0) + 1
        return user

    def end(self, token):
        """Ends all sessions of a token's user."""
        user = self.tokens.get(token)
        self.tokens = {one: other for one, other in self.tokens.items() if other is not user}

    def grant(self, form, host, chance):
        """The result of a login."""
        kind = form.get("grant_type")
        rotated = None
        secret = self.apps.get(form.get("client_id"), {}).get("secret") or f"{chance.getrandbits(64):x}"
        if kind == JWT:
            user = self._by_assertion(form.get("assertion", ""))
        elif kind == "client_credentials":
            app = self._app(form.get("client_id"))
            if not app.get("secret") or form.get("client_secret") != app["secret"]:
                raise Refusal(400, "invalid_client", "invalid client credentials")
            user = self.users[app["runsAs"].lower()]
        elif kind == "refresh_token":
            app = self._app(form.get("client_id"))
            if app.get("secret") and form.get("client_secret") != app["secret"]:
                raise Refusal(400, "invalid_client", "invalid client credentials")
            # Each token is valid once.
            user = self.refresh_tokens.pop(form.get("refresh_token"), None)
            if user is None:
                raise Refusal(400, "invalid_grant", "expired access/refresh token")
            rotated = f"refresh-{self.granted}-{user.username}"
            self.refresh_tokens[rotated] = user
        else:
            raise Refusal(400, "unsupported_grant_type", "grant type not supported")
        self.granted += 1
        token = f"{self.organization[:15]}!AQ{self.granted:06d}.{chance.getrandbits(96):024x}"
        self.tokens[token] = user
        self.owners[token] = user.username
        organization, identifier = self.organization, user.id
        if chance.random() < 0.3:
            organization, identifier = organization[:15], identifier[:15]
        identity = f"https://login.example.com/id/{organization}/{identifier}"
        issued = str(self.records.now())
        seal = hmac.new(secret.encode(), (identity + issued).encode(), hashlib.sha256).digest()
        answer = {
            "access_token": token, "instance_url": self.instances[self.granted % len(self.instances)],
            "id": identity, "token_type": "Bearer", "issued_at": issued,
            "signature": base64.b64encode(seal).decode(), "scope": "api refresh_token",
        }
        return answer | ({"refresh_token": rotated} if rotated else {})

    def _app(self, identifier):
        app = self.apps.get(identifier)
        if app is None:
            raise Refusal(400, "invalid_client_id", "client identifier invalid")
        return app

    @staticmethod
    def named(assertion):
        """The user of an assertion, valid or not; its times and signature differ each time."""
        try:
            return json.loads(signature.decode(assertion.split(".")[1])).get("sub")
        except (AttributeError, IndexError, TypeError, ValueError):
            return None

    def _by_assertion(self, assertion):
        try:
            head, claims, sealed = assertion.split(".")
            header = json.loads(signature.decode(head))
            told = json.loads(signature.decode(claims))
            expires = int(told["exp"])
            seal = signature.decode(sealed)
        except (ValueError, KeyError, TypeError):
            raise Refusal(400, "invalid_grant", "invalid assertion") from None
        app = self._app(told.get("iss"))
        key = signature.public_key(app["certificate"])
        if header.get("alg") != "RS256" or not signature.is_good(f"{head}.{claims}".encode(), seal, key):
            raise Refusal(400, "invalid_grant", "invalid assertion")
        # The server that logs users in is half a minute behind.
        now = self.records.now() // 1000 - 30
        if not now < expires <= now + 180:
            raise Refusal(400, "invalid_grant", "expired authorization code")
        if not str(told.get("aud", "")).startswith("http"):
            raise Refusal(400, "invalid_grant", "audience is invalid")
        user = self.users.get(str(told.get("sub")).lower())
        if user is None:
            raise Refusal(400, "invalid_grant", "user hasn't approved this consumer")
        return user
