import Crypto
import JSON
import Ledger
import MobileSync
import Reconciliation
import Reports
import Salesforce

/// An open edit as the next generation redelivers it: a row that is still dirty.
package struct CarriedEdit: Sendable {
  package var edit: Int64
  /// The digest of its element as returned.
  package var source: String
  package var platform: String
  package var soup: SoupKey
  /// The element's member that identifies its record.
  package var idField: String
  /// The record's ID in the org; nil if the org does not have the record.
  package var recordID: String?
  /// The `lastModified` of the row on its device.
  package var lastModified: Int64
  /// The fields that its device edited; for a new record, all of its fields.
  package var edited: [String]
  /// The element as the device left it, with the flags of an open edit; the store's own members are
  /// ignored.
  let element: JSONObject
  /// The member with the modification date of the org's record.
  let dateField: String
  /// The reason why it is open.
  let words: CarriedWords

  /// A row as issued to a device.
  package struct Row: Sendable {
    package var element: JSONObject
    /// The message in the element that says why the edit is open.
    package var words: String
    /// The org's values that the message shows, by field; nil if it shows none.
    package var shown: JSONObject?
  }

  /// The row for a user whose store has `held` for the record; nil if it has no such record.
  ///
  /// A device gets what its user may see now: the record as the store has it, with the edited
  /// fields on top. For a record that is no longer there, it gets the ID and the edited fields. The
  /// modification date is the edit's own, so that a later change of the row is compared with what
  /// its device had read.
  package func row(over held: JSONObject?) -> Row {
    var row = element
    if recordID != nil {
      let own = Set(edited + [idField, dateField, "attributes"])
      for (name, _) in element where !own.contains(name) {
        // The row of a record that no longer exists keeps only the SDK's flags.
        let stays = held == nil ? name.hasPrefix("__") : LocalFields.isOwn(name)
        if !stays { row[name] = nil }
      }
      for (name, value) in held ?? [:] where row[name] == nil && !LocalFields.isOwn(name) {
        if name != dateField { row[name] = value }
      }
    }
    let sentence = words.sentence(over: held)
    row[LocalFields.lastError] = .string(sentence)
    return Row(element: row, words: sentence, shown: words.shown(over: held))
  }

  /// Identifies what is redelivered; it changes with the content.
  ///
  /// A change of the record in the user's store causes a new generation anyway.
  package var digest: String {
    let value = JSONValue.array([
      .object(element), JSONValue(lastModified), .string(soup.soup), JSONValue(edited),
      .string(words.sentence(over: words.reported)),
    ])
    return Digest.sha256Hex(value.bytes(pretty: false, sortedKeys: true))
  }
}

/// Determines which of a user's open edits the next generation redelivers, and with what content.
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
package struct CarriedEdits {
  private let state: LedgerDatabase
  private let rules: [ReconciledSync]
  private let mask: ReportMask
  private let soups: Set<SoupKey>
  private let platforms: Set<String>

  /// The redelivered edits of a pipeline with these soups and platforms.
  package init(
    state: LedgerDatabase, syncUps: [ReconciledSync], mask: ReportMask, soups: Set<SoupKey>,
    platforms: Set<String>
  ) {
    self.state = state
    rules = syncUps
    self.mask = mask
    self.soups = soups
    self.platforms = platforms
  }

  /// The edits that the next generation of a snapshot redelivers, in order of arrival.
  package func of(_ snapshotID: String) throws -> [CarriedEdit] {
    let open = try state.carriable(snapshotID: snapshotID)
    let alone = Self.alone(open)
    let makers = Self.makers(open)
    return try open.compactMap { one in
      guard alone.contains(one.edit.id), Self.isMendable(one), soups.contains(one.edit.soup),
        platforms.contains(one.platform)
      else { return nil }
      return try carried(one, makers[one.platform, default: [:]])
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
  static func isMendable(_ one: CarryFacts) -> Bool {
    guard let verdict = one.verdict, !one.isBound || one.wasCarried, one.edit.finding == nil,
      one.edit.operation != .synced, one.edit.operation != .dropped,
      one.edit.creation?.isTwice != true, !one.edit.isToBeUndone
    else { return false }
    return !verdict.isSettled && verdict != .duplicateCreated
      && (verdict != .unconfirmed || one.wasCarried)
  }

  private func carried(_ one: CarryFacts, _ makers: [String: Makers]) throws -> CarriedEdit? {
    guard let verdict = one.verdict,
      var element = (try? JSONValue(parsing: one.edit.element))?.object
    else { return nil }
    let edit = one.edit
    if edit.recordID == nil, let name = edit.localID, let known = makers[name],
      Self.owner(known) != Self.maker(one)
    {
      return nil
    }
    let target = rules.first { $0.soup == edit.soup }?.target
    let idField = target?.idFieldName ?? TargetFields().idFieldName
    var edited = try edited(edit, element)
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
      mask: mask, verdict: verdict, detail: one.detail, element: element, edited: Set(edited))
    for (name, value) in element {
      guard name != idField, case .string(let text) = value,
        LocalFields.isLocalID(text) || makers[text] != nil
      else { continue }
      let made = try state.creation(localID: text, of: edit)
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
  private func edited(_ edit: OpenEdit, _ element: JSONObject) throws -> [String] {
    if edit.recordID == nil { return element.names.filter { !LocalFields.isOwn($0) }.sorted() }
    if edit.operation == .delete { return [] }
    let comparison = try state.history(of: .init(edit)).editedFields(of: edit, rules)
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
