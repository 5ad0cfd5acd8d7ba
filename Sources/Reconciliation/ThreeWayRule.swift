import JSON
import Ledger
import MobileSync
import Salesforce

/// What is known of the org's record.
package enum ServerRecord: Sendable, Hashable {
  /// It could not be read, for this reason.
  case unknown(code: String?, message: String)
  /// It is there.
  case alive(date: String?, fields: JSONObject)
  /// It is proved to be deleted.
  case deleted
  /// It was merged into another record.
  case merged(into: String)
  /// It is there, or may be, and the sender does not see it.
  case hidden

  /// The record into which it was merged.
  var masterID: String? {
    if case .merged(let id) = self { id } else { nil }
  }
}

/// The record into which another one was merged.
package struct RemainingRecord: Sendable, Hashable {
  /// Its modification date.
  var date: String?
  /// Its values.
  var fields: JSONObject

  package init(date: String? = nil, fields: JSONObject) {
    self.date = date
    self.fields = fields
  }
}

/// Everything that the decision about one edit looks at.
package struct EditFacts: Sendable {
  /// What has to be done, after what is known of the record.
  var operation: SyncOperation
  /// The sync up's merge mode.
  var mode: MergeMode
  /// The element.
  var device: JSONObject
  /// The modification date in the element.
  var deviceDate: String?
  /// What the device was given.
  var issued: MergeBase?
  /// What our writes for this lineage left.
  var ownWrite: MergeBaseRule.OwnWrite?
  /// The org's record.
  var server: ServerRecord
  /// The fields that may travel; of a delete those that an update would send.
  package var listed: [String]
  /// The fields that travel with a new record; nil for those of an update.
  var listedOfCreate: [String]?
  /// Whether its row has seen nothing of the record, which the device's own sync has made.
  var isUnseen = false
  /// Listed fields in which the device itself may have sent what the org holds: where it holds what it was given, its
  /// user may have put that back.
  var doubted: Set<String> = []
  /// Whether other edits of the device are of the same record, in another soup or store.
  var isShared = false
  /// Whether a bundle has given it back to its device, over what the org held by then.
  var wasCarried = false
  /// Whether it is sent beside what others changed in other fields, and with the edited fields alone.
  package var mergesFields = false
  /// Fields in which the device's copy holds what an undo has taken back in the org since.
  var takenBack: Set<String> = []
  /// The record that remained where the edit's was merged into it, as far as the sender sees it.
  package var remaining: RemainingRecord?
  /// Whether a create goes out as an upsert.
  var upserts = false
  /// The external id that an upsert sends beside its fields.
  var upsertField: String?
  /// Which absent records are made anew.
  var recreate = MissingRecordRule.Recreate.standard
  /// What a person decided about it.
  package var decision: PendingDecision?

  package init(
    operation: SyncOperation, mode: MergeMode, device: JSONObject, deviceDate: String? = nil,
    issued: MergeBase? = nil, ownWrite: MergeBaseRule.OwnWrite? = nil, server: ServerRecord,
    listed: [String], listedOfCreate: [String]? = nil, isUnseen: Bool = false,
    doubted: Set<String> = [], isShared: Bool = false, wasCarried: Bool = false,
    mergesFields: Bool = false, takenBack: Set<String> = [], remaining: RemainingRecord? = nil,
    upserts: Bool = false, upsertField: String? = nil,
    recreate: MissingRecordRule.Recreate = .standard, decision: PendingDecision? = nil
  ) {
    self.operation = operation
    self.mode = mode
    self.device = device
    self.deviceDate = deviceDate
    self.issued = issued
    self.ownWrite = ownWrite
    self.server = server
    self.listed = listed
    self.listedOfCreate = listedOfCreate
    self.isUnseen = isUnseen
    self.doubted = doubted
    self.isShared = isShared
    self.wasCarried = wasCarried
    self.mergesFields = mergesFields
    self.takenBack = takenBack
    self.remaining = remaining
    self.upserts = upserts
    self.upsertField = upsertField
    self.recreate = recreate
    self.decision = decision
  }

  /// What becomes of it where its record is not there.
  func step(_ fate: RecordFate) -> MissingRecordRule.Step {
    MissingRecordRule.step(operation, fate, mode, recreate)
  }
}

