import JSON
import Ledger
import Salesforce
import System

/// The history of a record as far as the pipeline knows it, for `attache explain`.
package struct RecordStory: Sendable {
  /// The record's ID in the org; nil if it never reached the org.
  package var recordID: String?
  /// The local ID of a record that a device created.
  package var localID: String?
  package var sobject: String?
  /// The record's name, from the last returned element.
  package var titles: [FieldDifference] = []
  /// The last returned element, which the org's messages may quote.
  var element: JSONObject?
  package var soups: Set<SoupKey> = []
  /// The events in chronological order (`StoryOrder`).
  package private(set) var events: [RecordEvent] = []

  /// The history of the record with an ID or a local ID, or of the record of a numbered edit; it
  /// has no events if the ledger does not know the record.
  ///
  /// - Parameter changes: The fields that a device changed in an element, given what it was issued.
  package init(
    of name: String, in ledger: LedgerDatabase,
    changes: (JSONObject, MergeBase?) -> [FieldDifference]
  ) throws {
    let long = name.recordID18 ?? name
    let events = try ledger.events(named: long, changes: changes)
    for case .edited(let edit, let object, _, _) in events.map(\.kind) {
      recordID = edit.serverID ?? recordID
      localID = edit.localID ?? localID
      sobject = edit.sobject ?? sobject
      soups.insert(edit.row.inSoup)
      if let object {
        element = object
        let found = ReportEdit.titles(of: object)
        if !found.isEmpty { titles = found }
      }
    }
    add(events)
    if recordID == nil, let id = name.recordID18 { recordID = id }
  }

  /// Inserts further events, each in its position.
  package mutating func add(_ more: [RecordEvent]) {
    events = StoryOrder(of: events + more).sorted()
  }
}
