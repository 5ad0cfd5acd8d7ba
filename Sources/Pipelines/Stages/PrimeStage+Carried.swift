import JSON
import Ledger
import MobileSync
import Reconciliation
import Reports
import Salesforce

// The open edits that a user's next generation redelivers.
extension PrimeStage {
  /// Returns the edits that the next generation of a snapshot redelivers, in order of arrival.
  ///
  /// An edit is redelivered if its user can fix it on the device. It goes back to the platform that
  /// it came from, with its own values and a sentence that says why it is open. Edits whose outcome
  /// is not known yet, or that cannot be fixed on the device, are left out, so that the device keeps
  /// its store:
  /// - a request for the edit is in progress, or arrived after it was discarded, or a duplicate was
  ///   created: an operator has to check the org;
  /// - several open edits of one record would be in one bundle: neither may hide the other;
  /// - several new records would have the same local ID in one bundle, or the edit's record refers to
  ///   one of them: they could not be distinguished;
  /// - the edit's store is shared by all users, its soup no longer exists, or its row cannot be read;
  /// - its app does not identify the installation and count the returns.
  ///
  /// An edit that a bundle has redelivered before is redelivered again, ahead of others, so that its
  /// user does not lose sight of it.
  func carried(_ snapshotID: String) throws -> [CarriedEdit] {
    guard run.pipeline.reconcile.returnOpenEdits, snapshotID != SnapshotID.global else { return [] }
    let soups = Set(
      run.pipeline.stores(of: .user).flatMap { store in
        store.schema.soups.map {
          SoupKey(
            store: StoreKey(scope: .user, storeName: store.storeName), soup: $0.soupName)
        }
      })
    let platforms = Set(run.pipeline.platforms.map(\.rawValue))
    let rules = try ReconcileStage.rules(of: run.pipeline)
    let open = try run.ledger.carriable(snapshotID: snapshotID)
    let alone = Self.alone(open)
    let makers = Self.makers(open)
    return try open.compactMap { one in
      guard alone.contains(one.edit.id), Self.isMendable(one), soups.contains(one.edit.soup),
        platforms.contains(one.platform)
      else { return nil }
      return try carried(one, makers[one.platform, default: [:]], rules)
    }
  }

  /// The edits that exclude other edits of their record from a bundle.
  private static func alone(_ open: [CarryFacts]) -> Set<Int64> {
    var alone: Set<Int64> = []
    for rivals in Dictionary(grouping: open, by: record).values {
      let isOfOne = Set(rivals.map(\.device)).count == 1
      for group in Dictionary(grouping: rivals, by: place).values {
        let given = isOfOne && group.count == 1 ? group : group.filter(\.wasCarried)
        if given.count == 1 { alone.insert(given[0].edit.id) }
      }
    }
    return alone
  }

  /// The new records with a local ID, and whether a bundle has redelivered them before.
  private typealias Makers = [Int64: Bool]

  /// The new records, by platform and local ID.
  private static func makers(_ open: [CarryFacts]) -> [String: [String: Makers]] {
    var makers: [String: [String: Makers]] = [:]
    for one in open where one.edit.recordID == nil {
      guard let localID = one.edit.localID else { continue }
      makers[one.platform, default: [:]][localID, default: [:]][maker(one), default: false] =
        one.wasCarried || makers[one.platform]?[localID]?[maker(one)] == true
    }
    return makers
  }

  private static func maker(_ one: CarryFacts) -> Int64 { one.edit.creation?.id ?? -one.edit.id }

  /// The record that a local ID stands for in a bundle; nil if it is ambiguous.
  private static func owner(_ makers: Makers) -> Int64? {
    if makers.count == 1 { return makers.first?.key }
    let given = makers.filter(\.value)
    return given.count == 1 ? given.first?.key : nil
  }

  private static func record(_ one: CarryFacts) -> String {
    one.platform + " " + (one.edit.recordID ?? "made \(one.edit.creation?.id ?? -one.edit.id)")
  }

