import JSON
import Ledger
import MobileSync

/// One edit as a report tells of it.
package struct ReportEdit: Sendable, Hashable {
  /// Its number in the ledger.
  package var number: Int64
  /// What became of it.
  package var verdict: Verdict
  /// What stands beside the verdict.
  package var detail: OutcomeDetail
  /// The snapshot's user; nil for the global snapshot.
  package var username: String?
  /// The store.
  package var store: StoreKey
  /// The soup.
  package var soup: String
  /// The row in the device's store.
  package var soupEntryID: Int64
  /// What the device did.
  package var operation: EditOperation
  /// The sObject.
  package var sobject: String?
  /// The record's Id in the org, if it has one.
  package var recordID: String?
  /// The device's own id of a record that it made.
  package var localID: String?
  /// The members of the element that name the record, and their values: a person has two.
  package var titles: [FieldDifference]
  /// The file that it came in.
  package var source: String
  /// `ios` or `android`.
  package var platform: String
  /// The generation of the bundle.
  package var generation: Int64
  /// The element, where the words beside the verdict may quote it.
  var element: JSONObject?
  /// The number of the device within the ledger: the report's own name for a lineage.
  package var device: Int64
  /// Whether the ledger has an Id of its record.
  var hasRecord = true
  /// Whether the row in the device's store could be read.
  var isReadable = true
  /// Whether what it changed in the org is to be undone, and that is not done yet.
  var isToBeUndone = false
  /// The run that gave the verdict.
  package var run = ""
  /// The run that gave the edit its first verdict: the one that found it.
  package var foundBy = ""
  /// That run's clock, in ms of the org's time.
  package var foundAt: Int64 = 0
  /// When the device changed the row, in ms by the device's own clock; 0 where it does not say.
  package var editedAt: Int64 = 0
  /// When the return arrived, in ms.
  package var arrivedAt: Int64 = 0
  /// The fields that were sent of it; nil where nothing was, or where nobody asked for them.
  var sent: JSONObject?
  /// What was sent to undo it; nil where nothing was.
  package var undoing: SyncUpAction?

  /// Its object, and the record by an Id, by the device's own id, or by its row.
  package var recordName: String {
    "\(sobject ?? soup) \(recordID ?? localID ?? "row \(soupEntryID)")"
  }

  /// Whose store it came from.
  package var owner: String { username ?? Self.globalOwner }

  /// What stands for a user where the store is everybody's.
  package static let globalOwner = "the global store"

  /// What a person may decide about it.
  package var possible: [Decision.Kind] { DecisionRule.possible(subject) }

  /// What a person should do about it, with the command; nil for nothing.
  package func nextStep(in pipeline: String) -> String? {
    DecisionRule.nextStep(subject, in: pipeline, edit: number)
  }

  private var subject: DecisionRule.Subject {
    var subject = DecisionRule.Subject(
      verdict: verdict, operation: operation, hasRecord: hasRecord, isReadable: isReadable)
    subject.isToBeUndone = isToBeUndone
    return subject
  }

  /// The commands that decide about it, the likeliest first; a value and an id are to be put in.
  package func commands(pipeline: String) -> [String] {
    possible.map { "attache decide \(pipeline) \(number) \($0.option)" }
  }

  /// What a person calls its record, as far as it may be shown: first and last name together.
  package func name(_ options: ReportMask) -> String? {
    let parts = titles.compactMap { part -> String? in
      guard case .value(let value) = options.shown(part.device, of: part.name) else { return nil }
      return value.string
    }
    return parts.isEmpty ? nil : ReportMask.Shown.inLine(parts.joined(separator: " "))
  }

  /// What picks out of an element what `titles` looks at: of most edits the rest is not read.
  static let naming = RecordBody(fields: ["LastName", "FirstName"] + titleFields)

  private static let titleFields = ["Name", "Subject", "Title", "CaseNumber", "WorkOrderNumber"]

  /// The members of an element by which a person would call its record.
  static func titles(of element: JSONObject) -> [FieldDifference] {
    func member(_ name: String) -> FieldDifference? {
      guard let value = element[name], let text = value.string, !text.isEmpty else { return nil }
      return FieldDifference(name: name, base: nil, device: value, server: nil)
    }
    if let last = member("LastName") { return [member("FirstName"), last].compactMap { $0 } }
    for name in titleFields {
      if let title = member(name) { return [title] }
    }
    return []
  }
}
