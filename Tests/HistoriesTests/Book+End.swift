import JSON
import Ledger
import LocalOrg
import Reconciliation
import SmartStore
import TestSupport

/// The rules that hold when everything has come to rest.
extension Book {
  mutating func judgeEnd(in world: World) throws {
    reports = [:]
    try read(in: world)
    for one in returned where !one.isCopy {
      for row in one.rows.values.sorted(by: {
        ($0.id.soup, $0.id.entry) < ($1.id.soup, $1.id.entry)
      }) {
        do { try judge(row, of: one, in: world) } catch let violation as Violation {
          throw Violation("\(row.words) of \(one.file) (step \(one.step)): \(violation)")
        }
      }
    }
    try judgeCreates(in: world)
    try judgeLate(in: world)
    try judgeStores(in: world)
  }

  // MARK: one edit

  private func judge(_ row: PhoneRow, of one: ReturnedFile, in world: World) throws {
    let mentions: [Mention] = orderedReports.flatMap { report in
      report.records.filter { $0.row == row.id && $0.file == one.file }
        .map { (report: report, row: $0, isNew: true) }
        + report.stillOpen.filter { $0.row == row.id && $0.file == one.file }
        .map { (report: report, row: $0, isNew: false) }
    }
    guard let last = mentions.last else {
      // The same edit returned again is the same edit.
      if hasSame(row, as: one) { return }
      throw Violation("it is in no report")
    }
    let verdict = last.row.verdict
    for life in lives(mentions) { try judgeSight(life) }
    if askedToUndo.contains(last.row.number) {
      let wasMade = mentions.contains { $0.row.verdict == .created }
      return try judgeUndone(row, of: one, last.row, wasMade: wasMade, in: world)
    }
    if verdict == .superseded { return try judgeSuperseded(row, of: one) }
    guard verdict.isSettled else { return try judgeOpen(row, of: one, last.row, in: world) }
    try judgeSettled(row, of: one, last.row, in: world)
  }

  private func hasSame(_ row: PhoneRow, as one: ReturnedFile) -> Bool {
    returned.contains { other in
      other.file != one.file && other.phone == one.phone && other.installation == one.installation
        && other.rows[row.id].map { $0.hasContent(of: row) } ?? false
    }
  }

  /// An edit is reported once as new, then as open until it is resolved, and never again.
  private func judgeSight(_ mentions: [Mention]) throws {
    guard let first = mentions.first, let last = mentions.last else { return }
    guard first.isNew else { throw Violation("its first report calls it still open") }
    if let place = mentions.firstIndex(where: { $0.row.verdict.isSettled }),
      place + 1 < mentions.count
    {
      throw Violation(
        "it is reported again after it was \(mentions[place].row.verdict.rawValue): "
          + "\(mentions[place + 1].row.verdict.rawValue)")
    }
    let told = Set(mentions.map(\.report.run))
    for report in orderedReports
    where report.runNumber > first.report.runNumber
      && (report.runNumber < last.report.runNumber || !last.row.verdict.isSettled)
    {
      guard told.contains(report.run) else {
        throw Violation("it is open, but the report of \(report.run) does not list it")
      }
    }
  }

  /// Superseded: a later return of the phone was ingested, or the same edit came before.
  func judgeSuperseded(_ row: PhoneRow, of one: ReturnedFile) throws {
    if hasSame(row, as: one) || isFixed(row, of: one) || isToldSent(row, of: one) { return }
    let isContinued = returned.contains { other in
      other.file != one.file && other.phone == one.phone && other.installation == one.installation
        && (isAncestor(one.state, of: other.state) || seemsContinued(one, by: other))
    }
    guard isContinued else {
      throw Violation("it is superseded, but no later return of the phone came")
    }
  }

  /// Whether an unchanged edit makes a return of a phone that was restored from a backup look like a
  /// later one: its app does not set its install ID.
  private func seemsContinued(_ one: ReturnedFile, by other: ReturnedFile) -> Bool {
    !one.marksInstall && restored.contains(one.installation)
      && one.rows.contains { other.rows[$0.key]?.hasContent(of: $0.value) ?? false }
  }

