import JSON
import Ledger
import MobileSync

/// One edit in a report.
package struct ReportEdit: Sendable, Hashable {
  /// Which edits are asked for.
  package enum Selection: Sendable {
    /// Those that are unresolved now, reported or not.
    case unsettled
    /// Those with these numbers.
    case numbered([Int64])
  }

  package var number: Int64
  package var verdict: Verdict
  package var detail: OutcomeDetail
  /// The snapshot's user; nil for the global snapshot.
  package var username: String?
  package var store: StoreKey
  package var soup: String
  /// The row's `_soupEntryId` in the device's store.
  package var soupEntryID: Int64
  package var operation: EditOperation
  package var sobject: String?
  package var recordID: String?
  /// The local ID of a record that the device created.
  package var localID: String?
  /// The members of the element that name the record, with their values; a contact has two.
  package var titles: [FieldDifference]
  /// The file that contained it.
  package var source: String
  /// `ios` or `android`.
  package var platform: String
  package var generation: Int64
  /// The element, if the verdict's message may quote it.
  var element: JSONObject?
  /// The device's number in the ledger, by which the report identifies a lineage.
  package var device: Int64
  /// Whether the ledger has an ID of its record.
  var hasRecord = true
  /// Whether the row in the device's store could be read.
  var isReadable = true
  /// Whether its changes in the org are to be undone and have not been yet.
  var isToBeUndone = false
  /// The run that gave the verdict.
  package var run = ""
  /// The run that gave the edit its first verdict.
  package var foundBy = ""
  /// That run's clock, in ms of the org's time.
  package var foundAt: Int64 = 0
  /// When the device changed the row, by its own clock, in ms; 0 if unknown.
  package var editedAt: Int64 = 0
  /// When the return arrived, in ms.
  package var arrivedAt: Int64 = 0
  /// The fields that were sent; nil if none were, or if they were not requested.
  var sent: JSONObject?
  /// The write that undid it; nil if none was sent.
  package var undoing: SyncUpAction?

  /// The object, and the record's ID, local ID or row.
  package var recordName: String {
    "\(sobject ?? soup) \(recordID ?? localID ?? "row \(soupEntryID)")"
  }

  /// The user whose store it came from.
  package var owner: String { username ?? Self.globalOwner }

  /// The name that replaces the user for a global store.
  package static let globalOwner = "the global store"

  package var possible: [Decision.Kind] { DecisionRule.possible(subject) }

  /// What an operator should do about it, with the command; nil if nothing.
  package func nextStep(in pipeline: String) -> String? {
    DecisionRule.nextStep(subject, in: pipeline, edit: number)
  }

  /// The facts that its possible decisions depend on.
  package var subject: DecisionRule.Subject {
    DecisionRule.Subject(
      verdict: verdict, operation: operation, hasRecord: hasRecord, isReadable: isReadable,
      isToBeUndone: isToBeUndone)
  }

  /// The commands that decide about it, the most likely one first; values and IDs have
  /// placeholders.
  package func commands(pipeline: String) -> [String] {
    possible.map { "attache decide \(pipeline) \(number) \($0.option)" }
  }

  /// The record's name as far as it may be shown, with first and last name combined.
  package func name(_ options: ReportMask) -> String? {
    let parts = titles.compactMap { part -> String? in
      guard case .value(let value) = options.shown(part.device, of: part.name) else { return nil }
      return value.string
    }
    return parts.isEmpty ? nil : ReportMask.Shown.inLine(parts.joined(separator: " "))
  }

  /// Extracts the members that `titles` uses, so that the rest of most elements is not parsed.
  static let naming = RecordBody(fields: ["LastName", "FirstName"] + titleFields)

  private static let titleFields = ["Name", "Subject", "Title", "CaseNumber", "WorkOrderNumber"]

  /// The members of an element that name its record.
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
