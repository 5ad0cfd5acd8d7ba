import JSON

/// One locally changed element as its device left it: what an edit is, from the file to the report.
///
/// Beside it stand its states: `OpenEdit` with what the ledger knows of its record, `PlannedSend` with what
/// leaves of it, and `ReportEdit`, of which a report needs few columns, with what became of it.
package struct Edit: Sendable {
  /// Where it stands.
  package var row: RowKey
  /// The row's `created`, in ms.
  package var created: Int64
  /// The row's `lastModified`, in ms by the device's clock.
  package var lastModified: Int64
  /// The element's bytes as the device wrote them.
  package var element: [UInt8] { didSet { content = nil } }
  /// The digest of the element as a value, where whoever has read it has made it (`ElementContent`).
  package var content: String?
  /// What its flags ask for.
  package var operation: EditOperation
  /// `attributes.type`.
  package var sobject: String?
  /// The record's 18-character Id, if it has one.
  package var serverID: String?
  /// The local id of a record that the device made.
  package var localID: String?
  /// The server's modification date in the element.
  package var modificationDate: String?
  /// What the device was given, if it is kept.
  package var base: MergeBase?
  /// Why the row cannot be sent; such an edit becomes `failed`.
  package var finding: String?

  /// An edit.
  package init(
    row: RowKey, created: Int64, lastModified: Int64, element: [UInt8],
    operation: EditOperation, sobject: String? = nil, serverID: String? = nil,
    localID: String? = nil, modificationDate: String? = nil, base: MergeBase? = nil,
    finding: String? = nil
  ) {
    self.row = row
    self.created = created
    self.lastModified = lastModified
    self.element = element
    self.operation = operation
    self.sobject = sobject
    self.serverID = serverID
    self.localID = localID
    self.modificationDate = modificationDate
    self.base = base
    self.finding = finding
  }
}

/// What the flags of an element ask for (deleted before created before anything else).
package enum EditOperation: String, Sendable, Hashable, CaseIterable {
  /// A record that the device made.
  case create
  /// A record that the device changed.
  case update
  /// A record that the device deleted.
  case delete
  /// A record that the device made and deleted again.
  case dropped
  /// A clean row that says which Id the device's own sync gave to a record it made.
  case synced

  /// The operation of a dirty element's flags.
  package init(isCreated: Bool, isDeleted: Bool) {
    switch (isCreated, isDeleted) {
    case (true, true): self = .dropped
    case (false, true): self = .delete
    case (true, false): self = .create
    case (false, false): self = .update
    }
  }
}