  /// Whether an ingested return showed that its installation had sent a new record by itself.
  private func isToldSent(_ row: PhoneRow, of one: ReturnedFile) -> Bool {
    guard let marker = row.marker else { return false }
    return returned.contains { other in
      other.taken != nil && other.installation == one.installation
        && other.sent.values.contains { $0.marker == marker }
    }
  }

  func judgeSettled(
    _ row: PhoneRow, of one: ReturnedFile, _ told: Report.Row, in world: World
  ) throws {
    let watch = world.watch
    let soup = Soup.named(row.id.soup)
    let named = named(for: row)
    // An operator has named the record; the org's values stay, and so do other records of the row.
    let others = named.isEmpty ? records(of: row, in: world).map(\.id) : []
    let ids = [told.recordID].compactMap { $0 } + others
    let sent = row.changed.filter { soup?.listed.contains($0.key) ?? false }.mapValues(\.value)
    // A record that another phone created with the same external ID is that phone's own, and so is
    // a new row that was issued as open and that the phone has edited.
    let isMadeElsewhere = isMadeElsewhere(row, of: one)
    let isOthers = { (id: String) in
      row.operation == .dropped && id != told.recordID
        && (isMadeElsewhere || !watch.records.contains { $0.id == id && $0.name == row.marker })
    }
    try judgeOutside(row, told)
    switch told.verdict {
    case .created, .updated, .alreadyInOrg, .unchanged:
      if row.operation == .dropped || row.operation == .delete {
        // A record that the row did not create, but found by its external ID, stays.
        let isFound = { (id: String) in
          row.operation == .dropped && ![nil, row.marker].contains(watch.firstName(of: id))
        }
        return try judgeGone(ids.filter { !isOthers($0) && !isFound($0) }, told, in: world)
      }
      if let id = told.recordID, named.contains(id) { return }
      try judgeMoved(row, ids, told, in: world)
      if row.operation == .create, ids.isEmpty {
        throw Violation("it is \(told.verdict.rawValue), but the org has no such record")
      }
      for (field, value) in sent where !ids.contains(where: { watch.hasSeen(value, $0, field) }) {
        if isReplacedByOperator(field, row, told.number) { continue }
        if told.kept.contains(field), isMadeLater(row, of: one, ids) { continue }
        throw Violation(
          "it is \(told.verdict.rawValue), but its \(field) \(value) was never in the org")
      }
    case .deleted:
      guard row.isDeleted || hasDeleted(one.phone, row, ids, in: world) else {
        throw Violation("it is deleted, but its device did not delete the record")
      }
      try judgeGone(ids.filter { !isOthers($0) }, told, in: world)
    case .notInFieldList:
      // Its listed fields were sent with an earlier return.
      let isSent = sent.allSatisfy { field, value in
        ids.contains { watch.hasSeen(value, $0, field) }
          || isReplacedByOperator(field, row, told.number)
      }
      if !isSent || row.isDeleted {
        throw Violation("it is filtered, and \(sent.keys.sorted()) travels")
      }
    default: break
    }
  }

  /// A moved contact has had the account that its device gave it to.
  private func judgeMoved(
    _ row: PhoneRow, _ ids: [String], _ told: Report.Row, in world: World
  ) throws {
    guard world.setup.moves, row.operation == .update, row.formerParent != nil,
      let parent = row.parent, [.updated, .alreadyInOrg].contains(told.verdict),
      !decisions.contains(where: { $0.number == told.number && $0.kind == .set })
    else { return }
    let had = ids.flatMap { world.watch.parents(of: $0) }
    let isThere = had.contains { $0 == parent || world.watch.replaced(by: $0).contains(parent) }
    if !isThere {
      throw Violation("it is \(told.verdict.rawValue), but it was never moved to \(parent)")
    }
  }

