import JSON

/// One event in the history of a record or of an edit, as the ledger knows it.
package struct RecordEvent: Sendable {
  /// What happened, in the order in which it usually happens to a record.
  package enum Kind: Sendable {
    /// Generations of a snapshot held the record, in a soup that the listed syncs fill, with a
    /// modification date.
    case issued(generations: ClosedRange<Int>, soup: String, modified: String?, syncs: [String])
    /// A generation redelivered the open edit in a soup, for some platforms, with the message in
    /// its row that says why it is open.
    case carried(generation: Int, platforms: [String], soup: String, words: String?)
    /// A device changed the row, by its own clock. The edit has the IDs of the record by which the
    /// ledger knows it now. The fields have the previous values if these are known; there are no
    /// fields if the values are pruned. The element is parsed; nil if it cannot be read.
    case edited(Edit, element: JSONObject?, fields: [FieldDifference], isPruned: Bool)
    /// A return contained the edit, for the first time or again.
    case returned(ReturnRow, isAgain: Bool)
    /// A request for the edit was sent or is planned; `time` is when it was last sent.
    case written(OperationRow)
    /// An operator decided about the edit.
    case decided(Deciding)
    /// A run gave the edit a verdict.
    case settled(verdict: Verdict, detail: OutcomeDetail, run: String)
  }

  /// An operator's decision about the edit.
  package struct Deciding: Sendable, Hashable {
    package var kind: Decision.Kind
    /// Its values in the form of `Decision.values`; empty if they are pruned.
    package var values: JSONObject
    package var by: String
    /// `pending`, `done`, `moved` or `withdrawn`.
    package var fate: String
    /// The run that processed it.
    package var run: String?
  }

  /// The time, in ms; nil if it was not recorded.
  package var time: Int64?
  /// The start of the event's run, in ms; nil if it belongs to none.
  package var began: Int64?
  /// The snapshot's user name; nil for the global snapshot.
  package var username: String?
  /// The number of the edit; nil if the event is about the record only.
  package var edit: Int64?
  package var kind: Kind

  package init(time: Int64?, username: String?, edit: Int64? = nil, kind: Kind) {
    self.time = time
    self.username = username
    self.edit = edit
    self.kind = kind
  }
}
