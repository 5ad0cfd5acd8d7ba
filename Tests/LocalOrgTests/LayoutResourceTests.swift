import JSON
import Testing

@Suite struct LayoutResourceTests {
  let served: ServedOrg
  init() throws { served = try ServedOrg() }

  private func layout(_ rest: String) async throws -> JSONValue {
    let response = try await served.send("GET", "/ui-api/layout/" + rest)
    #expect(response.status == 200)
    return response.json
  }

  private func fields(_ layout: JSONValue) -> [String] {
    items(layout).flatMap { $0["layoutComponents"]?.array ?? [] }.compactMap {
      $0["apiName"]?.string
    }
  }

  private func items(_ layout: JSONValue) -> [JSONValue] {
    (layout["sections"]?.array ?? []).flatMap { $0["layoutRows"]?.array ?? [] }
      .flatMap { $0["layoutItems"]?.array ?? [] }
  }

  @Test func `a layout states its purpose`() async throws {
    let whole = try await layout(
      "Account?formFactor=Medium&layoutType=Compact&mode=Edit&recordTypeId=")
    #expect(whole["layoutType"]?.string == "Compact")
    #expect(whole["mode"]?.string == "Edit")
    #expect(whole["objectApiName"]?.string == "Account")
    #expect(whole["recordTypeId"]?.string == "012000000000000AAA")
    #expect(
      whole.object?.names == [
        "eTag", "id", "layoutType", "mode", "objectApiName", "recordTypeId", "saveOptions",
        "sections",
      ])
    let plain = try await layout("account/")
    #expect(plain["layoutType"]?.string == "Full")
    #expect(plain["mode"]?.string == "View")
    #expect(plain["id"] == whole["id"])
    #expect(
      plain["sections"]?.array?.map { $0["heading"]?.string } == [
        "Account Information", "Address Information", "Description Information",
        "System Information",
      ])
  }

  @Test func `a layout shows each field in its section`() async throws {
    let view = try await layout("Contact")
    #expect(fields(view).first == "Name")
    #expect(Set(fields(view)).count == fields(view).count)
    #expect(fields(view).contains("MailingStreet"))
    #expect(!fields(view).contains("MailingAddress") && !fields(view).contains("Id"))
    let edit = try await layout("Contact?mode=Edit&layoutType=Full")
    #expect(Array(fields(edit).prefix(3)) == ["LastName", "FirstName", "Salutation"])
    let name = try #require(items(edit).first)
    #expect(name["label"]?.string == "Name" && name["required"] == true)
    let account = try #require(items(edit).first { $0["lookupIdApiName"]?.string == "AccountId" })
    #expect(account["editableForUpdate"] == true && account["required"] == false)
    let create = try await layout("Case?mode=Create")
    #expect(!fields(create).contains("CaseNumber"))
    #expect(!fields(create).contains("CreatedById"))
    let compact = try await layout("WorkOrder?layoutType=Compact")
    #expect(items(compact).count == 5 && fields(compact).first == "WorkOrderNumber")
    #expect(compact["sections"]?[0]?["rows"] == 5)
  }

  @Test func `an unchanged layout is not sent twice`() async throws {
    let first = try await served.send("GET", "/ui-api/layout/Account")
    let tag = try #require(first.headers["ETag"])
    let again = try await served.send(
      "GET", "/ui-api/layout/Account", headers: ["If-None-Match": tag])
    #expect(again.status == 304)
    #expect(served.server.log.entries.map(\.kind) == [.layout, .layout])
  }

  @Test(arguments: [
    ("Nothing", "400 INVALID_TYPE"), ("Profile", "400 INVALID_TYPE"),
    ("Account?mode=Dance", "400 ILLEGAL_QUERY_PARAMETER_VALUE"),
    ("Account?layoutType=Half", "400 ILLEGAL_QUERY_PARAMETER_VALUE"),
    ("Account?formFactor=Huge", "400 ILLEGAL_QUERY_PARAMETER_VALUE"),
    ("Account?recordTypeId=x", "400 ILLEGAL_QUERY_PARAMETER_VALUE"),
    ("Account?recordTypeId=012000000000001", "404 NOT_FOUND"), ("", "404 NOT_FOUND"),
  ])
  func `an object without a layout is refused`(_ rest: String, _ outcome: String) async throws {
    #expect(try await served.send("GET", "/ui-api/layout/" + rest).outcome == outcome)
  }
}
