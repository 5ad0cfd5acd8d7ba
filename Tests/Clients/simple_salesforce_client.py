"""simple-salesforce, unmodified: all logins, reading, writing, and both Bulk APIs."""

import os
import sys

from simple_salesforce import Salesforce, SalesforceAuthenticationFailed, SalesforceError
from simple_salesforce.exceptions import SalesforceResourceNotFound

from org import Org, same

USER = "admin@example.com"
PASSWORD = os.environ["ATTACHE_USER_PASSWORD"]
KEY = os.environ["ATTACHE_APP_KEY"]
SECRET = os.environ["ATTACHE_CLIENT_SECRET"]
TRICKY = ["plain", 'say "hi"', "two\nlines", "a,b;c", "naïve ☃ 𝄞", "back\\slash", "'quote'", "<&>"]


def logins(organization):
    # To the org, the password and the security token are one word.
    logins = {
        "SOAP": dict(username=USER, password=PASSWORD[:-3], security_token=PASSWORD[-3:]),
        "SOAP, from a trusted address": dict(username=USER, password=PASSWORD, organizationId=organization),
        "password": dict(username=USER, password=PASSWORD, consumer_key="clients", consumer_secret=SECRET),
        "JWT": dict(username=USER, consumer_key="app", privatekey_file=KEY),
        "client credentials": dict(
            consumer_key="clients", consumer_secret=SECRET, domain="local.my"
        ),
    }
    sessions = {}
    for name, credentials in logins.items():
        sf = sessions[name] = Salesforce(**credentials)
        user = sf.query("SELECT Username FROM User WHERE Username = '%s'" % USER)
        assert user["totalSize"] == 1, name
        print(f"login by {name}: {sf.sf_instance}", flush=True)
    for wrong in (
        dict(username=USER, password="wrong", security_token="x"),
        dict(username=USER, password="wrong", consumer_key="clients", consumer_secret=SECRET),
        dict(consumer_key="clients", consumer_secret="wrong", domain="local.my"),
    ):
        try:
            Salesforce(**wrong)
        except SalesforceAuthenticationFailed:
            continue
        raise AssertionError(f"a wrong login was let in: {wrong}")
    return sessions["SOAP"]


def rows(sf, org):
    """Records one at a time, and all of them."""
    made = sf.Account.create({"Name": 'A "1"\nå', "External_Id__c": "ss-1", "NumberOfEmployees": 7})
    assert made["success"], made
    assert sf.Account.update(made["id"], {"Site": "here", "NumberOfEmployees": None}) == 204
    record = sf.Account.get(made["id"])
    assert (record["Name"], record["Site"], record["NumberOfEmployees"]) == ('A "1"\nå', "here", None)
    assert sf.Account.get_by_custom_id("External_Id__c", "ss-1")["Id"] == made["id"]
    assert sf.Account.upsert("External_Id__c/ss-1", {"Name": "A 1"}) == 200
    assert sf.Account.upsert("External_Id__c/ss-2", {"Name": "A 2"}) == 201
    assert sf.search("FIND {here} IN ALL FIELDS RETURNING Account(Id)") is not None
    assert sf.Account.describe()["name"] == "Account"
    assert sf.Account.metadata()["objectDescribe"]["name"] == "Account"
    assert sf.Account.describe_layout("012000000000000AAA")["id"].startswith("00h")
    assert "Account" in [one["name"] for one in sf.describe()["sobjects"]]
    assert sf.limits()["DailyApiRequests"]["Max"] > 0
    for wrong in (
        lambda: sf.Account.create({"Site": "nameless"}),
        lambda: sf.query("SELECT Nothing FROM Account"),
        lambda: sf.Account.get("001000000000000AAA"),
    ):
        try:
            wrong()
        except SalesforceError:
            continue
        raise AssertionError("what is wrong was not refused")
    assert sf.Account.delete(made["id"]) == 204
    try:
        sf.Account.get(made["id"])
        raise AssertionError("a deleted record was read")
    except SalesforceResourceNotFound:
        pass
    org.create("Contact", [{"LastName": f"C{n} {TRICKY[n % len(TRICKY)]}"} for n in range(4500)])
    soql = "SELECT Id, LastName, CreatedDate FROM Contact"
    seen = []
    for record in sf.query_all_iter(soql):
        del record["attributes"]
        seen.append(dict(record))
    same(seen, org.query(soql), "query_all_iter")


