import HTTP
import MobileSync
import Testing

@Suite struct MemberOrderTests {
  @Test(arguments: [
    #"{"IsDeleted":false,"Id":"a","N":1}"#: #"{"Id":"a","N":1}"#,
    #"{"Id":"a","IsDeleted":false,"N":1}"#: #"{"Id":"a","N":1}"#,
    #"{"Id":"a","N":1,"IsDeleted":false}"#: #"{"Id":"a","N":1}"#,
    #"{"Id":"a", "IsDeleted" : false }"#: #"{"Id":"a" }"#,
    #"{"IsDeleted":false,"N":{"IsDeleted":true},"Id":"a"}"#: #"{"N":{"IsDeleted":true},"Id":"a"}"#,
    #"{"IsDeleted":true,"Id":"a"}"#: "",
  ])
  func `an added member is removed wherever it is`(_ record: String, _ living: String) throws {
    let rows = DeletedRows(idField: "Id", cutsMember: true)
    let split = try rows.split(Array(#"{"done":true,"records":[\#(record)]}"#.utf8))
    #expect(String(decoding: split.living, as: UTF8.self) == #"{"records":[\#(living)]}"#)
    #expect(split.deleted == (living.isEmpty ? ["a"] : []))
  }

  private func reversed(_ org: SyncedOrg, ids: [String], _ fields: [String]) throws
    -> ServerResponse
  {
    let records = try ids.map { id -> String in
      let values = try #require(try org.values("Account", fields, of: id))
      var members = ["\"IsDeleted\":false"]
      for name in fields.reversed() {
        members.append("\"\(name)\":\((values[name] ?? .null).text)")
      }
      let attributes = #"{"url":"/services/data/v66.0/sobjects/Account/\#(id)","type":"Account"}"#
      members.append("\"attributes\":\(attributes)")
      return "{" + members.joined(separator: ",") + "}"
    }
    let page =
      #"{"totalSize":\#(ids.count),"done":true,"records":[\#(records.joined(separator: ","))]}"#
    return ServerResponse(
      status: 200, headers: ["Content-Type": "application/json"], body: Array(page.utf8))
  }

  @Test func `an org that sends members in another order changes nothing`() async throws {
    let (org, ids) = try SyncedOrg.with(accounts: 3)
    let snapshot = Snapshot(
      org, soups: [.sample("accounts", "Name")],
      syncs: [.soql("down", "SELECT Id, Name, Phone FROM Account", into: "accounts")])
    snapshot.overlapSeconds = 3600
    try await snapshot.prime()
    let fields = ["Id", "Name", "Phone", "LastModifiedDate"]
    org.server.faults.add(.kind(.query), .respond(try reversed(org, ids: ids, fields)))
    let same = try await snapshot.prime()
    #expect(!same.changed)
    #expect(same.soups.map(\.unchanged) == [3])
    // An actual change is written, in any member order.
    try org.update("Account", ids[1], ["Name": "changed"])
    org.server.faults.add(.kind(.query), .respond(try reversed(org, ids: ids, fields)))
    let other = try await snapshot.prime()
    #expect(other.soups.map(\.written) == [1])
    #expect(other.soups.map(\.unchanged) == [2])
    #expect(try snapshot.column("Name", of: "accounts").contains("changed"))
    #expect(try snapshot.elements("accounts").allSatisfy { $0["IsDeleted"] == nil })
  }
}
