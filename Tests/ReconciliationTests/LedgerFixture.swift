import JSON
import Ledger
import TestSupport

struct LedgerFixture {
  let directory = TemporaryDirectory("ledger")
  let state: LedgerDatabase
  static let store = StoreKey(scope: .user, storeName: "default")
  static let accountID = "001000000000001AAA"
  static let issuedDate = "2026-01-01T00:00:00.000+0000"
  init() throws { state = try LedgerDatabase(path: directory.file("state.sqlite")) }

  static func row(_ entry: Int64, soup: String = "accounts") -> RowKey {
    RowKey(store: store, soup: soup, soupEntryID: entry)
  }

  static func returned(
    _ sha: String, install: String? = nil, handback: Int64? = nil, stamp: String = "stamp-1",
    totals: [SoupKey: Int] = [SoupKey(store: store, soup: "accounts"): 100]
  ) -> ReturnRow {
    ReturnRow(
      sha256: sha, sourceName: sha + ".zip", stampID: stamp, snapshotID: "005000000000001AAA",
      generation: 1, platform: "ios", install: install, handback: handback, arrived: 1000,
      soupTotals: totals)
  }

  @discardableResult func record(
    _ sha: String, install: String? = nil, handback: Int64? = nil, stamp: String = "stamp-1",
    totals: [SoupKey: Int]? = nil, _ edits: [Edit], witnesses: [CleanRow] = []
  ) throws -> IngestResult {
    var returned = Self.returned(sha, install: install, handback: handback, stamp: stamp)
    if let totals { returned.soupTotals = totals }
    return try state.record(return: returned, edits: edits, witnesses: witnesses)
  }

  static func update(
    _ entry: Int64, id: String = accountID, date: Int64, name: String,
    modified: String? = issuedDate
  ) -> Edit {
    Edit(
      row: row(entry), created: 10, lastModified: date,
      element: element(["Id": .string(id), "Name": .string(name), "__local__": true]),
      operation: .update, sobject: "Account", serverID: id, modificationDate: modified)
  }

  static func create(
    _ entry: Int64, local: String, created: Int64 = 500, date: Int64, name: String
  ) -> Edit {
    Edit(
      row: row(entry), created: created, lastModified: date,
      element: element(["Id": .string(local), "Name": .string(name)]), operation: .create,
      sobject: "Account", localID: local)
  }

  static func element(_ fields: JSONObject) -> [UInt8] { JSONValue.object(fields).bytes }

  func verdicts() throws -> [String] {
    try state.editStates().map { "\($0.state) \($0.verdict ?? "-")" }
  }
}

extension LedgerDatabase {
  /// Records a return with its edits and unchanged rows.
  func record(
    return row: ReturnRow, edits: [Edit], witnesses: [CleanRow] = [], run: String? = nil
  ) throws -> IngestResult {
    var row = row
    (row.edits, row.witnesses) = (edits, witnesses)
    return try record(return: row, run: run)
  }

  /// Records an edit's verdict of a run.
  func settle(_ edit: Int64, run: String, _ settlement: Settlement) throws {
    try settle([(edit, settlement)], run: run)
  }
}