def bulk1(sf, org):
    data = [
        {"Name": f"B{n}", "Site": TRICKY[n % len(TRICKY)], "External_Id__c": f"b1-{n}"} for n in range(300)
    ]
    results = sf.bulk.Account.insert(data, batch_size=120)
    assert all(one["success"] and one["created"] for one in results), results[:3]
    soql = "SELECT Name, Site, External_Id__c FROM Account"
    same(org.query(soql), data, "bulk v1 insert")
    ids = [one["id"] for one in results]
    sf.bulk.Account.update([{"Id": one, "Site": None} for one in ids[:100]])
    data = [{**one, "Site": None} if place < 100 else one for place, one in enumerate(data)]
    same(org.query(soql), data, "bulk v1 update")
    upserted = [{"External_Id__c": f"b1-{n}", "Name": f"U{n}"} for n in range(290, 310)]
    results = sf.bulk.Account.upsert(upserted, "External_Id__c")
    assert [one["created"] for one in results] == [False] * 10 + [True] * 10, results
    detailed = sf.bulk.Account.insert(
        [{"Name": "kept"}, {"Site": "nameless"}], include_detailed_results=True
    )
    assert [one["success"] for one in detailed] == [True, False], detailed
    assert detailed[1]["errors"][0]["statusCode"] == "REQUIRED_FIELD_MISSING", detailed
    assert detailed[1]["Site"] == "nameless", detailed
    seen = [dict(one) for one in sf.bulk.Account.query(soql)]
    for record in seen:
        del record["attributes"]
    same(seen, org.query(soql), "bulk v1 query")
    results = sf.bulk.Account.delete([{"Id": one} for one in ids])
    assert all(one["success"] for one in results), results[:3]
    assert len(org.query(soql)) == 11


def bulk2(sf, org):
    data = [{"Name": f"C{n}", "Site": TRICKY[n % len(TRICKY)], "External_Id__c": f"b2-{n}"} for n in range(300)]
    (done,) = sf.bulk2.Account.insert(records=data, wait=1)
    assert (done["numberRecordsProcessed"], done["numberRecordsFailed"]) == (300, 0), done
    soql = "SELECT Name, Site, External_Id__c FROM Account"
    same(org.query(soql), data, "bulk v2 insert")
    made = sf.bulk2.Account.get_successful_records(done["job_id"])
    assert made.count("\n") >= 300, made[:200]
    ids = [one["Id"] for one in org.query("SELECT Id FROM Account")]
    sf.bulk2.Account.update(records=[{"Id": one, "Site": "moved"} for one in ids], wait=1)
    (done,) = sf.bulk2.Account.upsert(
        records=[{"External_Id__c": "b2-1", "Name": "one"}, {"External_Id__c": "b2-new", "Name": "two"}],
        external_id_field="External_Id__c", wait=1,
    )
    assert (done["numberRecordsProcessed"], done["numberRecordsFailed"]) == (2, 0), done
    (done,) = sf.bulk2.Account.insert(records=[{"Name": "kept", "NumberOfEmployees": "many"}], wait=1)
    assert done["numberRecordsFailed"] == 1, done
    assert "JSON_PARSER_ERROR" in sf.bulk2.Account.get_failed_records(done["job_id"])
    pages = list(sf.bulk2.Account.query("SELECT Name, Site FROM Account ORDER BY Name", max_records=100))
    assert len(pages) == 4, len(pages)
    expected = org.query("SELECT Name, Site FROM Account ORDER BY Name")
    lines = [line for page in pages for line in page.splitlines()[1:]]
    assert lines == ['"%s","%s"' % (one["Name"], one["Site"] or "") for one in expected], lines[:5]
    print(f"bulk v2 query: {len(lines)} records are the same", flush=True)
    (done,) = sf.bulk2.Account.delete(records=[{"Id": one} for one in ids], wait=1)
    assert done["numberRecordsFailed"] == 0, done
    assert len(org.query("SELECT Id FROM Account")) == 1


if __name__ == "__main__":
    org = Org()
    sf = logins(org.call("GET", "/services/oauth2/userinfo")["organization_id"])
    for work in (rows, bulk1, bulk2):
        org.clear("Contact", "Account")
        work(sf, org)
    org.clear("Contact", "Account")
    sys.exit(0)