  /// Whether an operator decided on another value for a field of an edit, or of an earlier return of
  /// it.
  private func isReplacedByOperator(_ field: String, _ row: PhoneRow, _ number: Int) -> Bool {
    decisions.contains { one in
      guard one.kind == .set, one.entered[field] != nil || !one.sendsDevice else { return false }
      return one.number == number
        || self.row(one.row, of: one.file).map {
          $0.record == row.record
            && $0.changed[field]?.value == row.changed[field]?.value
        } ?? false
    }
  }

  /// Whether the app has created one of the records by itself from a later state of a row.
  private func isMadeLater(_ row: PhoneRow, of one: ReturnedFile, _ ids: [String]) -> Bool {
    syncs.contains { sync in
      sync.isMade && ids.contains(sync.recordID) && sync.phone == one.phone && sync.row == row.id
        && isAncestor(one.state, of: sync.state)
    }
  }

  private func isMadeElsewhere(_ row: PhoneRow, of one: ReturnedFile) -> Bool {
    guard let marker = row.marker else { return false }
    return returned.contains { other in
      other.phone != one.phone && other.taken != nil
        && other.rows.values.contains { $0.marker == marker && $0.operation == .create }
    }
  }

  private func judgeGone(_ ids: [String], _ told: Report.Row, in world: World) throws {
    for id in ids where !world.watch.wasDeleted(id) {
      throw Violation("it is \(told.verdict.rawValue), but the record \(id) was never deleted")
    }
  }

  /// An edit that nothing conflicts with is not left open.
  private func judgeOpen(
    _ row: PhoneRow, of one: ReturnedFile, _ told: Report.Row, in world: World
  ) throws {
    guard world.runs.last?.report != nil else {
      throw Violation("it is \(told.verdict.rawValue), but the last run has no report")
    }
    if let later = laterState(of: row, one),
      ![.duplicateCreated, .unconfirmed].contains(told.verdict), !isTouchedLate(told)
    {
      // It was discarded before its answer was known, and its request did arrive.
      if told.verdict == .conflict, isWrittenUnanswered(row, in: world) { return }
      throw Violation("it is left \(told.verdict.rawValue), but \(later.file) no longer has it")
    }
    guard !isDisturbed(row, of: one, in: world), !isOfDisturbedTree(row, in: world) else { return }
    let records = records(of: row, in: world)
    let ids = records.map(\.id)
    if !undoneRecords.isDisjoint(with: ids) { return }
    // The phone itself deleted the record, and changed the row again afterwards.
    if told.verdict == .deletedOnServer, records.contains(where: \.isDeleted),
      hasDeleted(one.phone, row, ids, in: world)
    {
      return
    }
    // The phone deleted the new record that the row refers to.
    if told.verdict == .blocked, row.parent?.hasPrefix(Self.localID("")) == true,
      hasDeleted(one.phone, row, [], in: world)
    {
      return
    }
    // A record that another user created as this user in the meantime may look like that of a lost
    // create; later edits of that row on the phone wait for it.
    let isOtherUsers = { (record: OrgRecord) in
      record.name.hasPrefix("other") && world.watch.isTouchedByOthers(record.id)
    }
    if told.verdict == .unconfirmed, row.serverID == nil,
      world.watch.records.contains(where: isOtherUsers) || syncs.contains(where: \.isMade)
    {
      return
    }
    throw Violation(
      "it is left \(told.verdict.rawValue) (\(told.message ?? "")), although nothing conflicted with it"
    )
  }

  /// Whether a run wrote a row's values or deletion, as far as can be seen by a request without an
  /// answer: of an answered one, the edit is resolved.
  private func isWrittenUnanswered(_ row: PhoneRow, in world: World) -> Bool {
    guard world.runs.contains(where: \.isStruck), let soup = Soup.named(row.id.soup) else {
      return false
    }
    let sent = row.changed.filter { soup.listed.contains($0.key) }
    return records(of: row, in: world).contains { record in
      if row.isDeleted { return world.watch.deleter(of: record.id) == .pipeline }
      return !sent.isEmpty
        && sent.allSatisfy { field, entry in
          world.watch.history(record.id, field).contains {
            $0.value == entry.value && $0.author == .pipeline
          }
        }
    }
  }

