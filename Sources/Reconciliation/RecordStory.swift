import JSON
import Ledger
import Salesforce
import System

/// The whole life of a record as far as the pipeline knows it: what `attache explain` tells.
package struct RecordStory: Sendable {
  /// The record's Id in the org; nil for one that never reached it.
  package var recordID: String?
  /// The device's own id of a record that a device made.
  package var localID: String?
  /// The sObject.
  package var sobject: String?
  /// What a person would call it, from the last element that came back.
  package var titles: [FieldDifference] = []
  /// The last element that came back: words of the org may quote it.
  var element: JSONObject?
  /// The soups that its edits stand in.
  package var soups: Set<SoupKey> = []
  /// What happened, in the order in which it did (`StoryOrder`).
  package private(set) var events: [RecordEvent] = []

  /// The story of the record that a person names by an Id, by a device's own id, or by the number
  /// of an edit; without an event where the ledger knows nothing of it.
  package init(of name: String, in ledger: LedgerDatabase) throws {
    let long = name.recordID18 ?? name
    for id in try ledger.edits(named: long) {
      guard let edit = try ledger.events(ofEdit: id, changes: Self.changes) else { continue }
      recordID = edit.recordID ?? recordID
      localID = edit.localID ?? localID
      sobject = edit.sobject ?? sobject
      soups.insert(edit.soup)
      if let object = (try? JSONValue(parsing: edit.element))?.object {
        element = object
        let found = ReportEdit.titles(of: object)
        if !found.isEmpty { titles = found }
      }
      add(edit.events)
    }
    if recordID == nil, let id = name.recordID18 { recordID = id }
  }

  /// Adds what happened besides, each in its place.
  package mutating func add(_ more: [RecordEvent]) {
    events = StoryOrder(of: events + more).sorted()
  }

  /// The fields that a device changed, or all that it entered where nobody knows what it was given.
  private static func changes(_ element: JSONObject, _ base: MergeBase?) -> [FieldDifference] {
    let fields = element.filter { FieldComparison.isField($0.0) && FieldComparison.isScalar($0.1) }
    let comparison = FieldComparison(
      device: element, base: base, server: nil, listed: fields.map(\.0))
    return comparison.edited + comparison.outside
  }
}
