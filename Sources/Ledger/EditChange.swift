import JSON

/// When a deletion of ours was done, and by whom.
package struct EditDeletion: Sendable, Hashable {
  /// Those who have sent it; nil where a ledger of an earlier version does not tell.
  package var senders: Set<String>? = []
  /// By when, in ms of the org's time.
  package var until: Int64

  /// A deletion.
  package init(senders: Set<String>? = [], until: Int64) {
    self.senders = senders
    self.until = until
  }
}

/// What one edit has changed in the org, as far as the ledger proves it.
package struct EditChange: Sendable, Hashable {
  /// What was done to the record.
  package enum Kind: String, Sendable, Hashable {
    case created, changed, deleted
  }

  /// The edit.
  package var edit: Int64
  /// What was done.
  package var kind: Kind
  /// The record's object.
  package var sobject: String
  /// The record.
  package var recordID: String
  /// What was sent.
  package var sent: JSONObject = [:]
  /// What the org held before, of the fields of which that is known.
  package var former: JSONObject = [:]
  /// What the writes left in the fields that they sent, of those that could be read.
  package var left: JSONObject = [:]
  /// Says that the record was read as the writes had left it: nobody had come between.
  package var isLeftKnown = false
  /// The number of the last of the writes.
  package var lastWrite: Int64
  /// The run that has undone it.
  package var undoneBy: String?

  /// A change without fields.
  package init(edit: Int64, kind: Kind, sobject: String, recordID: String, lastWrite: Int64) {
    (self.edit, self.kind, self.sobject) = (edit, kind, sobject)
    (self.recordID, self.lastWrite) = (recordID, lastWrite)
  }

  /// The names of the fields of which nobody knows what they held before.
  package var unknown: [String] { sent.names.filter { former[$0] == nil }.sorted() }

  /// A line that names the change and what undoes it.
  package var line: String {
    let values = [former, left].map { JSONValue.object($0).text }.joined(separator: " ")
    return "\(edit) \(kind.rawValue) \(recordID) \(values)\n"
  }
}
