import JSON

/// The changes that one edit made in the org, as far as the ledger can establish them.
package struct EditChange: Sendable, Hashable {
  /// The operation on the record.
  package enum Kind: String, Sendable, Hashable {
    case created, changed, deleted
  }

  package var edit: Int64
  package var kind: Kind
  package var sobject: String
  package var recordID: String
  /// The values that were sent.
  package var sent: JSONObject = [:]
  /// The org's earlier values, as far as they are known.
  package var former: JSONObject = [:]
  /// The values after the writes of the fields that they sent, as far as they could be read.
  package var left: JSONObject = [:]
  /// Whether the record was read unchanged after the writes, with no other write in between.
  package var isLeftKnown = false
  /// Whether one of the writes got no answer, so that its sender may have changed the record before
  /// it was read.
  package var isDoubted = false
  /// The number of the last of the writes.
  package var lastWrite: Int64
  /// For a deletion: the users who can have sent it.
  package var deleters: Set<String> = []
  /// For a deletion: its latest time, in ms of the org's time; nil if that was not recorded.
  package var deletedUntil: Int64?
  /// The run that undid the change.
  package var undoneBy: String?
  /// The latest edit that wrote to the record after it and has not been undone; nil if there is
  /// none.
  package var laterEdit: Int64?
  /// Whether that edit is to be undone.
  package var isLaterToBeUndone = false

  package init(edit: Int64, kind: Kind, sobject: String, recordID: String, lastWrite: Int64) {
    (self.edit, self.kind, self.sobject) = (edit, kind, sobject)
    (self.recordID, self.lastWrite) = (recordID, lastWrite)
  }

  /// The names of the fields whose former values are unknown.
  package var unknown: [String] { sent.names.filter { former[$0] == nil }.sorted() }

  /// A line that names the change and what undoes it.
  package var line: String {
    let values = [former, left].map { JSONValue.object($0).text }.joined(separator: " ")
    return "\(edit) \(kind.rawValue) \(recordID) \(values)\n"
  }
}
