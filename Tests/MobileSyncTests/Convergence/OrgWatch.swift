import JSON
import LocalOrg
import System

/// A record of the org with the fields that histories change.
struct OrgRecord: Sendable, Hashable {
  var id: String
  var name: String
  var values: [String]
  var modified: String

  /// Whether the history's query finds it.
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

  /// Records the org's current state.
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

  /// The existing records, by ID, at the last look.
  var records: [String: OrgRecord] { state.withLock { $0.records } }

  /// The existing records ordered by ID, which is the order of creation.
  var sorted: [OrgRecord] { records.values.sorted { $0.id < $1.id } }

  /// The existing records that the query finds.
  var matching: [OrgRecord] { sorted.filter(\.matches) }

  /// Whether a value was ever in the org.
  func hasSeen(_ value: String) -> Bool { state.withLock { $0.seen.contains(value) } }
}