/// Decides what becomes of one edit.
///
/// The modification dates decide as in the SDK, and the values beside them: dates have one second,
/// so a record that still bears the date of its base may have been changed since. Where the base is
/// known and a listed field of the org is neither that nor what we wrote, LEAVE_IF_CHANGED leaves the
/// record although its date says otherwise, and OVERWRITE lists what it overwrites. The other way
/// round the date stands: a record that moved is left although all its listed values are the base's,
/// since the SDK leaves it, and what moved it may be a field that nobody listed.
package enum ThreeWayRule {
  /// The next step of an edit.
  package enum Step: Sendable, Hashable {
    /// Nothing is sent.
    case settle(Settlement)
    /// Something is sent; the verdict is that of success. With a date it is sent only if the org's
    /// record still bears that date.
    case send(SyncUpAction, Settlement, ifUnmodifiedSince: String?)
  }

  /// The step of an edit whose record's state is known.
  package static func step(_ facts: EditFacts) -> Step {
    if let decided = decided(facts) { return decided }
    switch facts.operation {
    case .none, .dropLocally: return .settle(Settlement(.unchanged))
    case .create: return create(facts)
    case .update, .delete: break
    }
    if let untouched = untouched(facts) { return untouched }
    switch facts.server {
    case .alive(let date, let fields): return alive(facts, date: date, fields: fields)
    case .deleted: return missing(facts, .deleted, .deletedOnServer)
    case .merged(let master):
      return missing(facts, .merged(into: master), .mergedOnServer, into: master)
    case .hidden: return missing(facts, .unproved, .notVisible)
    case .unknown(let code, let message): return unknown(facts, code: code, message: message)
    }
  }

  /// The step of a new record.
  static func create(_ facts: EditFacts) -> Step {
    var detail = OutcomeDetail()
    detail.outside = notBrought(facts, facts.listed)
    // What it brings: whoever reads of it, or has to enter it by hand, needs the values.
    detail.fields = UpsertRule.differences(facts.device, facts.listed, server: nil, base: nil)
      .filter { !FieldValue.isSame($0.device, nil) }
    return .send(
      facts.upserts ? .upsert : .create, Settlement(.created, detail), ifUnmodifiedSince: nil)
  }

  /// What the device holds in the fields that a new record of it does not bring.
  private static func notBrought(_ facts: EditFacts, _ listed: [String]) -> [FieldDifference] {
    let inList = Set(listed)
    return facts.device.filter { name, value in
      !inList.contains(name) && name != facts.upsertField && FieldComparison.isField(name)
        && !FieldValue.isSame(value, nil)
    }.map { FieldDifference(name: $0.name, base: nil, device: $0.value, server: nil) }
  }

  /// An update of a record that is not there, or was not read, in which nothing was edited that travels: whatever
  /// became of the record, nothing of the device's is at stake.
  ///
  /// Nil where the record is there, and where nobody knows what the device was given.
  private static func untouched(_ facts: EditFacts) -> Step? {
    if case .alive = facts.server { return nil }
    guard facts.operation == .update, !facts.isUnseen, usableBase(facts) != nil else { return nil }
    let comparison = compare(facts, date: nil, fields: nil).1
    guard comparison.edited.isEmpty, !comparison.hasNoBase else { return nil }
    var detail = OutcomeDetail()
    detail.outside = comparison.outside
    return settled(comparison, detail)
  }

  private static func alive(_ facts: EditFacts, date: String?, fields: JSONObject) -> Step {
    let (choice, comparison) = compare(facts, date: date, fields: fields)
    var detail = OutcomeDetail()
    detail.outside = comparison.outside
    detail.hasNoBase = comparison.hasNoBase
    if !comparison.putBack.isEmpty {
      detail.message =
        "the device holds what it was given in \(comparison.putBack.joined(separator: ", ")), and may have sent "
        + "itself what the org holds there"
    }
    if facts.operation == .update, let settled = settled(comparison, detail) { return settled }
    let decision = MergeDecision.decide(
      facts.operation, local: choice.date.map { ModificationDate($0) },
      server: .alive(date.map { ModificationDate($0) }), mode: facts.mode)
    // Where nobody knows what the device was given, nobody knows whether it can be merged.
    let isUnsure = facts.mergesFields && comparison.hasNoBase
    var isLeft = facts.mode == .leaveIfChanged && (isUnsure || !comparison.foreign.isEmpty)
    if case .leave = decision { isLeft = true }
    if isLeft, date == nil || !merges(facts, comparison) {
      detail.fields = comparison.contested
      return .settle(Settlement(.conflict, detail))
    }
    let isCompared = isLeft || choice.date != nil || choice.base != nil
    let isConditional = facts.mode == .leaveIfChanged && isCompared
    let condition = isConditional ? date : nil
    if facts.operation == .delete {
      detail.fields = comparison.destroyed
      return .send(.delete, Settlement(.deleted, detail), ifUnmodifiedSince: condition)
    }
    // Overwriting sends the fields that the device left alone as well, over what others made of
    // them since.
    let overwrites = facts.mode == .overwrite && !facts.isShared && !facts.wasCarried
    detail.fields = overwrites ? comparison.contested : comparison.edited
    let kept = facts.takenBack.subtracting(comparison.edited.map(\.name))
    detail.fields.removeAll { kept.contains($0.name) }
    return .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: condition)
  }

  /// Says whether an update is sent beside what others changed: nobody has touched a field that it changes.
  ///
  /// That takes a base, and no value of those fields may be unknown.
  private static func merges(_ facts: EditFacts, _ comparison: FieldComparison) -> Bool {
    guard facts.mergesFields, facts.operation == .update, !comparison.hasNoBase else {
      return false
    }
    return comparison.edited.allSatisfy { field in
      guard field.base != nil, let theirs = field.server else { return false }
      if FieldValue.isSame(field.device, theirs) { return true }
      return !field.isConflicting && !comparison.foreign.contains(field.name)
    }
  }

  static func compare(
    _ facts: EditFacts, date: String?, fields: JSONObject?
  ) -> (MergeBaseRule.Choice, FieldComparison) {
    let choice = MergeBaseRule.choose(
      device: facts.device, deviceDate: facts.deviceDate, issued: facts.issued,
      ownWrite: facts.ownWrite, serverDate: date, serverFields: fields)
    return (
      choice,
      FieldComparison(
        device: facts.device, base: choice.base, server: fields, listed: facts.listed,
        left: choice.left, unseen: facts.isUnseen ? Set(facts.listed) : choice.unseen,
        earlier: choice.earlier, replaced: choice.replaced, doubted: facts.doubted)
    )
  }

  /// The names of the fields that the device edited.
  package static func editedFields(_ facts: EditFacts) -> Set<String> {
    let comparison =
      switch facts.server {
      case .alive(let date, let fields): compare(facts, date: date, fields: fields).1
      case .deleted, .merged, .hidden, .unknown: compare(facts, date: nil, fields: nil).1
      }
    return Set(comparison.edited.map(\.name))
  }

  /// An update that leaves nothing to send.
  static func settled(_ comparison: FieldComparison, _ detail: OutcomeDetail) -> Step? {
    if comparison.edited.isEmpty {
      // Without a base nothing differs from the org: its values are the device's.
      if comparison.hasNoBase { return .settle(Settlement(.alreadyInOrg, detail)) }
      let verdict: Verdict = comparison.outside.isEmpty ? .unchanged : .notInFieldList
      return .settle(Settlement(verdict, detail))
    }
    if comparison.edited.areAlreadyThere {
      var detail = detail
      detail.fields = comparison.edited
      return .settle(Settlement(.alreadyInOrg, detail))
    }
    return nil
  }

  /// The step of an edit whose record is not there; the verdict says so, unless it is done or made anew.
  private static func missing(
    _ facts: EditFacts, _ fate: RecordFate, _ verdict: Verdict, into master: String? = nil
  ) -> Step {
    switch facts.step(fate) {
    case .done: .settle(Settlement(.alreadyInOrg))
    case .recreate: recreated(facts)
    case .stands:
      .settle(Settlement(verdict, master.map { lost(facts, into: $0) } ?? lost(facts)))
    }
  }

  /// What is told of a record that is made anew.
  static let recreatedText = "the record was deleted in the org and is made anew"

  static func recreated(_ facts: EditFacts) -> Step {
    var detail = OutcomeDetail.because(recreatedText)
    detail.hasNoBase = facts.issued == nil
    let (base, listed) = (usableBase(facts), facts.listedOfCreate ?? facts.listed)
    // What the device edited and a new record does not bring is reported. If what it edited is unknown, all that it
    // holds there is.
    let earlier = facts.ownWrite?.element
    detail.outside =
      base == nil && earlier == nil
      ? notBrought(facts, listed)
      : FieldComparison(
        device: facts.device, base: base, server: nil, listed: listed, earlier: earlier
      ).outside
    detail.fields = UpsertRule.differences(
      facts.device, listed, server: nil, base: base?.fields
    ).filter { !FieldValue.isSame($0.device, nil) }
    return .send(.create, Settlement(.created, detail), ifUnmodifiedSince: nil)
  }

  /// What the device was given, where the org has no record to compare it with.
  static func usableBase(_ facts: EditFacts) -> MergeBase? {
    facts.issued.flatMap { $0.isIssued(at: facts.deviceDate) ? $0 : nil }
  }

  /// What the device would have changed, beside the record that remained of a merge.
  static func lost(_ facts: EditFacts, into master: String) -> OutcomeDetail {
    var detail = lost(facts)
    detail.otherID = master
    if let remaining = facts.remaining { detail.showServer(remaining.fields) }
    return detail
  }

  /// What the device would have changed, for a person to enter elsewhere.
  static func lost(_ facts: EditFacts) -> OutcomeDetail {
    let usable = usableBase(facts)
    let comparison = FieldComparison(
      device: facts.device, base: usable, server: nil, listed: facts.listed)
    var detail = OutcomeDetail()
    detail.hasNoBase = usable == nil
    detail.outside = comparison.outside
    if facts.operation == .update { detail.fields = comparison.edited }
    return detail
  }

  /// An error on reading: OVERWRITE asks nothing before it sends; LEAVE_IF_CHANGED cannot decide.
  private static func unknown(_ facts: EditFacts, code: String?, message: String) -> Step {
    var detail = lost(facts)
    if facts.mode == .overwrite || facts.deviceDate == nil {
      return facts.operation == .delete
        ? .send(.delete, Settlement(.deleted, detail), ifUnmodifiedSince: nil)
        : .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: nil)
    }
    detail.code = code
    detail.message = message
    return .settle(Settlement(.failed, detail))
  }
}