  private static func place(_ one: CarryFacts) -> String {
    record(one) + " " + one.edit.row.store.text + " " + one.edit.row.soup
  }

  /// Whether the device's user can resolve the edit.
  private static func isMendable(_ one: CarryFacts) -> Bool {
    guard let verdict = one.verdict, !one.isBound || one.wasCarried, one.edit.finding == nil,
      one.edit.operation != .synced, one.edit.operation != .dropped,
      one.edit.creation?.isTwice != true, !one.edit.isToBeUndone
    else { return false }
    return !verdict.isSettled && verdict != .duplicateCreated
      && (verdict != .unconfirmed || one.wasCarried)
  }

  private func carried(
    _ one: CarryFacts, _ makers: [String: Makers], _ rules: [ReconciledSync]
  ) throws -> CarriedEdit? {
    guard let verdict = one.verdict,
      var element = try? RecordHistory.element(of: one.edit, in: nil)
    else { return nil }
    let edit = one.edit
    if edit.recordID == nil, let name = edit.localID, let known = makers[name],
      Self.owner(known) != Self.maker(one)
    {
      return nil
    }
    let target = rules.first { $0.soup == edit.soup }?.target
    let idField = target?.idFieldName ?? TargetFields().idFieldName
    var edited = try edited(edit, element, rules)
    if verdict == .deletedOnServer || verdict == .mergedOnServer {
      // A record that no longer exists has no values under the edit, so the device keeps all
      // reported fields as its own, and all known fields of a record that it created.
      let told =
        edit.creation == nil
        ? (one.detail.fields + one.detail.outside).map(\.name)
        : element.names.filter(FieldComparison.isField)
      edited = Set(edited + told.filter { element[$0] != nil }).sorted()
    }
    let words = CarriedWords(
      mask: run.pipeline.report.reportMask, verdict: verdict, detail: one.detail, element: element,
      edited: Set(edited))
    for (name, value) in element {
      guard name != idField, case .string(let text) = value,
        LocalFields.isLocalID(text) || makers[text] != nil
      else { continue }
      let made = try run.ledger.creation(localID: text, of: edit)
      if let id = made?.recordID ?? made?.deviceRecordID {
        element[name] = .string(id)
      } else if let known = makers[text], Self.owner(known) != made?.id {
        return nil
      }
    }
    if let recordID = edit.recordID { element[idField] = .string(recordID) }
    let isDeleted = edit.operation == .delete
    element[LocalFields.local] = true
    element[LocalFields.created] = .bool(edit.recordID == nil)
    element[LocalFields.updated] = .bool(edit.recordID != nil && !isDeleted)
    element[LocalFields.deleted] = .bool(isDeleted)
    element[LocalFields.lastErrorShown] = nil
    return CarriedEdit(
      edit: edit.id, source: edit.content, platform: one.platform, soup: edit.soup,
      idField: idField, recordID: edit.recordID, lastModified: edit.lastModified, edited: edited,
      element: element,
      dateField: target?.modificationDateFieldName ?? TargetFields().modificationDateFieldName,
      words: words)
  }

  /// The fields that a device edited, including those that are never sent.
  private func edited(
    _ edit: OpenEdit, _ element: JSONObject, _ rules: [ReconciledSync]
  ) throws -> [String] {
    if edit.recordID == nil { return element.names.filter { !LocalFields.isOwn($0) }.sorted() }
    if edit.operation == .delete { return [] }
    let comparison = try run.ledger.history(of: .init(edit)).editedFields(
      of: edit, rules, element)
    var names = Set((comparison.edited + comparison.outside).map(\.name))
    // It is unknown which of the other fields the user edited, so the device keeps those that it
    // was not issued. For a record that it created, these are the fields that are never sent.
    let unknown = edit.creation == nil ? [] : comparison.unknown
    for (name, value) in element where FieldComparison.isField(name) {
      guard comparison.hasNoBase || unknown.contains(name) else { continue }
      if let base = edit.base, base.knows(name), FieldValue.isEqual(value, base.fields[name]) {
        continue
      }
      names.insert(name)
    }
    return names.sorted()
  }
}
