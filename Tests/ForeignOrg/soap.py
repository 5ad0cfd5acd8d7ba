"""The only SOAP call of the org: `undelete`."""

import html
import re

import rows
from refusal import Refusal

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
PARTNER = "urn:partner.soap.sforce.com"
PATH = re.compile(r"/services/Soap/u/(\d+\.\d)(?:/00D\w+)?$")


def parsed(body):
    """The envelope of a call; raises a refusal if it is invalid."""
    # Imported late: Python's own `copy`, which it imports, looks for a module named `org`.
    import xml.etree.ElementTree as tree

    try:
        return tree.fromstring(body)
    except tree.ParseError as error:
        raise Refusal(500, "soapenv:Client", str(error)) from None


class Envelope(str):
    """A response that is sent unchanged."""


def token(body):
    """The session in a call; None if there is none."""
    try:
        return parsed(body).findtext(f"{{{ENVELOPE}}}Header/{{{PARTNER}}}SessionHeader/{{{PARTNER}}}sessionId")
    except Refusal:
        return None


def call(org, request):
    """The result of a call; its faults are refusals."""
    version = PATH.match(request.path)
    if version is None or version[1] not in org.data["versions"]:
        raise Refusal(500, "UNSUPPORTED_API_VERSION", "Invalid Api version specified on URL")
    if "soapaction" not in request.headers or not request.headers.get("content-type", "").startswith("text/xml"):
        raise Refusal(500, "soapenv:Client", "SOAPAction HTTP header missing")
    ids = parsed(request.body).findall(f"{{{ENVELOPE}}}Body/{{{PARTNER}}}undelete/{{{PARTNER}}}ids")
    if not ids:
        raise Refusal(500, "soapenv:Client", "No operation available for request")
    if len(ids) > rows.MOST_OF_A_COLLECTION:
        raise Refusal(500, "EXCEEDED_ID_LIMIT", "record limit reached. cannot submit more than 200 records into this call")
    results = "".join(result(org, request, each.text or "") for each in ids)
    return written(request.chance, f"<undeleteResponse>{results}</undeleteResponse>")


def result(org, request, identifier):
    """The result of one record; its members are in any order."""
    one = org.catalog.of_prefix(identifier)
    done = rows.result(org, request, one, lambda: org.records.undelete(request.user, one, identifier))
    members = [f"<success>{str(done['success']).lower()}</success>", f"<id>{done.get('id', identifier)}</id>"]
    for error in done["errors"]:
        words = html.escape(error["message"]) if request.chance.random() < 0.5 else f"<![CDATA[{error['message']}]]>"
        members.append(f"<errors><message>{words}</message><statusCode>{error['statusCode']}</statusCode></errors>")
    request.chance.shuffle(members)
    return f"<result>{''.join(members)}</result>"


def fault(refusal, chance):
    """A refusal as a SOAP fault."""
    code = refusal.code if ":" in refusal.code else f"sf:{refusal.code}"
    words = html.escape(f"{refusal.code}: {refusal.message}")
    return written(chance, f"<s:Fault><faultcode>{code}</faultcode><faultstring>{words}</faultstring></s:Fault>")


def written(chance, body):
    blank = chance.choice(("", "\n  "))
    return Envelope(
        f'<?xml version="1.0" encoding="UTF-8"?>{blank}<s:Envelope xmlns:s="{ENVELOPE}" xmlns="{PARTNER}" '
        f'xmlns:sf="urn:fault.partner.soap.sforce.com">{blank}<s:Body>{blank}{body}</s:Body></s:Envelope>')
