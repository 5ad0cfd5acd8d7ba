import JSON
import LocalOrg
import System

struct OrgRecord: Sendable, Hashable {
  var id: String
  var name: String
  var values: [String]
  var modified: String
  var matches: Bool { name.hasPrefix(HistoryOrg.prefix) }
}

/// All values ever seen in the org: before and after each step, and before each change by a fault.
final class OrgWatch: Sendable {
  private struct State {
    var records: [String: OrgRecord] = [:]
    var seen: Set<String> = []
  }

  private let org: LocalOrg.Org
  private let setup: HistorySetup
  private let admin: OrgUser
  private let state = Locked(State())
  init(_ org: LocalOrg.Org, _ setup: HistorySetup, admin: OrgUser) {
    self.org = org
    self.setup = setup
    self.admin = admin
  }

  func look() throws {
    let fields = (["Id", "Name"] + setup.fields + ["LastModifiedDate"]).joined(separator: ", ")
    let page = try org.query("SELECT \(fields) FROM \(setup.object)", as: admin)
    var records: [String: OrgRecord] = [:]
    for value in try JSONValue(parsing: page.records).array ?? [] {
      let record = OrgRecord(
        id: value["Id"]?.string ?? "", name: value["Name"]?.string ?? "",
        values: setup.fields.map { value[$0]?.string ?? "" },
        modified: value["LastModifiedDate"]?.string ?? "")
      records[record.id] = record
    }
    state.withLock { state in
      state.records = records
      for record in records.values {
        state.seen.insert(record.name)
        state.seen.formUnion(record.values)
      }
    }
  }

  var records: [String: OrgRecord] { state.withLock { $0.records } }
  var sorted: [OrgRecord] { records.values.sorted { $0.id < $1.id } }
  var matching: [OrgRecord] { sorted.filter(\.matches) }

  func hasSeen(_ value: String) -> Bool { state.withLock { $0.seen.contains(value) } }
}
