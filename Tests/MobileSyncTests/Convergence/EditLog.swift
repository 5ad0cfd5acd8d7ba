import MobileSync

/// All edits made on devices: each must end in the org or in a row of a report.
struct EditLog {
  enum Kind: Sendable, Hashable {
    case create
    case change(field: Int)
    case delete
  }

  /// The outcome of an edit.
  enum End: String, Sendable, Hashable {
    /// Its value was in the org, or the record that it deletes is gone there.
    case inOrg
    /// The same user changed the same field again, or deleted the record, before it was sent.
    case superseded
    /// A row of a report says that the change is no longer on the device.
    case told
    /// A report said that the change was skipped or refused, and the app then discarded it.
    case givenUp
  }

  struct Edit: Sendable, Hashable {
    var step: Int
    var device: Int
    var entry: Int64
    var kind: Kind
    /// The value that only this edit writes.
    var token: String
    var end: End?
  }

  /// The part of a report's row that concerns a device's change.
  struct Row: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case overwritten, removed, stays, sent, recreated }
    var entry: Int64?
    var id: String?
    var kind: Kind
  }

  private(set) var edits: [Edit] = []

  /// Adds an edit; the edit that it replaces on the device needs no outcome.
  mutating func add(_ edit: Edit) {
    for index in edits.indices
    where edits[index].end == nil && edits[index].device == edit.device
      && edits[index].entry == edit.entry
    {
      // A record created and deleted here still needs an outcome: its deletion.
      if edit.kind == .delete || edits[index].kind == edit.kind { edits[index].end = .superseded }
    }
    edits.append(edit)
  }

  /// Resolves edits where possible, and returns those that are neither on the device nor anywhere
  /// else.
  mutating func settle(
    device: Int, setup: HistorySetup, elements: [Int64: Device.Element], watch: OrgWatch,
    before: [Int64: Device.Element], rows: [Row]
  ) -> [Edit] {
    let live = watch.records
    var lost: [Edit] = []
    for index in edits.indices where edits[index].end == nil && edits[index].device == device {
      let edit = edits[index]
      let element = elements[edit.entry]
      let id = (before[edit.entry] ?? element)?.id ?? ""
      let isDone =
        edit.kind == .delete ? Self.isGone(edit, id, rows, live) : watch.hasSeen(edit.token)
      if isDone {
        edits[index].end = .inOrg
      } else if element.map({ Self.carries($0, edit, setup) }) ?? false {
        continue
      } else if rows.contains(where: { Self.tells($0, of: edit, id: id) }) {
        edits[index].end = .told
      } else {
        lost.append(edit)
      }
    }
    return lost
  }

  mutating func giveUp(device: Int, entry: Int64) {
    for index in edits.indices
    where edits[index].end == nil && edits[index].device == device && edits[index].entry == entry {
      edits[index].end = .givenUp
    }
  }

  var open: [Edit] { edits.filter { $0.end == nil } }

  /// Whether the record of a deletion is gone; a create whose response was lost gets its ID, and is
  /// deleted by it, in the same run.
  private static func isGone(
    _ edit: Edit, _ id: String, _ rows: [Row], _ live: [String: OrgRecord]
  ) -> Bool {
    let ids = [id] + rows.filter { $0.entry == edit.entry }.compactMap(\.id)
    let known = ids.filter { !$0.isEmpty && !$0.hasPrefix("local_") }
    return !known.isEmpty && known.allSatisfy { live[$0] == nil }
  }

  private static func carries(
    _ element: Device.Element, _ edit: Edit, _ setup: HistorySetup
  ) -> Bool {
    guard element.isDirty else { return false }
    return switch edit.kind {
    case .create: element.isCreated && element.text("Name") == edit.token
    case .change(let field): element.text(setup.fields[field]) == edit.token
    case .delete: element.isDeleted
    }
  }

  private static func tells(_ row: Row, of edit: Edit, id: String) -> Bool {
    guard row.entry == edit.entry || (row.entry == nil && row.id == id) else { return false }
    return row.kind == .overwritten || row.kind == .removed
  }
}

extension EditLog.Row {
  static func rows(of report: SyncReport) -> [EditLog.Row] {
    var rows = (report.overwritten[Device.soup] ?? []).map {
      EditLog.Row(entry: nil, id: $0, kind: .overwritten)
    }
    for record in report.records {
      let kind: Kind =
        switch record.outcome {
        case .sent: .sent
        case .recreated: .recreated
        case .removed: .removed
        case .left, .failed, .unconfirmed: .stays
        }
      rows.append(EditLog.Row(entry: record.soupEntryID, id: record.id, kind: kind))
    }
    return rows
  }
}
