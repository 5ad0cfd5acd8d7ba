import Crypto
import JSON
import Ledger
import MobileSync
import Salesforce

/// An edit that is open, as the next generation carries it: a row that is dirty still.
package struct CarriedEdit: Sendable {
  /// The edit.
  package var edit: Int64
  /// The digest of its element as it came.
  package var source: String
  /// The platform of its device.
  package var platform: String
  /// The soup.
  package var soup: SoupKey
  /// The member that identifies a record.
  package var idField: String
  /// The record's Id in the org; nil where the org does not have it.
  package var recordID: String?
  /// The row's `lastModified` on its device.
  package var lastModified: Int64
  /// The fields that its device edited; all that a new record has.
  package var edited: [String]
  /// The element as the device left it, with the flags of an open edit; what its store kept in it is of no
  /// account.
  let element: JSONObject
  /// The member that says when the org's record was changed last.
  let dateField: String
  /// Why it is open.
  let words: CarriedWords

  /// A row as a device gets it.
  package struct Row: Sendable {
    /// The element.
    package var element: JSONObject
    /// Why the edit is open, as the element says it.
    package var words: String
    /// The org's values that the words show, by field; nil where they show none.
    package var shown: JSONObject?
  }

  /// The row for a user whose store has `held` in the record's place; nil where it has no such record.
  ///
  /// A device gets what its user may see now: the record as the store has it, and over that what was edited.
  /// Of a record that is not there any more it gets the Id and the edited fields. The modification date is the
  /// edit's own: who changes the row is judged by what its device had read.
  package func row(over held: JSONObject?) -> Row {
    var row = element
    if recordID != nil {
      let own = Set(edited + [idField, dateField, "attributes"])
      for (name, _) in element where !own.contains(name) {
        // Of a record that is gone its row keeps the SDK's flags alone.
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

  /// Names what is carried: another one has another content.
  ///
  /// What the user's store holds of the record makes another generation by itself.
  package var digest: String {
    let value = JSONValue.array([
      .object(element), JSONValue(lastModified), .string(soup.soup), JSONValue(edited),
      .string(words.sentence(over: words.reported)),
    ])
    return Digest.sha256Hex(value.bytes(pretty: false, sortedKeys: true))
  }
}

/// Says which of a user's open edits the next generation carries, and as what.
///
/// Carried is what a person can mend on the device: the edit goes back to the platform that it came
/// from, with its own values and a sentence that says why it is open. Left out, so that its device keeps
/// its store, is what nobody can say about yet or can mend there:
/// - a request is under way for it, or arrived after it was given up, or it was created twice: a person
///   has to look at the org;
/// - several open edits of one record would go into one bundle: neither may hide the other;
/// - several new records would have one local id there, or its record refers to one of these: nothing would
///   tell them apart;
/// - it is of a store that all users share, of a soup that is no more, or its row cannot be read;
/// - its app does not mark the installation and count the hand-backs.
///
/// What a bundle has given back already goes with the next ones too, first of several: whoever was given it
/// may not lose sight of it.
package struct CarriedEdits {
  private let state: LedgerDatabase
  private let rules: [ReconciledSync]
  private let mask: ReportMask
  private let soups: Set<SoupKey>
  private let platforms: Set<String>

  /// The carried edits of a pipeline that has these soups and platforms.
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

  /// What the next generation of a snapshot carries, in order of arrival.
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

  /// The edits beside which no other one of their record goes into a bundle.
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

  /// The new records of a local id, and whether a bundle has given them back already.
  private typealias Makers = [Int64: Bool]

  /// The new records, by platform and local id.
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

  /// The record that a local id stands for in a bundle; nil where several might be meant.
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

  /// Says whether a person at the device can do something about it.
  static func isMendable(_ one: CarryFacts) -> Bool {
    guard let verdict = one.verdict, !one.isBound || one.wasCarried, one.edit.finding == nil,
      one.edit.operation != .synced, one.edit.operation != .dropped,
      one.edit.creation?.isTwice != true, !one.edit.isToBeUndone
    else { return false }
    switch verdict {
    case .conflict, .deviceConflict, .deletedOnServer, .mergedOnServer, .notVisible, .blocked,
      .notPermitted, .notConfigured, .failed, .notAttempted:
      return true
    case .unconfirmed: return one.wasCarried
    case .duplicateCreated, .created, .updated, .deleted, .unchanged, .alreadyInOrg,
      .notInFieldList, .superseded, .discarded, .undone, .partlyUndone, .notUndone:
      return false
    }
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
      // Of a record that is gone nothing stands under the edit: the device keeps all that was told as its own, and of
      // a record that it has made all that it knows.
      let told =
        edit.creation == nil
        ? (one.detail.fields + one.detail.outside).map(\.name)
        : element.filter { FieldComparison.isField($0.name) && FieldComparison.isScalar($0.value) }
          .map(\.name)
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

  /// The fields that a device edited, those that never travel too.
  private func edited(_ edit: OpenEdit, _ element: JSONObject) throws -> [String] {
    if edit.recordID == nil { return element.names.filter { !LocalFields.isOwn($0) }.sorted() }
    if edit.operation == .delete { return [] }
    let comparison = try state.editedFields(of: edit, rules)
    var names = Set((comparison.edited + comparison.outside).map(\.name))
    // Nobody can say which of the others its user edited: the device keeps what it was not given. Of a record
    // that it made that is what never travelled.
    let unknown = edit.creation == nil ? [] : comparison.unknown
    for (name, value) in element
    where FieldComparison.isField(name) && FieldComparison.isScalar(value) {
      guard comparison.hasNoBase || unknown.contains(name) else { continue }
      if let base = edit.base, base.knows(name), FieldValue.isEqual(value, base.fields[name]) {
        continue
      }
      names.insert(name)
    }
    return names.sorted()
  }
}