  /// A later return of the same installation that was ingested and does not have the same row.
  private func laterState(of row: PhoneRow, _ one: ReturnedFile) -> ReturnedFile? {
    guard one.marksInstall, !restored.contains(one.installation) else { return nil }
    return returned.first { later in
      later.taken != nil && later.installation == one.installation && later.number > one.number
        && later.rows[row.id].map { !$0.hasContent(of: row) } ?? true
    }
  }

  private func markers(with marker: String) -> Set<String> {
    guard let key = makers[marker]?.key else { return [marker] }
    // A record that the org had before has the name that its key is made of.
    return Set(makers.filter { $0.value.key == key }.keys).union([String(key.dropFirst(2))])
  }

  /// Whether a new row has the external ID of one of some records.
  private func isKey(of records: [OrgRecord], _ marker: String) -> Bool {
    guard makers[marker]?.key != nil else { return false }
    return !markers(with: marker).isDisjoint(with: records.map(\.name))
  }

  private func records(of row: PhoneRow, in world: World) -> [OrgRecord] {
    if let id = row.serverID { return world.watch.records.filter { $0.id == id } }
    let names = row.marker.map { markers(with: $0) } ?? []
    return world.watch.records.filter { names.contains($0.name) }
  }

  /// Whether an app sent part of the record by itself, other than what this row follows.
  private func isSent(_ row: PhoneRow, of one: ReturnedFile, _ ids: Set<String>) -> Bool {
    syncs.contains { sync in
      guard ids.contains(sync.recordID) else { return false }
      guard sync.phone == one.phone, sync.row == row.id, isAncestor(sync.state, of: one.state)
      else { return true }
      return returned.contains {
        $0.phone == one.phone && $0.rows[row.id] != nil && isAncestor($0.state, of: sync.state)
      }
    }
  }

  /// Whether anyone else changed the record, or the phone has two pasts.
  func isDisturbed(_ row: PhoneRow, of one: ReturnedFile, in world: World) -> Bool {
    let records = records(of: row, in: world)
    let names = row.marker.map { markers(with: $0) } ?? []
    if records.contains(where: { world.watch.isTouchedByOthers($0.id) }) { return true }
    let parents = [row.parent, row.formerParent].compactMap(\.self)
    if parents.contains(where: {
      world.watch.isTouchedByOthers($0) || world.watch.wasDeleted($0)
    }) {
      return true
    }
    // The org itself refuses the value.
    if row.changed.values.contains(where: { $0.value.count > World.mostCharacters }) { return true }
    let ids = Set(records.map(\.id))
    // Only the owner may delete.
    if row.isDeleted, records.contains(where: { $0.name.hasSuffix("-0") }) { return true }
    if !ids.isDisjoint(with: touchedLate) { return true }
    if isDecided(row, ids) { return true }
    if isSent(row, of: one, ids) { return true }
    // A phone that was issued a deleted record edits it under its old ID.
    let versions = ids.union(ids.flatMap { world.watch.replaced(by: $0) })
    for other in returned {
      for (id, rival) in other.rows {
        // The org deletes the details of a record with it.
        if parents.contains(where: { deletes(rival, $0, in: world) }) { return true }
        let rivalParents = [rival.parent, rival.formerParent].compactMap(\.self)
        if row.isDeleted, rivalParents.contains(where: ids.contains) { return true }
        let isSame =
          rival.serverID.map { versions.contains($0) } ?? false
          || (rival.marker.map { marker in
            names.contains(marker) || records.contains { $0.name == marker }
              || isKey(of: records, marker)
          } ?? false)
        guard isSame else { continue }
        if other.phone != one.phone || other.installation != one.installation { return true }
        if id != row.id { return true }
        if !rival.hasContent(of: row), isForked(one.installation) { return true }
        if !one.marksInstall, !rival.hasContent(of: row) { return true }
        // Two returns of one number are a fork: the phone was restored in between.
        if one.number == other.number, !rival.hasContent(of: row) { return true }
        if !isAncestor(one.state, of: other.state), !isAncestor(other.state, of: one.state) {
          return true
        }
      }
    }
    return false
  }

