import JSON

/// One thing that happened to a record, or to an edit of it, as the ledger knows it.
package struct RecordEvent: Sendable, Hashable {
  /// What happened.
  package enum Kind: Sendable, Hashable {
    /// Generations of a snapshot held it: in which soup, with which modification date, and by which
    /// syncs the soup is filled.
    case issued(generations: ClosedRange<Int>, soup: String, modified: String?, syncs: [String])
    /// A generation carried the edit, still open, into a soup: on which platforms, and the words that say in
    /// its row why it is open.
    case carried(generation: Int, platforms: [String], soup: String, words: String?)
    /// A device changed its row, by the device's own clock; the fields that it changed, with what it
    /// had been given where that is known; none where the values are pruned.
    case edited(
      operation: EditOperation, fields: [FieldDifference], reason: String?, isPruned: Bool)
    /// A return brought the edit, for the first time or again.
    case returned(Return)
    /// A request was made for it, or is planned; `time` is when it last left.
    case written(Write)
    /// A person decided about it.
    case decided(Deciding)
    /// A run said what became of it.
    case settled(verdict: Verdict, detail: OutcomeDetail, run: String)
  }

  /// A return that held the edit.
  package struct Return: Sendable, Hashable {
    /// The file's name.
    package var file: String
    /// `ios` or `android`.
    package var platform: String
    /// The generation of the bundle.
    package var generation: Int64
    /// The number of the device within the ledger.
    package var device: Int64
    /// The app's count of hand-backs.
    package var handback: Int64?
    /// Whether an earlier return had brought the edit.
    package var isAgain: Bool
  }

  /// A decision.
  package struct Deciding: Sendable, Hashable {
    /// What was decided.
    package var kind: Decision.Kind
    /// Its values, as `Decision.values` has them; empty where they are pruned.
    package var values: JSONObject
    /// Who decided.
    package var by: String
    /// `pending`, `done`, `moved` or `withdrawn`.
    package var fate: String
    /// The run that took it up.
    package var run: String?
  }

  /// A write to the org.
  package struct Write: Sendable, Hashable {
    /// The run that planned it.
    package var run: String
    /// `create`, `update`, `upsert` or `delete`.
    package var action: String
    /// The user name that wrote.
    package var sender: String
    /// `planned`, `sent`, `doubt`, `done`, `rejected`, `conflict` or `dropped`.
    package var state: OperationState
    /// How often it left.
    package var attempts: Int64
    /// The names of the fields that it carried.
    package var fields: [String]
    /// The org's code, where it refused.
    package var code: String?
    /// The org's words, where it refused.
    package var message: String?
    /// The record that it made or changed.
    package var resultID: String?
    /// The org's modification date after it.
    package var serverDate: String?
    /// Whether its answer was lost at some time.
    package var wasInDoubt: Bool
    /// Whether nobody noted that it was sent: a run may have sent it that the ledger does not know of.
    package var isPresumed: Bool
  }

  /// When, in ms; nil where nobody noted it.
  package var time: Int64?
  /// When the run began that it belongs to, in ms; nil for what belongs to none.
  package var began: Int64?
  /// The snapshot's user name; nil for the global snapshot.
  package var username: String?
  /// The number of the edit; nil for what is told of the record alone.
  package var edit: Int64?
  /// What happened.
  package var kind: Kind

  /// An event.
  package init(time: Int64?, username: String?, edit: Int64? = nil, kind: Kind) {
    self.time = time
    self.username = username
    self.edit = edit
    self.kind = kind
  }
}