  /// Whether an account or contact is sent with others, one of which is disturbed.
  private func isOfDisturbedTree(_ row: PhoneRow, in world: World) -> Bool {
    guard world.setup.trees, let tree = tree(row) else { return false }
    // Its app has sent the account by itself.
    if syncs.contains(where: { $0.marker.map(Self.localID) == tree }) { return true }
    return returned.contains { other in
      other.rows.values.contains {
        self.tree($0) == tree && isDisturbed($0, of: other, in: world)
      }
    }
  }

  /// What identifies the account of an account or contact.
  private func tree(_ row: PhoneRow) -> String? {
    switch row.id.soup {
    case "accounts", "calls": row.serverID ?? row.marker.map(Self.localID)
    case "contacts": row.parent
    default: nil
    }
  }

  /// Whether a phone returned rows with a number, and others with the same number after it was
  /// restored.
  ///
  /// It then has two pasts, and nothing shows which of them a row that it changes again continues.
  private func isForked(_ installation: Int) -> Bool {
    let own = returned.filter { $0.installation == installation && $0.marksInstall && !$0.isCopy }
    return own.contains { one in
      own.contains { other in other.number == one.number && other.rows != one.rows }
    }
  }

  // MARK: creates

  /// The pipeline creates each record of a phone at most once, except for one recreated after a
  /// deletion and one that an operator had created although others were shown.
  ///
  /// A record that the phone has sent as well is reported.
  private func judgeCreates(in world: World) throws {
    let others = world.watch.records.map(\.id).filter {
      world.watch.firstName(of: $0)?.hasPrefix("other") ?? false
    }
    // What late requests made is reported (`judgeLate`).
    let late = lateEffects.filter { $0.kind == .made }.map(\.record)
    let own = Set(syncs.filter(\.isMade).map(\.recordID) + others + late)
    for marker in makers.keys.sorted() {
      let markers = markers(with: marker)
      let records = world.watch.records.filter { markers.contains($0.name) }
      let ids = Set(records.map(\.id))
      let again = orderedReports.flatMap(\.records).filter {
        // A record that needs review may have been recreated, too; a request that arrived late has
        // created another one.
        ([.created, .unconfirmed].contains($0.verdict)
          || $0.verdict == .duplicateCreated && isTouchedLate($0))
          && $0.otherID.map { ids.contains($0) } ?? false
      }
      let deleted = ids.filter { world.watch.wasDeleted($0) }
      let made = ids.subtracting(own)
      // An external ID is free again when its record is deleted.
      let named = Set(again.flatMap(\.candidates)).intersection(ids)
      let most =
        1 + again.count + named.count + (makers[marker]?.key != nil ? deleted.count : 0)
        + countDecided(markers, beside: ids)
      if made.count > most {
        throw Violation("the org has \(made.count) records of \(marker): \(made.sorted())")
      }
      if made.isEmpty || !deleted.isEmpty { continue }
      let told = returned.first { file in
        file.taken != nil
          && file.sent.values.contains { $0.marker == marker && own.contains($0.recordID) }
      }
      let isTold = orderedReports.flatMap(\.records).contains { row in
        // An operator may have discarded it before the report.
        (row.verdict == .duplicateCreated || row.verdict == .discarded && row.otherID != nil)
          && [row.recordID, row.otherID].contains { made.contains($0 ?? "") }
      }
      if let told, !isTold {
        throw Violation(
          "\(told.file) has sent \(marker), which was created, too, but no report lists \(ids.sorted())"
        )
      }
    }
  }
}

extension PhoneRow {
  var words: String {
    "the \(operation.rawValue) of \(id)" + (serverID.map { " (\($0))" } ?? "")
      + (marker.map { " (\($0))" } ?? "")
  }
}
